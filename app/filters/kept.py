"""Filters that a person keeps under a name."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from PySide6.QtCore import QObject, Signal

from app.environment.settings import Settings

MAX_KEPT = 200


class KeptFilters(QObject):
    """(name, text) pairs in the order of their names; `changed` when there are others."""

    changed = Signal()

    def __init__(self, settings: Settings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings = settings
        self._kept = dict(islice(settings.kept_filters.items(), MAX_KEPT))

    def __iter__(self) -> Iterator[tuple[str, str]]:
        """By name."""
        return iter(sorted(self._kept.items(), key=lambda item: item[0].casefold()))

    def keep(self, name: str, text: str) -> None:
        """Keep a filter; one of that name is replaced."""
        if name and (name in self._kept or len(self._kept) < MAX_KEPT):
            self._kept[name] = text
            self._write()

    def drop(self, name: str) -> None:
        """Forget a filter; unknown names are ignored."""
        if self._kept.pop(name, None) is not None:
            self._write()

    def _write(self) -> None:
        self._settings.kept_filters = self._kept
        self.changed.emit()
