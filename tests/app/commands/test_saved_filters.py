"""Filters that are kept: they are there the next time, and rubbish in the settings does no harm."""

import pytest
from PySide6.QtCore import QSettings

from app.commands.view import MAX_SAVED, SavedFilters
from app.environment.settings import Settings


@pytest.fixture
def store(tmp_path):
    return QSettings(str(tmp_path / "kept.ini"), QSettings.Format.IniFormat)


def test_kept_filters_are_there_the_next_time(store, qapp):
    kept = SavedFilters(Settings(store))
    told = []
    kept.changed.connect(lambda: told.append(list(kept)))
    kept.save("slow", 'lag > 100 and group = "billing"')
    kept.save("Äpfel", "~dlq")
    kept.save("slow", "lag > 200")
    kept.delete("no such")
    assert told[-1] == [("slow", "lag > 200"), ("Äpfel", "~dlq")]
    store.sync()
    again = SavedFilters(Settings(QSettings(store.fileName(), QSettings.Format.IniFormat)))
    assert list(again) == told[-1]
    again.delete("slow")
    assert list(again) == [("Äpfel", "~dlq")]


@pytest.mark.parametrize("rubbish", ["", "{", "[1]", '{"a": 1}', "null"])
def test_rubbish_in_the_settings_is_passed_over(store, qapp, rubbish):
    store.setValue("filters/kept", rubbish)
    assert list(SavedFilters(Settings(store))) == []


def test_there_is_an_end_to_what_is_kept(store, qapp):
    kept = SavedFilters(Settings(store))
    for number in range(MAX_SAVED + 5):
        kept.save(f"filter {number}", "x")
    kept.save("", "no name")
    assert len(list(kept)) == MAX_SAVED
