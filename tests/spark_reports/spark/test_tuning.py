"""Which setting a session gets, by its events."""

from __future__ import annotations

import pytest

from spark_reports.spark.tuning import LARGE, MANY, MEDIUM, SMALL, Tuning, serves, tuning


@pytest.mark.parametrize(
    ("events", "setting"),
    [(0, SMALL), (299_999, SMALL), (300_000, MEDIUM), (5_999_999, MEDIUM), (6_000_000, MANY), (20_000_000, LARGE)],
)
def test_the_setting_goes_by_the_number_of_events(events: int, setting: Tuning) -> None:
    assert tuning(events) is setting


def test_the_thorough_compiler_is_for_many_events() -> None:
    quick = "-XX:TieredStopAtLevel=1"
    assert [quick in each.jvm_options for each in (SMALL, MEDIUM, MANY, LARGE)] == [True, True, False, False]
    adaptive = [each.settings["spark.sql.adaptive.enabled"] for each in (SMALL, MEDIUM, MANY, LARGE)]
    assert adaptive == ["false", "false", "false", "true"]


def test_every_setting_undoes_every_other() -> None:
    assert len({frozenset(each.settings) for each in (SMALL, MEDIUM, MANY, LARGE)}) == 1


def test_a_kept_java_does_for_smaller_sessions_and_another_one_is_started_for_larger_ones() -> None:
    assert serves(SMALL, MEDIUM) and serves(MEDIUM, SMALL) and serves(LARGE, MANY) and serves(MANY, SMALL)
    assert not serves(SMALL, MANY) and not serves(MANY, LARGE)
