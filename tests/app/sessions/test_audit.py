"""The account of every message: it comes out even in every scenario, and does not when something is taken away."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from app.sessions.audit import Audit, audit, table_of
from app.sessions.work import Cancelled, Work
from broker_core.events import Event, EventKind
from broker_core.simulation import load_scenario
from broker_core.snapshots import PartitionView, QueueView, Snapshot, TopicView
from resources import path
from tests.broker_core.recording.test_fold import SCENARIOS, keyframes_of
from tests.long_form import some


def audited(name: str, events: list[Event], snapshot: Snapshot) -> Audit:
    scenario, _ = load_scenario(path("scenarios", f"{name}.yaml"))
    return audit(events, snapshot, scenario, Work(lambda _part, _words: None))


@pytest.mark.parametrize("name", some(SCENARIOS))
def test_every_message_of_every_scenario_is_accounted_for(name: str) -> None:
    frames, events = keyframes_of(name)
    found = audited(name, events, frames[-1])
    assert [account for account in found.accounts if account.missing] == []
    assert found.broken == "" and found.accounts and found.events == len(events)
    assert "Nothing was lost" in table_of(found).sentence


@pytest.mark.parametrize("kind", [EventKind.PUBLISHED, EventKind.DELIVERED])
def test_what_is_taken_out_of_the_history_is_missed(kind: EventKind) -> None:
    frames, events = keyframes_of("first-session")
    gone = next(event for event in events if event.kind is kind and event.seq > 1_000 and event.group != "builds")
    found = audited("first-session", [event for event in events if event is not gone], frames[-1])
    assert found.missing or found.broken
    assert table_of(found).state == "failure"


def test_a_broker_that_miscounts_is_found_out() -> None:
    frames, events = keyframes_of("first-session")
    (queue,) = frames[-1].queues
    lost = msgspec.structs.replace(frames[-1], queues=(msgspec.structs.replace(queue, ready=queue.ready + 3),))
    found = audited("first-session", events, lost)
    assert [account.missing for account in found.accounts if account.missing] == [-3]
    assert "3 messages are missing" in table_of(found).sentence


def test_a_cancelled_account_ends() -> None:
    frames, events = keyframes_of("first-session")
    scenario, _ = load_scenario(path("scenarios", "first-session.yaml"))
    work = Work(lambda _part, _words: None)
    work.cancelled = True
    with pytest.raises(Cancelled):
        audit(events * 10, frames[-1], scenario, work)


def test_a_redriven_message_is_published_once_and_said_to_be_redriven() -> None:
    frames, events = keyframes_of("first-session")
    found = audited("first-session", events, frames[-1])
    (account,) = (one for one in found.accounts if one.source == "builds")

    def total(kind: EventKind) -> int:
        return sum(event.count for event in events if event.kind is kind and "builds" in (event.topic, event.group))

    assert (account.published, account.redriven) == (total(EventKind.PUBLISHED), total(EventKind.REDRIVEN))
    assert account.redriven > 0 and not account.missing
    table = table_of(found)
    assert table.headers[2:4] == ("Published", "Redriven")
    whole = sum(event.count for event in events if event.kind is EventKind.PUBLISHED)
    assert f"all {whole:,} messages" in table.sentence


def test_what_is_redriven_into_a_topic_is_published_once_for_those_who_subscribe() -> None:
    def told(seq: int, kind: EventKind, offset: int, count: int, **more: Any) -> Event:
        return Event(seq, seq, kind, topic="orders", partition=0, offset=offset, count=count, **more)

    landed: dict[str, Any] = {"to_topic": "orders", "to_partition": 0, "to_offset": 10}
    events = [
        told(0, EventKind.PUBLISHED, 0, 10),
        Event(1, 1, EventKind.REDRIVEN, topic="context.dlq", group="context", count=1, **landed),
        told(2, EventKind.PUBLISHED, 10, 1),
    ]
    topic = TopicView("orders", (PartitionView(0, 0, 11, 0),), 11, 0, None)
    queue = QueueView("context", 1, 0, 0, 0, 0, 0, 3, 0, 10, 1, 1, 1, (), (), None, topic="orders")
    scenario, _ = load_scenario(path("scenarios", "fan-out.yaml"))
    found = audit(events, Snapshot(3, 3, topics=(topic,), queues=(queue,)), scenario, Work(lambda _part, _words: None))
    (account,) = found.accounts
    assert (account.published, account.redriven, account.done, account.dead, account.missing) == (10, 1, 10, 1, 0)
