from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QSettings

from app.environment.language import SYSTEM
from widgets.dialogs.export_report import ReportHabits
from widgets.theme import SCALES, THEMES
from widgets.window_layout import SHIPPED, WindowLayout

_LAYOUTS = "layouts"


T = TypeVar("T")


class _Kept(Generic[T]):
    """A setting under `name`: `parse` makes a value of its text, ValueError or None for none, and `text` a text."""

    def __init__(
        self, name: str, otherwise: T, parse: Callable[[str], T | None], text: Callable[[T], str] = str
    ) -> None:
        self._name, self._otherwise, self._parse, self._text = name, otherwise, parse, text

    def __get__(self, settings: Settings, _owner: object = None) -> T:
        try:
            found = self._parse(settings.read(self._name, self._text(self._otherwise)))
        except ValueError:
            found = None
        return self._otherwise if found is None else found

    def __set__(self, settings: Settings, value: T) -> None:
        settings.write(self._name, self._text(value))


def _switch(name: str, on: bool) -> _Kept[bool]:
    return _Kept(name, on, lambda text: text == "1", lambda value: "1" if value else "0")


def _number(name: str, otherwise: int) -> _Kept[int]:
    return _Kept(name, otherwise, lambda text: int(text) if re.fullmatch("[0-9]{1,9}", text) else None)


def _json(name: str, otherwise: T, parse: Callable[[Any], T]) -> _Kept[T]:
    return _Kept(name, otherwise, lambda text: parse(json.loads(text)), json.dumps)


def _texts(kept: object) -> list[str]:
    return [text for text in kept if isinstance(text, str)] if isinstance(kept, list) else []


def _by_name(kept: object) -> dict[str, str]:
    return {name: text for name, text in kept.items() if isinstance(text, str)} if isinstance(kept, dict) else {}


def _reports(text: str) -> tuple[tuple[str, str], ...]:
    lines = (line.partition("\t") for line in text.split("\n") if "\t" in line)
    return tuple((folder, title) for folder, _, title in lines)


class Settings:
    """Over `QSettings`; without one nothing outlives the program. A stored value that is invalid counts as absent."""

    theme = _Kept("window/theme", "system", lambda text: text if text in THEMES else None)
    scale = _Kept("window/scale", 1.0, lambda text: float(text) if float(text) in SCALES else None)
    #: A code, or "system".
    language = _Kept("window/language", SYSTEM, str)
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
    recent_sessions: _Kept[tuple[str, ...]] = _json("sessions/recent", (), lambda found: tuple(_texts(found)))
    #: Of brokers elsewhere that were attached to lately, the newest first.
    recent_addresses: _Kept[tuple[str, ...]] = _json("attach/recent", (), lambda found: tuple(_texts(found)))
    #: Topics that hold dead letters, whatever they are called.
    dead_letter_topics: _Kept[tuple[str, ...]] = _json("dead_letters/topics", (), lambda found: tuple(_texts(found)))
    #: Filters that the user keeps, by name.
    saved_filters: _Kept[dict[str, str]] = _json("filters/kept", {}, _by_name)
    #: (folder, title) of reports that were made lately, the newest first.
    reports: _Kept[tuple[tuple[str, str], ...]] = _Kept(
        "reports", (), _reports, lambda kept: "\n".join(map("\t".join, kept))
    )

    def __init__(self, store: QSettings | None = None) -> None:
        self._store = store
        self._here: dict[str, str] = {}  # each frame asks some of them, and the store answers in a millisecond

    def read(self, name: str, otherwise: str) -> str:
        if self._store is not None and name not in self._here:
            self._here[name] = str(self._store.value(name, otherwise))
        return self._here.get(name, otherwise)

    def write(self, name: str, value: str) -> None:
        self._here[name] = value
        if self._store is not None:
            self._store.setValue(name, value)

    @property
    def report_habits(self) -> ReportHabits:
        try:
            kept = json.loads(self.read("reports/habits", "{}"))
        except ValueError:
            return ReportHabits()
        if not isinstance(kept, dict):
            return ReportHabits()
        formats, left_out = (frozenset(_texts(kept.get(name))) for name in ("formats", "left_out"))
        return ReportHabits(formats, left_out, kept.get("open_when_finished") is not False)

    @report_habits.setter
    def report_habits(self, habits: ReportHabits) -> None:
        kept = {name: sorted(names) for name, names in (("formats", habits.formats), ("left_out", habits.left_out))}
        self.write("reports/habits", json.dumps({**kept, "open_when_finished": habits.open_when_finished}))

    def lesson_progress(self, scenario: str) -> frozenset[str]:
        try:
            return frozenset(_texts(json.loads(self.read(f"lessons/{_key(scenario)}", "[]"))))
        except ValueError:
            return frozenset()

    def keep_lesson_progress(self, scenario: str, steps: frozenset[str]) -> None:
        self.write(f"lessons/{_key(scenario)}", json.dumps(sorted(steps)))

    def arrangement(self, scenario: str) -> str:
        """Where boxes of a scenario's canvas stand that were moved by hand, as text."""
        return self.read(f"arrangement/{_key(scenario)}", "")

    def keep_arrangement(self, scenario: str, text: str) -> None:
        self.write(f"arrangement/{_key(scenario)}", text)

    def layout_names(self) -> tuple[str, ...]:
        """Those that ship, then those that the user has named."""
        kept = self.read(_LAYOUTS, "").split("\n") if self.read(_LAYOUTS, "") else []
        return (*SHIPPED, *(name for name in kept if name not in SHIPPED))

    def layout(self, name: str) -> WindowLayout | None:
        return WindowLayout.from_text(self.read(f"layout/{name}", "")) or SHIPPED.get(name)

    def keep_layout(self, name: str, layout: WindowLayout) -> None:
        own = [kept for kept in self.layout_names() if kept not in SHIPPED]
        if name not in SHIPPED and name not in own:
            self.write(_LAYOUTS, "\n".join([*own, name]))
        self.write(f"layout/{name}", layout.to_text())

    def forget_layout(self, name: str) -> None:
        self.write(_LAYOUTS, "\n".join(kept for kept in self.layout_names() if kept not in (*SHIPPED, name)))
        self.write(f"layout/{name}", "")


def _key(name: str) -> str:
    """A name in which no sign has a meaning of its own for `QSettings`."""
    return name.replace("/", "_").replace("\\", "_")
