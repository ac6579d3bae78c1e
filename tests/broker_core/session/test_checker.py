"""The history checker: whole runs keep every promise, and a broker that is broken on purpose is caught."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.places import DataFiles, shipped_scenarios
from broker_core.clock import ns_from_s
from broker_core.events import Event, EventKind, EventStream
from broker_core.files import MemoryFiles
from broker_core.groups.offsets import OffsetStore
from broker_core.groups.rebalancing import Rebalancer
from broker_core.lab.actions import MoveConsumer, Redrive
from broker_core.lab.scenario import load_scenario
from broker_core.lab.simulation import Simulation
from broker_core.log.partition_log import PartitionLog
from broker_core.queues.lease_table import LeaseTable
from broker_core.queues.states import LeaseAction
from broker_core.session.checker import MAX_HISTORY, Checker, Violation

FIRST = next(path for path in shipped_scenarios() if path.stem == "first-session")


def judged(path: Path = FIRST, until_s: float = 60.0) -> Simulation:
    """A simulation that the checker watches, at its beginning."""
    scenario, _ = load_scenario(path)
    simulation = Simulation(scenario, files=MemoryFiles(), offsets_path=":memory:", find_file=DataFiles(path))
    limits = {queue.name: queue.config.max_attempts for queue in scenario.queues}
    compacted = {topic.name for topic in scenario.topics if topic.log and topic.log.cleanup == "compact"}
    simulation.events.attach(Checker(max_attempts=limits, compacted=compacted))
    simulation.start()
    return simulation


def meddle(simulation: Simulation) -> None:
    """Move consumers to and fro and redrive, over a minute."""
    for second, action in (
        (10, MoveConsumer("indexer-4", "indexers")),
        (20, MoveConsumer("indexer-1", "")),
        (21, MoveConsumer("indexer-2", "auditors")),
        (30, MoveConsumer("indexer-1", "explorers")),
    ):
        simulation.loop.run_until(ns_from_s(second))
        simulation.perform(action)
    simulation.loop.run_until(ns_from_s(45))
    letters = simulation.snapshot().queues[0].dead_letters
    assert letters
    simulation.perform(Redrive("builds", tuple(letter.offset for letter in letters)))
    simulation.loop.run_until(ns_from_s(60))


@pytest.mark.parametrize("path", shipped_scenarios(), ids=lambda path: path.stem)
def test_every_scenario_keeps_every_promise(path: Path) -> None:
    scenario, _ = load_scenario(path)
    simulation = judged(path)
    simulation.loop.run_until(ns_from_s(scenario.until_s))
    assert simulation.events.count > 0


def test_a_user_who_moves_consumers_and_redrives_breaks_no_promise() -> None:
    meddle(judged())


# -- the broker, broken on purpose


def skip_the_revoke(patch: pytest.MonkeyPatch) -> None:
    """A coordinator that gives partitions away without taking them back first."""

    def quietly(self: Rebalancer, group: Any, now_ns: int, member: Any, gone: Any) -> None:
        member.owned = tuple(sorted(set(member.owned) - set(gone)))

    patch.setattr(Rebalancer, "_revoke", quietly)


def forget_attempts(patch: pytest.MonkeyPatch) -> None:
    """A queue that counts anew after each lease."""
    move = LeaseTable.move

    def forgetful(self: LeaseTable, span: Any, first: int, end: int, action: LeaseAction, **more: Any) -> Any:
        return move(self, span, first, end, action, **(more | {"attempts": 0}))

    patch.setattr(LeaseTable, "move", forgetful)


def drop_commits(patch: pytest.MonkeyPatch) -> None:
    """An offset store that forgets every third commit."""
    commit, number = OffsetStore.commit, itertools.count()

    def dropping(self: OffsetStore, *arguments: Any, **more: Any) -> None:
        if next(number) % 3:
            commit(self, *arguments, **more)

    patch.setattr(OffsetStore, "commit", dropping)


def skip_messages(patch: pytest.MonkeyPatch) -> None:
    """A log that leaves out a message in a hundred."""
    read = PartitionLog.read

    def skipping(self: PartitionLog, *arguments: Any, **more: Any) -> Any:
        messages = read(self, *arguments, **more)
        return [message for message in messages if message.offset % 100 != 50] or messages

    patch.setattr(PartitionLog, "read", skipping)


@pytest.mark.parametrize(
    ("sabotage", "words"),
    [
        (skip_the_revoke, "while indexer-. owns it"),
        (forget_attempts, "counts delivery 2 of"),
        (drop_commits, "again, which it has acknowledged|goes on acknowledging"),
        (skip_messages, "skipped"),
    ],
)
def test_a_broken_broker_is_caught_with_a_short_history(
    monkeypatch: pytest.MonkeyPatch, sabotage: Callable[[pytest.MonkeyPatch], None], words: str
) -> None:
    sabotage(monkeypatch)
    with pytest.raises(Violation, match=words) as caught:
        meddle(judged())
    history = caught.value.history
    assert 0 < len(history) <= MAX_HISTORY
    assert [event.seq for event in history] == sorted(event.seq for event in history)
    assert str(caught.value).count("\n") == len(history)


# -- each rule, by events made by hand


def story(*events: tuple[EventKind, dict[str, Any]], **checker: Any) -> Checker:
    """Feed events to a checker, a millisecond apart."""
    found = Checker(**checker)
    stream = EventStream()
    stream.attach(found)
    for number, (kind, fields) in enumerate(events):
        stream.emit(number * 1_000_000, kind, **fields)
    return found


def queue(kind: EventKind, offset: int = 0, **fields: Any) -> tuple[EventKind, dict[str, Any]]:
    return kind, {"topic": "q", "partition": 0, "offset": offset, "count": 1, "group": "q", **fields}


def topic(kind: EventKind, offset: int = 0, **fields: Any) -> tuple[EventKind, dict[str, Any]]:
    return kind, {"topic": "t", "partition": 0, "offset": offset, "count": 1, "group": "g", **fields}


def owns(kind: EventKind, client: str, generation: int) -> tuple[EventKind, dict[str, Any]]:
    detail = {"partitions": [["t", 0]]}
    return kind, {"group": "g", "client": client, "generation": generation, "detail": detail}


K = EventKind
MADE = (K.QUEUE_CREATED, {"topic": "q"})
BURIED: dict[str, Any] = {"to_topic": "q.dlq", "to_partition": 0, "to_offset": 0}
LETTER = (K.REDRIVEN, {"topic": "q.dlq", "offset": 0, "count": 1, "to_topic": "q", "to_partition": 0, "to_offset": 1})


@pytest.mark.parametrize(
    ("events", "words"),
    [
        ([topic(K.PUBLISHED, 0), topic(K.PUBLISHED, 2)], "goes on at 2, not at 1"),
        ([topic(K.PUBLISHED, 0), topic(K.PUBLISHED, 0)], "goes on at 0, not at 1"),
        ([topic(K.DELIVERED, 0, attempt=1)], "which nobody published"),
        ([topic(K.PUBLISHED, 0), topic(K.ACKNOWLEDGED, 0)], "which it never got"),
        ([topic(K.PUBLISHED), topic(K.DELIVERED, attempt=1), topic(K.DELIVERED, attempt=1)], "counted as attempt 1"),
        ([owns(K.PARTITIONS_ASSIGNED, "a", 1), owns(K.PARTITIONS_ASSIGNED, "b", 2)], "while a owns it"),
        ([owns(K.PARTITIONS_ASSIGNED, "a", 2), owns(K.PARTITIONS_ASSIGNED, "a", 1)], "generation 1, which is over"),
        (
            [owns(K.PARTITIONS_ASSIGNED, "a", 1), topic(K.PUBLISHED), topic(K.DELIVERED, client="b", attempt=1)],
            "which a owns",
        ),
        (
            [MADE, queue(K.PUBLISHED), queue(K.DELIVERED, client="a", attempt=1), queue(K.ACKNOWLEDGED, client="b")],
            "b ends the lease of 0, which a holds",
        ),
        (
            [
                MADE,
                queue(K.PUBLISHED),
                queue(K.DELIVERED, client="a", attempt=1),
                queue(K.DELIVERED, client="b", attempt=2),
            ],
            "while a holds it",
        ),
        (
            [MADE, queue(K.PUBLISHED), queue(K.DELIVERED, client="a", attempt=2)],
            "counts delivery 1 of 0 as attempt 2",
        ),
        (
            [
                MADE,
                queue(K.PUBLISHED),
                queue(K.DELIVERED, client="a", attempt=1),
                queue(K.ACKNOWLEDGED, client="a"),
                queue(K.DELIVERED, client="a", attempt=2),
            ],
            "which is finished",
        ),
        ([MADE, queue(K.PUBLISHED), LETTER], "a dead letter that is not in q.dlq"),
        ([MADE, queue(K.PUBLISHED), queue(K.DEAD_LETTERED, **BURIED), LETTER, LETTER], "not in q.dlq"),
        ([MADE, queue(K.PUBLISHED), queue(K.DEAD_LETTERED, **BURIED), queue(K.DEAD_LETTERED, **BURIED)], "finished"),
    ],
)
def test_each_rule_is_broken_once(events: list[tuple[EventKind, dict[str, Any]]], words: str) -> None:
    with pytest.raises(Violation, match=words) as caught:
        story(*events)
    last = events[-1][0]
    assert caught.value.history[-1].kind is last


def test_at_most_once_is_broken_by_a_second_delivery() -> None:
    events = [topic(K.PUBLISHED), topic(K.DELIVERED, attempt=1), topic(K.DELIVERED, attempt=2)]
    story(*events)
    with pytest.raises(Violation, match="twice"):
        story(*events, at_most_once=["g"])


def test_only_what_was_deleted_or_compacted_may_be_skipped() -> None:
    def skips(*between: tuple[EventKind, dict[str, Any]], **checker: Any) -> None:
        published = [topic(K.PUBLISHED, offset) for offset in range(4)]
        story(
            *published,
            topic(K.DELIVERED, 0, attempt=1),
            topic(K.ACKNOWLEDGED, 0),
            *between,
            topic(K.DELIVERED, 3, attempt=1),
            topic(K.ACKNOWLEDGED, 3),
            **checker,
        ).finish()

    skips(topic(K.RECORDS_DELETED, 0, count=3))
    skips(compacted=["t"])
    with pytest.raises(Violation, match="g skipped 1 to 2"):
        skips()
    with pytest.raises(Violation, match="g skipped 1 to 2"):
        skips(topic(K.RECORDS_DELETED, 0, count=2))


def test_a_drained_run_that_lost_something_is_caught_and_a_running_one_is_not() -> None:
    checker = story(topic(K.PUBLISHED), topic(K.DELIVERED, attempt=1))
    checker.finish(drained=False)
    with pytest.raises(Violation, match="g never acknowledged 0 to 0 of t/0"):
        checker.finish()
    with pytest.raises(Violation, match="q lost 0 of q/0"):
        story(MADE, queue(K.PUBLISHED)).finish()
    story(
        MADE, queue(K.PUBLISHED), queue(K.DELIVERED, client="a", attempt=1), queue(K.ACKNOWLEDGED, client="a")
    ).finish()


def test_a_gap_in_the_stream_and_time_that_goes_back_are_caught() -> None:
    checker = Checker()
    checker(Event(0, 5, K.FAULT))
    with pytest.raises(Violation, match="the stream has a gap"):
        checker(Event(2, 6, K.FAULT))
    with pytest.raises(Violation, match="time goes backwards"):
        checker(Event(1, 4, K.FAULT))
