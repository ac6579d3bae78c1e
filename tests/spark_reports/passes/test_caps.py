"""What is cut off is said to the reader."""

from __future__ import annotations

import pytest
from pyspark.sql import DataFrame

from spark_reports.frames import Frames
from spark_reports.passes import dead_letters, recording
from spark_reports.scale import scale_of
from spark_reports.tables import dead_letters as tables
from tests.spark_reports.conftest import Events
from tests.spark_reports.tables.rows import leased

pytestmark = pytest.mark.spark

S = 1_000_000_000


def _frames(messages: DataFrame, control: DataFrame) -> Frames:
    return Frames(messages, control, scale_of(10 * S))


def _died(events: Events, causes: int) -> DataFrame:
    return events(*(leased("dead_lettered", S, at, cause=f"cause {at % causes}", to_topic="d", to_partition=0,
                           to_offset=at) for at in range(7)))  # fmt: skip


def test_causes_that_are_too_many_are_cut_off_aloud(events: Events, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dead_letters, "MOST_CAUSES", 3)
    cut = _frames(_died(events, 4), events())
    assert tables.dead_letters(cut.dead_letters)["cause"].to_list() == ["cause 0", "cause 1", "cause 2"]
    assert cut.notes == ["Only the 3 causes of which most messages died are told, by group."]
    assert tables.dead_letter_list(cut.dead_letters).height == 7
    whole = _frames(_died(events, 3), events())
    assert tables.dead_letters(whole.dead_letters).height == 3 and whole.notes == []


def test_gaps_that_are_too_many_are_cut_off_aloud(events: Events, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording, "MOST", 3)
    every_second_word = [{"seq": 128 * place, "time_ns": place} for place in range(5)]
    cut = _frames(events(*every_second_word), events())
    assert cut.broken_numbers["word"].to_list() == [0, 2, 4]
    assert cut.notes == ["Only the first 3 places where numbers of events are missing or twice are told."]
    whole = _frames(events(*every_second_word[:3]), events())
    assert whole.broken_numbers.height <= 3 and whole.notes == []
