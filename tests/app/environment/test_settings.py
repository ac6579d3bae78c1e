"""What a person chose is there the next time, and rubbish in its place counts as nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QSettings

from app.environment.settings import Settings
from widgets.dialogs.export_report import ReportHabits


@pytest.fixture
def store(tmp_path: Path) -> QSettings:
    return QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)


def test_sessions_that_were_opened_are_known_the_next_time(store: QSettings) -> None:
    folders = ("/tmp/one", "/tmp/with a\nline and a, comma")
    Settings(store).recent_sessions = folders
    store.sync()
    again = Settings(QSettings(store.fileName(), QSettings.Format.IniFormat))
    assert again.recent_sessions == folders
    alone = Settings()
    assert alone.recent_sessions == ()
    alone.recent_sessions = folders
    assert alone.recent_sessions == folders


@pytest.mark.parametrize("rubbish", ["", "{", "7", '"/tmp"', "null", "[[1], 2]"])
def test_rubbish_is_no_session_and_no_filter(store: QSettings, rubbish: str) -> None:
    store.setValue("sessions/recent", rubbish)
    store.setValue("filters/kept", rubbish)
    settings = Settings(store)
    assert settings.recent_sessions == ()
    assert settings.saved_filters == {}


def test_what_was_chosen_for_a_report_holds_for_the_next_one(store: QSettings) -> None:
    assert Settings(store).report_habits == ReportHabits()
    habits = ReportHabits(frozenset({"html", "csv"}), frozenset({"keys", "dead-letters"}), open_when_finished=False)
    Settings(store).report_habits = habits
    store.sync()
    assert Settings(QSettings(store.fileName(), QSettings.Format.IniFormat)).report_habits == habits


@pytest.mark.parametrize(
    "rubbish", ["", "{", "7", "[]", '{"formats": 7, "left_out": [1, null], "open_when_finished": 0}']
)
def test_rubbish_is_no_choice_for_a_report(store: QSettings, rubbish: str) -> None:
    store.setValue("reports/habits", rubbish)
    assert Settings(store).report_habits == ReportHabits()


@pytest.mark.parametrize(
    ("name", "otherwise", "key"), [("recordings_most", 100, "most"), ("recordings_mib", 5120, "most_mib")]
)
def test_limits_of_recordings_are_numbers_whatever_is_stored(
    store: QSettings, name: str, otherwise: int, key: str
) -> None:
    settings = Settings(store)
    assert getattr(settings, name) == otherwise
    setattr(settings, name, 0)
    assert getattr(Settings(store), name) == 0
    for rubbish in ("many", "-5", "1e9", "12345678901"):
        store.setValue(f"sessions/{key}", rubbish)
        assert getattr(Settings(store), name) == otherwise


def test_the_store_is_asked_once_and_told_each_time(store: QSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Frames ask what may be forgotten."""
    asked: list[str] = []
    settings = Settings(store)

    def value(name: str, otherwise: object) -> object:
        asked.append(name)
        return otherwise

    with monkeypatch.context() as counted:
        counted.setattr(store, "value", value)
        settings.lessons = {"Mine": frozenset({"step"})}
        assert settings.lessons == settings.lessons
        assert settings.arrangements == settings.arrangements == {}
    assert asked == ["arrangements"] and "Mine" in settings.lessons
    store.sync()
    assert "Mine" in Settings(QSettings(store.fileName(), QSettings.Format.IniFormat)).lessons
