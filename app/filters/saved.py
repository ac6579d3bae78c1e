from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from PySide6.QtCore import QObject, Signal

from app.environment.settings import Settings

MAX_SAVED = 200


class SavedFilters(QObject):
    """(name, text) pairs in the order of their names; `changed` when there are others."""

    changed = Signal()

    def __init__(self, settings: Settings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings = settings
        self._saved = dict(islice(settings.saved_filters.items(), MAX_SAVED))

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(sorted(self._saved.items(), key=lambda item: item[0].casefold()))

    def save(self, name: str, text: str) -> None:
        if name and (name in self._saved or len(self._saved) < MAX_SAVED):
            self._saved[name] = text
            self._write()

    def delete(self, name: str) -> None:
        if self._saved.pop(name, None) is not None:
            self._write()

    def _write(self) -> None:
        self._settings.saved_filters = self._saved
        self.changed.emit()
