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
from broker_core.flow.gate import Gate
from broker_core.groups.offsets import OffsetStore
from broker_core.groups.rebalancing import Rebalancer
from broker_core.lab.actions import MoveConsumer, Redrive
from broker_core.lab.scenario import load_scenario, parse_scenario
from broker_core.lab.simulation import Simulation
from broker_core.log.partition_log import Appended, PartitionLog
from broker_core.queues.config import QueueConfig
from broker_core.queues.lease_table import LeaseTable
from broker_core.queues.states import LeaseAction
from broker_core.session.checker import Checker
from broker_core.session.violation import MAX_HISTORY, Violation
from tests.broker_core.clients.world import World

FIRST = next(path for path in shipped_scenarios() if path.stem == "first-session")


def judged(path: Path = FIRST, until_s: float = 60.0) -> Simulation:
    """A simulation that the checker watches, at its beginning."""
    scenario, _ = load_scenario(path)
    simulation = Simulation(scenario, files=MemoryFiles(), offsets_path=":memory:", find_file=DataFiles(path))
    simulation.events.attach(Checker.of(scenario))
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


def serve_acknowledged_messages(patch: pytest.MonkeyPatch) -> None:
    """A log that begins every tenth read one message too early."""
    read, number = PartitionLog.read, itertools.count(1)

    def early(self: PartitionLog, offset: int, **more: Any) -> Any:
        return read(self, max(0, offset - (next(number) % 10 == 0)), **more)

    patch.setattr(PartitionLog, "read", early)


def lease_twice(patch: pytest.MonkeyPatch) -> None:
    """A queue that forgets now and then that it has just handed out a message."""
    take, number = LeaseTable.take, itertools.count(1)

    def forgetful(self: LeaseTable, *arguments: Any) -> Any:
        found = take(self, *arguments)
        if found[0] and next(number) % 10 == 0:
            self.next_offset -= 1
        return found

    patch.setattr(LeaseTable, "take", forgetful)


def lose_on_the_way_in(patch: pytest.MonkeyPatch) -> None:
    """A log that says "stored" and has stored nothing, once in fifty."""
    append, number = PartitionLog.append_batch, itertools.count(1)

    def losing(self: PartitionLog, now_ns: int, messages: Any, **more: Any) -> Any:
        if next(number) % 50:
            return append(self, now_ns, messages, **more)
        return Appended(self.end_offset, len(messages), 0, False)

    patch.setattr(PartitionLog, "append_batch", losing)


def lose_on_the_way_out(patch: pytest.MonkeyPatch) -> None:
    """A queue that overlooks a message in fifty."""
    grow, number = LeaseTable.grow, itertools.count(1)

    def overlooking(self: LeaseTable) -> int:
        added = grow(self)
        if added == 1 and next(number) % 50 == 0:
            self.skip_to(self.end_offset)
        return added

    patch.setattr(LeaseTable, "grow", overlooking)


def exceed_the_depth(patch: pytest.MonkeyPatch) -> None:
    """A gate that lets one message too many through."""
    full = Gate._full

    def generous(self: Gate, offer: Any) -> tuple[bool, str]:
        is_full, cause = full(self, offer)
        depth = self._depth()[0]
        return (is_full and depth > (self.config.max_messages or 0)), cause

    patch.setattr(Gate, "_full", generous)


def run_first() -> None:
    meddle(judged())


def run_policies() -> None:
    judged(FIRST.with_name("backpressure-policies.yaml")).loop.run_until(ns_from_s(60))


def run_drained() -> None:
    """Producers that stop, crashes and pauses of all who read: in the end everything must be accounted for."""
    scenario = parse_scenario(DRAINED)
    simulation, checker = Simulation(scenario), Checker.of(scenario)
    simulation.events.attach(checker)
    simulation.run()
    checker.finish()


DRAINED = """
title: Drained
about: Everything comes to an end.
until_s: 200
topics: [{name: orders, partitions: 3}]
queues:
  - {name: jobs, config: {lease_ms: 2000, max_attempts: 3, retry: {kind: exponential, base_ms: 200}, priorities: 2}}
groups: [{name: readers, topics: [orders], session_timeout_ms: 3000, assignor: cooperative-sticky}]
producers:
  - {name: shop, to: orders, arrivals: {kind: rate, per_s: 20, spacing: poisson, keys: 9, limit: 800}}
  - {name: boss, to: jobs, arrivals: {kind: rate, per_s: 10, spacing: poisson, limit: 400}}
consumers: [{name: reader, count: 3, group: readers, processing: {mean_ms: 20}}]
subscribers: [{name: mailer, topics: [orders], backlog: 50, policy: drop_oldest, processing: {mean_ms: 60}}]
workers:
  - name: worker
    count: 3
    queue: jobs
    prefetch: 4
    processing: {kind: exponential, mean_ms: 150}
    failures: [{cause: no, rate: 0.2}, {cause: stuck, rate: 0.02, kind: hang}]
schedule:
  - {at_s: 5, do: {action: crash, client: reader-1, for_s: 4}}
  - {at_s: 9, do: {action: crash, client: worker-1, for_s: 5}}
  - {at_s: 12, do: {action: pause, client: reader-2, for_s: 6}}
  - {at_s: 15, do: {action: pause, client: worker-2, for_s: 6}}
  - {at_s: 20, do: {action: drop_heartbeats, client: reader-3, for_s: 6}}
  - {at_s: 22, do: {action: fill_disk, for_s: 3}}
  - {at_s: 24, do: {action: crash, client: mailer, for_s: 5}}
  - {at_s: 26, do: {action: crash, client: shop, for_s: 3}}
  - {at_s: 28, do: {action: move_consumer, consumer: reader-1, group: ""}}
  - {at_s: 30, do: {action: jump_clock, by_s: -86400}}
"""


def test_promise_8_with_all_faults_nothing_is_lost_in_a_run_that_comes_to_its_end() -> None:
    run_drained()


@pytest.mark.parametrize(
    ("sabotage", "run", "words", "most"),
    [
        (skip_the_revoke, run_first, "while indexer-. owns it", 4),
        (forget_attempts, run_first, "counts delivery 2 of", 4),
        (drop_commits, run_first, "again, which it has acknowledged|goes on acknowledging", 8),
        (skip_messages, run_first, "skipped", 8),
        (serve_acknowledged_messages, run_first, "again, which it has acknowledged", 8),
        (lease_twice, run_first, "builds hands .* while builder-. holds it|which is finished", 4),
        (lose_on_the_way_in, run_first, "goes on at .*, not at", 2),
        (lose_on_the_way_out, run_drained, "jobs lost .* of jobs/", 1),
        (exceed_the_depth, run_policies, "holds 21 messages, and takes 20", 21),
    ],
)
def test_a_broken_broker_is_caught_with_the_shortest_history_that_shows_it(
    monkeypatch: pytest.MonkeyPatch,
    sabotage: Callable[[pytest.MonkeyPatch], None],
    run: Callable[[], None],
    words: str,
    most: int,
) -> None:
    """Promises 7, 8, 11, 12, 14 and 16, each broken on purpose."""
    sabotage(monkeypatch)
    with pytest.raises(Violation, match=words) as caught:
        run()
    history = caught.value.history
    assert 0 < len(history) <= most <= MAX_HISTORY
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


def test_what_a_user_takes_back_is_there_again_and_may_be_handed_out() -> None:
    world, checker = World(), Checker(max_attempts={"jobs": 1})
    world.stream.attach(checker)
    broker, now_ns = world.broker, 0
    broker.create_queue(0, "jobs", QueueConfig(max_attempts=1))
    world.publish(b"a", b"b", b"c", topic="jobs")
    assert broker.queue("jobs").purge(now_ns) == 3
    assert broker.queue("jobs").undo_purge(now_ns) == 3
    for lease in broker.take(now_ns, "jobs", "w", max_messages=2).result():
        broker.nack(now_ns, lease, "no")
    letters = broker.dead_letters("jobs")
    letters.purge(now_ns)
    assert letters.undo_purge(now_ns) == 2
    broker.redrive(now_ns, "jobs", [0], client="u")
    assert letters.undo_redrive(now_ns, withdraw=lambda _t, level, at: broker.queue("jobs").withdraw(now_ns, level, at))
    broker.redrive(now_ns, "jobs", [0], client="u")
    with pytest.raises(Violation, match="jobs lost 2 of jobs/0"):
        checker.finish()
    for lease in broker.take(now_ns, "jobs", "w", max_messages=5).result():
        broker.ack(now_ns, lease)
    checker.finish()


def test_what_retention_has_deleted_from_a_queue_is_not_lost() -> None:
    world, checker = World(), Checker()
    world.stream.attach(checker)
    world.broker.create_queue(0, "jobs", QueueConfig())
    world.publish(b"a", b"b", topic="jobs")
    world.broker.delete_records(0, "jobs", 0, 1)
    (lease,) = world.broker.take(0, "jobs", "w", max_messages=5).result()
    world.broker.ack(0, lease)
    checker.finish()
