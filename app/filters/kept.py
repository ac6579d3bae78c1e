"""Filters that a person keeps under a name."""

from __future__ import annotations

import json
from collections.abc import Iterator

from PySide6.QtCore import QObject, QSettings, Signal

SETTING = "filters/kept"
MAX_KEPT = 200


class KeptFilters(QObject):
    """(name, text) pairs in the order of their names; `changed` when there are others. Without settings they are
    forgotten at the end."""

    changed = Signal()

    def __init__(self, settings: QSettings | None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings = settings
        self._kept: dict[str, str] = {}
        if settings is not None:
            self._kept = _read(str(settings.value(SETTING, "")))

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
        if self._settings is not None:
            self._settings.setValue(SETTING, json.dumps(self._kept))
        self.changed.emit()


def _read(text: str) -> dict[str, str]:
    """What an earlier run has kept; nothing of what does not look like it."""
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    if not isinstance(found, dict):
        return {}
    return {name: value for name, value in list(found.items())[:MAX_KEPT] if isinstance(value, str)}
