"""Closable objects, for use in a `with` block."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Self


class Closable(ABC):
    """Has an end, which a `with` block brings. A host closes the clients that registered with it."""

    __slots__ = ()

    @abstractmethod
    def close(self) -> None:
        """Finish pending work and close."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()
