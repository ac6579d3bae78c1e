from __future__ import annotations

import re
from collections.abc import Callable
from typing import Generic, TypeVar

import msgspec
from PySide6.QtCore import QSettings

from app.environment.language import SYSTEM
from widgets.dialogs.export_report import ReportHabits
from widgets.theme import SCALES, THEMES

T = TypeVar("T")

MOST_FILTERS = 200


class _Setting(Generic[T]):
    """A setting under `name`: `parse` makes a value of its text, an error or None for none, and `text` a text."""

    def __init__(self, name: str, default: T, parse: Callable[[str], T | None], text: Callable[[T], str] = str) -> None:
        self._name, self._default, self._parse, self._text = name, default, parse, text

    def __get__(self, settings: Settings, _owner: object = None) -> T:
        try:
            found = self._parse(settings.read(self._name, self._text(self._default)))
        except (ValueError, msgspec.MsgspecError):
            found = None
        return self._default if found is None else found

    def __set__(self, settings: Settings, value: T) -> None:
        settings.write(self._name, self._text(value))


def _switch(name: str, on: bool) -> _Setting[bool]:
    return _Setting(name, on, lambda text: text == "1", lambda value: "1" if value else "0")


def _number(name: str, default: int) -> _Setting[int]:
    return _Setting(name, default, lambda text: int(text) if re.fullmatch("[0-9]{1,9}", text) else None)


def _json(name: str, default: T, kind: type[T]) -> _Setting[T]:
    def text(value: T) -> str:
        return msgspec.json.encode(value).decode()

    return _Setting(name, default, lambda found: msgspec.json.decode(found, type=kind), text)


class Settings:
    """Over `QSettings`; without one nothing outlives the program. A stored value that is invalid counts as absent."""

    theme = _Setting("window/theme", "system", lambda text: text if text in THEMES else None)
    scale = _Setting("window/scale", 1.0, lambda text: float(text) if float(text) in SCALES else None)
    #: A code, or "system".
    language = _Setting("window/language", SYSTEM, str)
    reduced_motion = _switch("window/reduced_motion", False)
    #: Whether sessions are recorded as they begin.
    record = _switch("session/record", True)
    #: How many recordings are kept beside those that somebody needs, and how many MiB they may have; 0 for no limit.
    recordings_most = _number("sessions/most", 100)
    recordings_mib = _number("sessions/most_mib", 5 * 1024)
    #: Whether Spark is started ahead of a report and kept for the next; it takes about a gigabyte of memory.
    keep_spark = _switch("reports/keep_spark", True)
    #: Whether the first hints are still to be shown.
    hints = _switch("window/hints", True)
    #: Folders of recorded sessions that were opened lately, the newest first.
    recent_sessions = _json("sessions/recent", (), tuple[str, ...])
    #: Of brokers elsewhere that were attached to lately, the newest first.
    recent_addresses = _json("attach/recent", (), tuple[str, ...])
    #: The filter of the navigator by such a broker.
    cluster_filters = _json("attach/filters", {}, dict[str, str])
    #: Topics that hold dead letters, whatever they are called.
    dead_letter_topics = _json("dead_letters/topics", (), tuple[str, ...])
    #: Filters that the user keeps, by name.
    saved_filters = _json("filters/kept", {}, dict[str, str])
    #: (folder, title) of reports that were made lately, the newest first.
    reports = _json("reports/recent", (), tuple[tuple[str, str], ...])
    report_habits = _json("reports/habits", ReportHabits(), ReportHabits)
    #: By scenario, the texts of the steps of its lesson that were done.
    lessons = _json("lessons", {}, dict[str, frozenset[str]])
    #: By scenario, where boxes of its canvas stand that were moved by hand, as text.
    arrangements = _json("arrangements", {}, dict[str, str])

    def __init__(self, store: QSettings | None = None) -> None:
        self._store = store
        self._here: dict[str, str] = {}  # each frame asks some of them, and the store answers in a millisecond

    def read(self, name: str, default: str) -> str:
        if self._store is not None and name not in self._here:
            self._here[name] = str(self._store.value(name, default))
        return self._here.get(name, default)

    def write(self, name: str, value: str) -> None:
        self._here[name] = value
        if self._store is not None:
            self._store.setValue(name, value)

    def keep_filter(self, name: str, text: str) -> bool:
        """Whether there is room for it: at most `MOST_FILTERS` are kept. One without a name is not."""
        kept = self.saved_filters
        fits = name in kept or len(kept) < MOST_FILTERS
        if name and fits:
            self.saved_filters = dict(sorted({**kept, name: text}.items(), key=lambda each: each[0].casefold()))
        return fits

    def forget_filter(self, name: str) -> None:
        self.saved_filters = {kept: text for kept, text in self.saved_filters.items() if kept != name}
