from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

PARTLY_CODE: Final = 1
NOT_WHOLE_CODE: Final = 3
NOT_HELD_CODE: Final = 4
CANCELLED_CODE: Final = 130  # as a shell says it of a program that was interrupted


class Outcome(NamedTuple):
    """Sentences: `problems` of the sessions, assertions that held or do `not_hold`, what `failed`; `log` says more."""

    problems: tuple[str, ...] = ()
    not_hold: tuple[str, ...] = ()
    held: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    log: str = ""

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> Outcome:
        return cls._make([*(tuple(told.get(name, ())) for name in cls._fields[:-1]), told.get("log", "")])

    @property
    def code(self) -> int:
        """The exit code. Figures of a session that is not whole prove nothing, so that comes first."""
        return (
            NOT_WHOLE_CODE if self.problems else NOT_HELD_CODE if self.not_hold else PARTLY_CODE if self.failed else 0
        )

    def told(self) -> dict[str, Any]:
        return {name: said for name, said in self._asdict().items() if said}

    def lines(self) -> list[str]:
        return [*self.problems, *self.failed, *self.held, *self.not_hold]
