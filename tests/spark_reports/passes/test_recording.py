"""A recording with holes says where they are."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import DataFrame

from spark_reports.bounds import bring
from spark_reports.frames import Frames
from spark_reports.passes import recording as passes
from spark_reports.passes.recording import broken_numbers, numbers
from spark_reports.scale import Scale
from spark_reports.tables import recording
from tests.spark_reports.conftest import Events
from tests.spark_reports.tables.rows import check

pytestmark = pytest.mark.spark


def _numbered(events: Events, numbers: list[int], first: int = 0) -> tuple[DataFrame, DataFrame]:
    """Two tables with every third event in the second; an event happens at ten times its number."""
    rows = [{"seq": number, "time_ns": number * 10} for number in numbers]
    return events(*rows[first::3], *rows[first + 1 :: 3]), events(*rows[first + 2 :: 3])


def _recording(messages: DataFrame, control: DataFrame) -> pl.DataFrame:
    return recording.recording(bring(broken_numbers(messages, control)))


def test_a_whole_recording_has_no_gaps(events: Events) -> None:
    check(_recording(*_numbered(events, list(range(200)))), recording.SCHEMA, [])
    check(_recording(events(), events()), recording.SCHEMA, [])


def test_gaps_and_doubles_are_placed(events: Events) -> None:
    numbers = [*range(10, 100), *range(101, 130), 129, *range(400, 513)]
    check(
        _recording(*_numbered(events, numbers)),
        recording.SCHEMA,
        [
            # Words 0 and 1 lack 0 to 9 and 100, 2 has 129 twice and lacks the rest, 3 to 5 are gone, 6 begins at 400.
            (0, 447, 10 + 1 + 62 + 192 + 16, 1, 100, 4470),
        ],
    )


@given(st.sets(st.integers(0, 700), min_size=1, max_size=40))
@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_missing_event_is_counted(events: Events, missing: set[int]) -> None:
    numbers = [number for number in range(701) if number not in missing]
    answer = _recording(*_numbered(events, numbers)).rows(named=True)
    seen = {number for number in missing if number < numbers[-1]}
    assert sum(row["missing"] for row in answer) == len(seen)
    for number in seen:
        assert any(row["first_seq"] <= number <= row["last_seq"] for row in answer)


@pytest.mark.parametrize(
    ("found", "whole"),
    [
        (range(200), True),
        ([0], True),
        ([], False),
        (range(1, 200), False),
        ([*range(70), *range(71, 200)], False),
        ([*range(200), 70], False),
        ([*range(70), *range(71, 200), 71], False),
        ([*range(70), *range(71, 200), 71, 71], False),
        ([0, 0, 0, 3], False),
        ([-1, 0, 2], False),
    ],
    ids=[
        *("whole", "one", "none", "no first", "one missing", "one twice", "one instead of another", "one thrice"),
        *("thrice instead of others", "negative"),
    ],
)
def test_sums_say_that_a_recording_is_whole_only_where_it_is(events: Events, found: Sequence[int], whole: bool) -> None:
    assert recording.is_whole(bring(numbers(*_numbered(events, list(found))))) is whole


def test_the_largest_number_has_none_behind_it_and_is_no_error(events: Events) -> None:
    assert not recording.is_whole(bring(numbers(events({"seq": 0}, {"seq": 2**63 - 1}), events())))


def test_gaps_are_looked_for_only_where_sums_are_not_whole(events: Events, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passes, "broken_numbers", lambda *_: pytest.fail("gaps were looked for"))
    assert not Frames(*_numbered(events, list(range(9))), Scale(0, 10, 1)).broken_numbers.height
    with pytest.raises(pytest.fail.Exception):
        _ = Frames(*_numbered(events, [0, 2]), Scale(0, 10, 1)).broken_numbers
