"""The history checker: whole runs keep every promise, and a broker that is broken on purpose is caught."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.environment.paths import shipped_scenarios
from broker_core.clock import ns_from_s
from broker_core.files import MemoryFiles
from broker_core.flow.gate import Gate, Obstacle
from broker_core.groups.offsets import OffsetStore
from broker_core.groups.rebalancing import Rebalancer
from broker_core.log.partition_log import Appended, PartitionLog
from broker_core.queues.lease_table import LeaseTable
from broker_core.queues.states import LeaseAction
from broker_core.recording.checker import Checker
from broker_core.recording.violation import MAX_HISTORY, Violation
from broker_core.simulation.actions.dead_letters import Redrive
from broker_core.simulation.actions.groups import MoveConsumer
from broker_core.simulation.arrival_files import DataFiles
from broker_core.simulation.scenario import load_scenario, parse_scenario
from broker_core.simulation.simulation import Simulation
from tests.broker_core.recording.drained import finish

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
    simulation.perform(Redrive(queue="builds", offsets=[letter.offset for letter in letters]))
    simulation.loop.run_until(ns_from_s(60))


def test_a_user_who_moves_consumers_and_redrives_breaks_no_promise() -> None:
    meddle(judged())


# -- the broker, broken on purpose


def skip_the_revoke(patch: pytest.MonkeyPatch) -> None:
    """A coordinator that gives partitions away without taking them back first."""

    def quietly(self: Rebalancer, group: Any, now_ns: int, member: Any, gone: Any) -> None:
        member.owned = tuple(sorted(set(member.owned) - set(gone)))

    patch.setattr(Rebalancer, "revoke", quietly)


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
        start = grow(self)
        if self.end_offset - start == 1 and next(number) % 50 == 0:
            self.skip_to(self.end_offset)
        return start

    patch.setattr(LeaseTable, "grow", overlooking)


def exceed_the_depth(patch: pytest.MonkeyPatch) -> None:
    """A gate that lets one message too many through."""
    full = Gate._obstacle

    def generous(self: Gate, offer: Any) -> Obstacle | None:
        return full(self, offer) if self._depth()[0] > (self.config.max_messages or 0) else None

    patch.setattr(Gate, "_obstacle", generous)


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
    finish(checker)


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


@pytest.mark.promise("8")
def test_promise_8_with_all_faults_nothing_is_lost_in_a_run_that_comes_to_its_end() -> None:
    run_drained()


@pytest.mark.promise("7", "16")
@pytest.mark.parametrize(
    ("sabotage", "run", "words", "most"),
    [
        (skip_the_revoke, run_first, "while indexer-. owns it", 4),
        (forget_attempts, run_first, "counts delivery 2 of", 4),
        (drop_commits, run_first, "again, which it had already acknowledged|continues acknowledging", 9),
        (skip_messages, run_first, "which it never received", 8),
        (serve_acknowledged_messages, run_first, "again, which it had already acknowledged", 8),
        (lease_twice, run_first, "builds hands .* while builder-. holds it|which is finished", 4),
        (lose_on_the_way_in, run_first, "continues at .*, not at", 2),
        (lose_on_the_way_out, run_drained, "jobs/. @.* that queue jobs has not acknowledged", 2),
        (exceed_the_depth, run_policies, "holds 21 messages, but its limit is 20", 21),
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
