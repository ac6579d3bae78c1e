"""The user's settings, with their names, types and defaults."""

from __future__ import annotations

import json

from PySide6.QtCore import QSettings

from app.environment.language import SYSTEM
from widgets.dialogs.export_report import ReportHabits
from widgets.theme import SCALES, THEMES
from widgets.window_layout import SHIPPED, WindowLayout

_LAYOUTS = "layouts"


class Settings:
    """Over `QSettings`; without one nothing outlives the program. A stored value that is invalid counts as absent."""

    def __init__(self, store: QSettings | None = None) -> None:
        self._store = store
        self._here: dict[str, str] = {}

    def _get(self, name: str, otherwise: str) -> str:
        if self._store is None:
            return self._here.get(name, otherwise)
        return str(self._store.value(name, otherwise))

    def _set(self, name: str, value: str) -> None:
        if self._store is None:
            self._here[name] = value
        else:
            self._store.setValue(name, value)

    @property
    def theme(self) -> str:
        found = self._get("window/theme", "system")
        return found if found in THEMES else "system"

    @theme.setter
    def theme(self, name: str) -> None:
        self._set("window/theme", name)

    @property
    def scale(self) -> float:
        try:
            found = float(self._get("window/scale", "1"))
        except ValueError:
            return 1.0
        return found if found in SCALES else 1.0

    @scale.setter
    def scale(self, factor: float) -> None:
        self._set("window/scale", str(factor))

    @property
    def language(self) -> str:
        """A code, or "system"."""
        return self._get("window/language", SYSTEM)

    @language.setter
    def language(self, code: str) -> None:
        self._set("window/language", code)

    @property
    def reduced_motion(self) -> bool:
        return self._get("window/reduced_motion", "0") == "1"

    @reduced_motion.setter
    def reduced_motion(self, on: bool) -> None:
        self._set("window/reduced_motion", "1" if on else "0")

    @property
    def record(self) -> bool:
        """Whether sessions are recorded as they begin."""
        return self._get("session/record", "1") == "1"

    @record.setter
    def record(self, on: bool) -> None:
        self._set("session/record", "1" if on else "0")

    @property
    def recordings_most(self) -> int:
        """How many recordings are kept beside those that somebody needs; 0 for no limit."""
        return self._number("sessions/most", 100)

    @recordings_most.setter
    def recordings_most(self, count: int) -> None:
        self._set("sessions/most", str(count))

    @property
    def recordings_mib(self) -> int:
        """How many MiB they may have; 0 for no limit."""
        return self._number("sessions/most_mib", 5 * 1024)

    @recordings_mib.setter
    def recordings_mib(self, size_mib: int) -> None:
        self._set("sessions/most_mib", str(size_mib))

    def _number(self, name: str, otherwise: int) -> int:
        found = self._get(name, str(otherwise))
        return int(found) if found.isascii() and found.isdecimal() and len(found) < 10 else otherwise

    @property
    def keep_spark(self) -> bool:
        """Whether Spark is started ahead of a report and kept for the next; it takes about a gigabyte of memory."""
        return self._get("reports/keep_spark", "1") == "1"

    @keep_spark.setter
    def keep_spark(self, on: bool) -> None:
        self._set("reports/keep_spark", "1" if on else "0")

    @property
    def report_habits(self) -> ReportHabits:
        """What was chosen for the last report."""
        try:
            kept = json.loads(self._get("reports/habits", "{}"))
        except ValueError:
            return ReportHabits()
        if not isinstance(kept, dict):
            return ReportHabits()
        formats, left_out = (_names(kept.get(name)) for name in ("formats", "left_out"))
        return ReportHabits(formats, left_out, kept.get("open_when_finished") is not False)

    @report_habits.setter
    def report_habits(self, habits: ReportHabits) -> None:
        kept = {name: sorted(names) for name, names in (("formats", habits.formats), ("left_out", habits.left_out))}
        self._set("reports/habits", json.dumps({**kept, "open_when_finished": habits.open_when_finished}))

    @property
    def hints(self) -> bool:
        """Whether the first hints are still to be shown."""
        return self._get("window/hints", "1") == "1"

    @hints.setter
    def hints(self, on: bool) -> None:
        self._set("window/hints", "1" if on else "0")

    @property
    def recent_sessions(self) -> tuple[str, ...]:
        """Folders of recorded sessions that were opened lately, the newest first."""
        return self._list("sessions/recent")

    @recent_sessions.setter
    def recent_sessions(self, folders: tuple[str, ...]) -> None:
        self._set("sessions/recent", json.dumps(folders))

    @property
    def recent_addresses(self) -> tuple[str, ...]:
        """Of brokers elsewhere that were attached to lately, the newest first."""
        return self._list("attach/recent")

    @recent_addresses.setter
    def recent_addresses(self, addresses: tuple[str, ...]) -> None:
        self._set("attach/recent", json.dumps(addresses))

    def _list(self, key: str) -> tuple[str, ...]:
        try:
            found = json.loads(self._get(key, "[]"))
        except ValueError:
            return ()
        return tuple(each for each in found if isinstance(each, str)) if isinstance(found, list) else ()

    @property
    def saved_filters(self) -> dict[str, str]:
        """Filters that the user keeps, by name."""
        try:
            found = json.loads(self._get("filters/kept", "{}"))
        except ValueError:
            return {}
        return {name: text for name, text in found.items() if isinstance(text, str)} if isinstance(found, dict) else {}

    @saved_filters.setter
    def saved_filters(self, kept: dict[str, str]) -> None:
        self._set("filters/kept", json.dumps(kept))

    @property
    def reports(self) -> tuple[tuple[str, str], ...]:
        """(folder, title) of reports that were made lately, the newest first."""
        lines = [line.split("\t", 1) for line in self._get("reports", "").split("\n") if "\t" in line]
        return tuple((folder, title) for folder, title in lines)

    @reports.setter
    def reports(self, reports: tuple[tuple[str, str], ...]) -> None:
        self._set("reports", "\n".join(f"{folder}\t{title}" for folder, title in reports))

    def lesson_progress(self, scenario: str) -> frozenset[str]:
        """The texts of the steps of a scenario's lesson that were done once."""
        try:
            return _names(json.loads(self._get(f"lessons/{_key(scenario)}", "[]")))
        except ValueError:
            return frozenset()

    def keep_lesson_progress(self, scenario: str, steps: frozenset[str]) -> None:
        """Keep them for the next time that the scenario is opened."""
        self._set(f"lessons/{_key(scenario)}", json.dumps(sorted(steps)))

    def arrangement(self, scenario: str) -> str:
        """Where boxes of a scenario's canvas stand that were moved by hand, as text."""
        return self._get(f"arrangement/{_key(scenario)}", "")

    def keep_arrangement(self, scenario: str, text: str) -> None:
        """Keep it for the next time that the scenario is opened."""
        self._set(f"arrangement/{_key(scenario)}", text)

    # -- layouts

    def layout_names(self) -> tuple[str, ...]:
        """Those that ship, then those that the user has named."""
        kept = self._get(_LAYOUTS, "").split("\n") if self._get(_LAYOUTS, "") else []
        return (*SHIPPED, *(name for name in kept if name not in SHIPPED))

    def layout(self, name: str) -> WindowLayout | None:
        """A layout by its name; None where there is none that can be read."""
        return WindowLayout.from_text(self._get(f"layout/{name}", "")) or SHIPPED.get(name)

    def keep_layout(self, name: str, layout: WindowLayout) -> None:
        """Keep a layout under a name, a shipped one's too."""
        own = [kept for kept in self.layout_names() if kept not in SHIPPED]
        if name not in SHIPPED and name not in own:
            self._set(_LAYOUTS, "\n".join([*own, name]))
        self._set(f"layout/{name}", layout.to_text())

    def forget_layout(self, name: str) -> None:
        """A shipped one becomes again what it was; any other is gone."""
        self._set(_LAYOUTS, "\n".join(kept for kept in self.layout_names() if kept not in (*SHIPPED, name)))
        self._set(f"layout/{name}", "")


def _names(kept: object) -> frozenset[str]:
    """The names in a list that was kept."""
    return frozenset(name for name in kept if isinstance(name, str)) if isinstance(kept, list) else frozenset()


def _key(name: str) -> str:
    """A name in which no sign has a meaning of its own for `QSettings`."""
    return name.replace("/", "_").replace("\\", "_")
