"""The account of every message: it comes out even in every scenario, and does not when something is taken away."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from app.sessions.audit import audit, table_of
from app.sessions.jobs import Cancelled, Work
from broker_core.events import Event, EventKind
from broker_core.recording.account import Account
from broker_core.recording.judged import Judged
from broker_core.simulation import load_scenario
from broker_core.snapshots import Snapshot
from resources import path
from tests.broker_core.recording.test_fold import SCENARIOS, keyframes_of
from tests.long_form import TELLING, some


def audited(name: str, events: list[Event], snapshot: Snapshot) -> Judged:
    scenario, _ = load_scenario(path("scenarios", f"{name}.yaml"))
    return audit(events, snapshot, scenario, Work(lambda _part, _words: None))


LOSING = (EventKind.DROPPED, EventKind.EVICTED, EventKind.EXPIRED)


@pytest.mark.parametrize("name", some(SCENARIOS, TELLING | {"fan-out", "retention"}))
def test_every_message_of_every_scenario_is_accounted_for(name: str) -> None:
    frames, events = keyframes_of(name)
    found = audited(name, events, frames[-1])
    assert found.broken == "" and found.miscounted == [] and found.account.events == len(events)
    lost = sum(event.count for event in events if event.kind in LOSING)
    assert sum(row.lost for row in found.account.rows()) + found.account.dropped.total() == lost
    table = table_of(found)
    assert (f"{lost:,} messages were lost" if lost else "Nothing was lost") in table.sentence
    assert table.state == ("failure" if lost else "stable")


@pytest.mark.parametrize("kind", [EventKind.PUBLISHED, EventKind.DELIVERED])
def test_what_is_taken_out_of_the_history_is_missed(kind: EventKind) -> None:
    frames, events = keyframes_of("first-session")
    gone = next(event for event in events if event.kind is kind and event.seq > 1_000 and event.group != "builds")
    found = audited("first-session", [event for event in events if event is not gone], frames[-1])
    assert found.broken
    table = table_of(found)
    assert table.state == "failure"
    if kind is EventKind.PUBLISHED:
        assert table.sentence == f"{gone.count} messages were lost.", "what is missing in a log counts"


def test_of_a_recording_that_lacks_events_nothing_is_judged() -> None:
    frames, events = keyframes_of("first-session")
    scenario, _ = load_scenario(path("scenarios", "first-session.yaml"))
    work = Work(lambda _part, _words: None)
    told = table_of(audit(events[:400] + events[500:], frames[-1], scenario, work, problems=["A part is missing."]))
    assert told.sentence == "The recording is incomplete, so nothing is judged: A part is missing."
    assert "Nothing is" not in told.note


def test_a_broker_that_miscounts_is_found_out() -> None:
    frames, events = keyframes_of("first-session")
    (queue,) = frames[-1].queues
    lost = msgspec.structs.replace(frames[-1], queues=(msgspec.structs.replace(queue, ready=queue.ready + 3),))
    found = audited("first-session", events, lost)
    assert found.miscounted == ["builds has 26 messages, and its events tell of 23"]
    assert table_of(found).state == "failure"


def test_a_cancelled_account_ends() -> None:
    frames, events = keyframes_of("first-session")
    scenario, _ = load_scenario(path("scenarios", "first-session.yaml"))
    work = Work(lambda _part, _words: None)
    work.cancelled = True
    with pytest.raises(Cancelled):
        audit(events * 10, frames[-1], scenario, work)


def test_a_redriven_message_is_counted_beside_what_was_published() -> None:
    frames, events = keyframes_of("first-session")
    found = audited("first-session", events, frames[-1])
    (row,) = (one for one in found.account.rows() if one.source == "builds")

    def total(kind: EventKind) -> int:
        return sum(event.count for event in events if event.kind is kind and "builds" in (event.topic, event.group))

    assert total(EventKind.REDRIVEN) > 0
    assert (row.published, row.redriven) == (total(EventKind.PUBLISHED), total(EventKind.REDRIVEN))
    whole = sum(event.count for event in events if event.kind is EventKind.PUBLISHED)
    assert f"all {whole:,} messages" in table_of(found).sentence


def test_what_is_redriven_into_a_topic_is_published_once_for_those_who_subscribe() -> None:
    def told(seq: int, kind: EventKind, offset: int, count: int, **more: Any) -> Event:
        return Event(seq, seq, kind, topic="orders", partition=0, offset=offset, count=count, **more)

    landed: dict[str, Any] = {"to_topic": "orders", "to_partition": 0, "to_offset": 10}
    events = [
        told(0, EventKind.PUBLISHED, 0, 10),
        Event(1, 1, EventKind.REDRIVEN, topic="context.dlq", group="context", count=1, **landed),
        told(2, EventKind.PUBLISHED, 10, 1),
    ]
    account = Account()
    for event in (Event(0, 0, EventKind.QUEUE_CREATED, topic="orders", group="context", count=1), *events):
        account(event)
    (row,) = account.rows()
    assert (row.published, row.open) == (11, 11)
