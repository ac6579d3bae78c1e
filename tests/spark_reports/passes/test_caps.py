"""Nothing comes home beyond its bound, and what is cut off is said to the reader."""

from __future__ import annotations

import pytest
from pyspark.sql import DataFrame

from spark_reports.passes import counts, fold
from spark_reports.pipeline import session_data
from spark_reports.pipeline.session_data import SessionData
from spark_reports.scale import scale_of
from spark_reports.spark.bounds import bring
from spark_reports.tables import dead_letters as tables
from tests.spark_reports.conftest import Events
from tests.spark_reports.tables.rows import leased, published

pytestmark = pytest.mark.spark

S = 1_000_000_000


def _frames(messages: DataFrame, control: DataFrame) -> SessionData:
    scans = [bring(events).lazy() for events in (messages, control)]
    return SessionData(messages, (scans[0], scans[1]), scale_of(10 * S))


def _died(events: Events, causes: int) -> DataFrame:
    return events(*(leased("dead_lettered", S, at, cause=f"cause {at % causes}", to_topic="d", to_partition=0,
                           to_offset=at) for at in range(7)))  # fmt: skip


def test_causes_that_are_too_many_are_cut_off_aloud(events: Events, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "MOST_CAUSES", 3)
    cut = _frames(_died(events, 4), events())
    assert tables.dead_letters(cut.dead_letters)["cause"].to_list() == ["cause 0", "cause 1", "cause 2"]
    assert cut.notes == ["Only the 3 most frequent causes of dead letters are listed, by group."]
    assert tables.dead_letter_list(cut.dead_letters).height == 7
    whole = _frames(_died(events, 3), events())
    assert tables.dead_letters(whole.dead_letters).height == 3 and whole.notes == []


def test_gaps_that_are_too_many_are_cut_off_aloud(events: Events, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fold, "MOST_BROKEN", 3)
    every_second = [{"kind": "fault", "seq": 2 * place, "time_ns": place} for place in range(5)]
    cut = _frames(events(), events(*every_second))
    assert cut.broken["first_seq"].to_list() == [1, 3, 5]
    assert cut.notes == ["Only the first 3 places where numbers of events are missing or twice are listed."]
    whole = _frames(events(), events(*every_second[:3]))
    assert whole.broken.height == 2 and whole.notes == []


def test_events_beside_the_messages_that_are_too_many_are_cut_off_aloud(
    events: Events, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_data, "MOST_CONTROL", 3)
    joined = [{"kind": "member_joined", "time_ns": at, "group": "g", "client": "c"} for at in range(5)]
    cut = _frames(events(), events(*joined))
    assert cut.control["seq"].to_list() == [0, 1, 2]
    assert cut.notes == ["Only the first 3 of the events beside the messages are listed."]
    whole = _frames(events(), events(*joined[:3]))
    assert whole.control.height == 3 and whole.notes == []


def test_dead_letters_and_their_keys_are_listed_up_to_a_bound(events: Events, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "LISTED", 3)
    monkeypatch.setattr(tables, "TOP_KEYS", 2)
    died = [leased("dead_lettered", at * S, at, key=f"key {at}".encode(), cause="poison", to_topic="d", to_partition=0,
                   to_offset=at) for at in range(5)]  # fmt: skip
    found = _frames(events(*died), events()).dead_letters
    assert tables.dead_letter_list(found)["offset"].to_list() == [0, 1, 2]
    assert tables.dead_letter_keys(found).height == 2
    counted = tables.dead_letters(found)["dead_lettered"].to_list()
    assert counted == [5], "those that are not listed are counted"


def test_each_topic_has_its_hottest_keys_and_no_more(events: Events) -> None:
    rows = [published(0, 0, at, topic=topic, key=b"%d" % (at % 4)) for topic in ("a", "b") for at in range(9)]
    found = bring(counts.hot_keys(events(*rows), scale_of(10 * S), top=2)).sort("topic", "rank")
    assert found.select("topic", "key", "messages").rows() == [
        ("a", "0", 3),
        ("a", "1", 2),
        ("b", "0", 3),
        ("b", "1", 2),
    ]


def test_attempts_beyond_the_last_that_is_counted_count_as_that_one(
    events: Events, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counts, "MOST_ATTEMPTS", 3)
    table = events(*(leased("delivered", 0, 0, attempt=attempt) for attempt in range(1, 8)))
    found = bring(counts.rollup(table, scale_of(10 * S))).sort("attempt")
    assert found.select("attempt", "messages").rows() == [(1, 1), (2, 1), (3, 5)]
