"""Filters that are kept: they are there the next time, and rubbish in the settings does no harm."""

import pytest
from PySide6.QtCore import QSettings

from app.environment.settings import MOST_FILTERS, Settings
from tests.app.conftest import Hand
from tests.app.dialogs import said


@pytest.fixture
def store(tmp_path):
    return QSettings(str(tmp_path / "kept.ini"), QSettings.Format.IniFormat)


def test_kept_filters_are_there_the_next_time(store):
    kept = Settings(store)
    kept.keep_filter("slow", 'lag > 100 and group = "billing"')
    kept.keep_filter("Äpfel", "~dlq")
    kept.keep_filter("slow", "lag > 200")
    kept.forget_filter("no such")
    assert list(kept.saved_filters.items()) == [("slow", "lag > 200"), ("Äpfel", "~dlq")]
    store.sync()
    again = Settings(QSettings(store.fileName(), QSettings.Format.IniFormat))
    assert again.saved_filters == kept.saved_filters
    again.forget_filter("slow")
    assert again.saved_filters == {"Äpfel": "~dlq"}


@pytest.mark.parametrize("rubbish", ["", "{", "[1]", '{"a": 1}', "null"])
def test_rubbish_in_the_settings_is_passed_over(store, rubbish):
    store.setValue("filters/kept", rubbish)
    assert Settings(store).saved_filters == {}


def test_there_is_an_end_to_what_is_kept(store):
    kept = Settings(store)
    for number in range(MOST_FILTERS + 5):
        kept.keep_filter(f"filter {number}", "x")
    kept.keep_filter("", "no name")
    assert len(kept.saved_filters) == MOST_FILTERS


def test_a_filter_too_many_is_told(hand: Hand):
    hand.workbench.settings.saved_filters = {f"filter {number}": "x" for number in range(MOST_FILTERS)}
    field = hand.workbench.window.parts.panels[0].filter_field
    field.saved.emit("filter 7", "y")
    assert hand.workbench.settings.saved_filters["filter 7"] == "y" and "filters" not in said(hand)
    field.saved.emit("new", "y")
    assert said(hand) == f"{MOST_FILTERS} filters are kept already; delete one first."
    assert "new" not in hand.workbench.settings.saved_filters
