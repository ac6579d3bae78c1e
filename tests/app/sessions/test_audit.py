"""The account of every message: it comes out even in every scenario, and does not when something is taken away."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import polars as pl
import pytest

from app.cli.main import main
from app.sessions.audit import audit, table_of
from app.sessions.jobs import Cancelled, Work
from broker_core.events import Event, EventKind
from broker_core.recording.account import Account
from broker_core.recording.judged import Judged
from broker_core.recording.recorder import Recorder
from broker_core.recording.verdicts import Order
from broker_core.simulation import load_scenario
from broker_core.snapshots import Snapshot
from resources import path
from spark_reports.tables.audit import JudgedAccount, verdicts
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


@pytest.mark.parametrize(
    ("back", "keys", "answer"),
    [
        (True, [None], None),
        (False, [None], "the order of each key was kept"),
        (True, [b"a", b"b"], "the order of each key was kept"),
        (True, [b"a", b"a"], "delivered out of the order of their key: 1"),
        (True, [b"a", None, b"a"], "delivered out of the order of their key: 1"),
    ],
    ids=["not known", "read once through", "other keys", "one key", "some known"],
)
def test_the_order_of_keys_that_are_not_recorded_is_not_judged_where_a_reader_went_back(
    back: bool, keys: list[bytes | None], answer: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A batch does not tell the keys of its messages."""
    counts = [5 if key is None else 1 for key in keys]
    firsts = [sum(counts[:number]) for number in range(len(keys) + 1)]
    halves = [(firsts[-1] // 2, firsts[-1]), (0, firsts[-1] // 2)]
    usual: dict[str, Any] = {"topic": "orders", "partition": 0, "published_ns": 0}
    events = [
        Event(seq, seq, EventKind.PUBLISHED, offset=first, count=count, key=key, **usual)
        for seq, (first, count, key) in enumerate(zip(firsts[:-1], counts, keys, strict=True))
    ]
    for first, end in halves if back else reversed(halves):
        given = {"offset": first, "count": end - first, "group": "billing", "client": "one", "attempt": 1}
        events.append(Event(len(events), len(events), EventKind.DELIVERED, **usual | given))
    recorder = Recorder(tmp_path / "s", scenario_name="fake")
    for event in events:
        recorder(event)
    recorder.close(time_ns=100)
    assert main(["audit", str(tmp_path / "s"), "--json"]) == 1
    told = json.loads(capsys.readouterr().out)["verdicts"]["in_order"]
    assert (told["answer"], told["holds"]) == (answer, None if answer is None else "kept" in answer)
    main(["audit", str(tmp_path / "s")])
    account, order = Account(), Order()
    for event in events:
        account(event)
        order(event)
    window = table_of(Judged(account, order)).note
    for shown in (capsys.readouterr().out, window):
        assert ("order of each key was kept" in shown) == bool(told["holds"]) and "only messages that" in shown.lower()
    report = verdicts(JudgedAccount(account, order)).row(by_predicate=pl.col("verdict") == "in_order", named=True)
    assert (report["holds"], report["answer"]) == (told["holds"], answer)
