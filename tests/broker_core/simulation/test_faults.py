"""Faults on demand and on a schedule: what each does, and that it ends."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from broker_core.clock import NS_PER_S, s_from_ns
from broker_core.errors import BrokerError
from broker_core.events import Event, EventKind
from broker_core.simulation import Simulation, parse_scenario
from broker_core.simulation.actions import UserAction
from broker_core.simulation.actions.faults import (
    Crash,
    DropHeartbeats,
    EndFaults,
    EndRule,
    FailMatching,
    FillDisk,
    JumpClock,
    Pause,
    Restart,
    SlowDown,
)
from broker_core.simulation.actions.groups import MoveConsumer

TEXT = """\
title: Faults
about: One of each.
until_s: 60
rebalance_delay_ms: 0
topics: [{name: orders, partitions: 2}, {name: narrow, flow: {policy: block, max_messages: 1}}]
queues: [{name: jobs, config: {lease_ms: 4000, max_attempts: 5}}]
groups: [{name: readers, topics: [orders]}, {name: slow, topics: [narrow]}]
producers:
  - {name: shop, to: orders, arrivals: {kind: rate, per_s: 10, keys: 20}}
  - {name: planner, to: jobs, arrivals: {kind: rate, per_s: 4}}
  - {name: stuck, to: narrow, arrivals: {kind: rate, per_s: 5}}
consumers:
  - {name: reader, count: 2, group: readers, processing: {mean_ms: 50}}
  - {name: bench, count: 1}
  - {name: sloth, group: slow, processing: {mean_ms: 2000}, max_poll_messages: 1}
workers:
  - {name: worker, count: 2, queue: jobs, processing: {mean_ms: 480}}
"""


class Session:
    def __init__(self, *actions: tuple[float, UserAction], until_s: float = 60, schedule: str = "") -> None:
        self.events: list[Event] = []
        self.simulation = Simulation(parse_scenario(TEXT + schedule))
        self.simulation.events.attach(self.events.append)
        self.simulation.start()
        for at_s, action in actions:
            self.simulation.run(at_s)
            self.simulation.perform(action)
        self.simulation.run(until_s)

    def of(self, kind: EventKind, after_s: float = 0, before_s: float = 1e9, **fields: Any) -> list[Event]:
        return [
            event
            for event in self.events
            if event.kind is kind
            and after_s * NS_PER_S < event.time_ns <= before_s * NS_PER_S
            and all(getattr(event, name) == wanted for name, wanted in fields.items())
        ]

    def faults(self) -> list[tuple[float, str, str]]:
        return [(s_from_ns(event.time_ns), event.client, event.cause) for event in self.of(EventKind.FAULT)]


def test_a_crashed_consumer_leaves_by_its_missed_heartbeats_and_comes_back() -> None:
    session = Session((20, Crash("reader-1", 15)))
    assert session.faults() == [(20, "reader-1", "crash"), (35, "reader-1", "restarted")]
    (left,) = session.of(EventKind.MEMBER_LEFT)
    assert "missed its heartbeats" in left.cause
    assert 25 < s_from_ns(left.time_ns) <= 26
    assert session.of(EventKind.DELIVERED, 20, 35, client="reader-1") == []
    assert session.of(EventKind.DELIVERED, 36, client="reader-1") != []
    assert [offset.lag for group in session.simulation.snapshot().groups[:1] for offset in group.offsets] <= [2, 2]


def test_a_crashed_worker_loses_its_lease_and_somebody_else_does_the_work() -> None:
    session = Session((20.2, Crash("worker-1")))
    (expired,) = session.of(EventKind.LEASE_EXPIRED)
    assert expired.client == "worker-1"
    assert 20.2 < s_from_ns(expired.time_ns) <= 24.2
    (again,) = session.of(EventKind.DELIVERED, offset=expired.offset, attempt=2)
    assert again.client == "worker-2"
    assert session.simulation.actors["worker-1"].state == "crashed"
    assert session.of(EventKind.DELIVERED, 20.2, client="worker-1") == []


def test_a_crashed_producer_stands_in_no_line_and_goes_on_after_its_restart() -> None:
    session = Session((20.5, Crash("stuck")), (40, Restart("stuck")))
    assert session.of(EventKind.PUBLISHED, 20.5, 39.9, client="stuck") == []
    assert session.of(EventKind.PUBLISHED, 40, client="stuck") != []
    (refused,) = session.of(EventKind.REJECTED, client="stuck")
    assert refused.cause == "stuck has stopped"
    published = [event.offset for event in session.of(EventKind.PUBLISHED, topic="narrow")]
    assert published == list(range(len(published)))


def test_a_paused_worker_stands_still_and_finds_its_lease_gone() -> None:
    session = Session((20.2, Pause("worker-1", 10)))
    assert session.faults() == [(20.2, "worker-1", "pause"), (30.2, "worker-1", "pause is over")]
    (expired,) = session.of(EventKind.LEASE_EXPIRED, client="worker-1")
    assert session.of(EventKind.ACKNOWLEDGED, 20.2, 30.2, client="worker-1") == []
    assert session.simulation.actors["worker-1"].failed == 1
    assert session.of(EventKind.ACKNOWLEDGED, 31, client="worker-1") != []
    assert len(session.of(EventKind.ACKNOWLEDGED, offset=expired.offset, topic="jobs")) == 1


def test_a_short_pause_of_a_consumer_costs_no_rebalance_and_a_long_one_costs_two() -> None:
    def rebalances(for_s: float) -> int:
        return sum(
            view.group == "readers" for view in Session((20, Pause("reader-1", for_s))).simulation.snapshot().rebalances
        )

    assert rebalances(3) == 1
    assert rebalances(12) == 3


def test_a_pause_without_an_end_lasts_until_somebody_ends_it() -> None:
    session = Session((10, Pause("worker-1")), (30, EndFaults("worker-1")))
    assert session.faults() == [(10, "worker-1", "pause"), (30, "worker-1", "pause is over")]
    assert session.of(EventKind.ACKNOWLEDGED, 10, 30, client="worker-1") == []
    assert session.of(EventKind.ACKNOWLEDGED, 30, client="worker-1") != []


def test_who_is_slowed_down_takes_longer_until_it_is_over() -> None:
    session = Session((20, SlowDown("worker-1", 5, 20)))

    def most_s(after_s: float, before_s: float) -> float:
        times = [s_from_ns(e.time_ns) for e in session.of(EventKind.ACKNOWLEDGED, after_s, before_s, client="worker-1")]
        return max(later - earlier for earlier, later in pairwise(times))

    assert most_s(1, 20) < 2
    assert most_s(21, 40) == pytest.approx(2.4)
    assert most_s(43, 60) < 2
    assert session.simulation.actors["worker-1"].slowness == 1


def test_a_second_slow_down_takes_the_place_of_the_first() -> None:
    session = Session((10, SlowDown("worker-1", 5, 10)), (15, SlowDown("worker-1", 2, 20)), until_s=30)
    assert session.simulation.actors["worker-1"].slowness == 2


def test_lost_heartbeats_matter_only_to_who_commits_nothing() -> None:
    busy = Session((20, DropHeartbeats("reader-1", 15)))
    assert busy.of(EventKind.MEMBER_LEFT) == []
    text = TEXT.replace("per_s: 10, keys: 20", "per_s: 10, keys: 20, limit: 50")
    events: list[Event] = []
    idle = Simulation(parse_scenario(text))
    idle.events.attach(events.append)
    idle.run(20)
    idle.perform(DropHeartbeats("reader-1", 15))
    idle.run()
    (left,) = [event for event in events if event.kind is EventKind.MEMBER_LEFT]
    assert left.client == "reader-1"
    assert idle.actors["reader-1"].state == "waiting"
    (readers, _) = idle.snapshot().groups
    assert [len(member.partitions) for member in readers.members] == [1, 1]


def test_a_full_disk_is_a_clean_error_and_nothing_is_lost_or_doubled() -> None:
    session = Session((20, FillDisk(10)), until_s=60)
    assert session.of(EventKind.PUBLISHED, 20, 29.9) == []
    for name, per_s in (("shop", 10), ("planner", 4)):
        assert session.simulation.actors[name].processed == 60 * per_s
        assert sum(event.count for event in session.of(EventKind.PUBLISHED, client=name)) == 60 * per_s
    assert session.of(EventKind.ACKNOWLEDGED, 20, 22, group="readers") != []


@pytest.mark.promise("17")
@pytest.mark.parametrize("by_s", [86_400, -86_400])
def test_a_jump_of_the_wall_clock_changes_nothing(by_s: float) -> None:
    """Promise 17: no mass expiry, of leases, sessions, retries or anything."""
    jumped = Session((20, JumpClock(by_s)))
    steady = Session()

    def plain(session: Session) -> list[Event]:
        return [event for event in session.events if event.kind not in {EventKind.FAULT, EventKind.USER_ACTION}]

    def content(event: Event) -> tuple[Any, ...]:
        return tuple(getattr(event, name) for name in event.__struct_fields__ if name != "seq")

    assert [content(event) for event in plain(jumped)] == [content(event) for event in plain(steady)]
    assert [cause for _, _, cause in jumped.faults()] == [f"wall clock set by {by_s:+g} s"]


@pytest.mark.parametrize(
    ("before", "action", "words"),
    [
        (None, Crash("nobody"), "there is no 'nobody'"),
        (None, Crash("bench-1"), "bench-1 is on the bench"),
        (None, Restart("worker-1"), "worker-1 has not crashed"),
        (None, DropHeartbeats("worker-1"), "sends no heartbeats"),
        (None, EndFaults("worker-1"), "nothing is wrong with worker-1"),
        (None, EndFaults(), "nothing is wrong with the disk"),
        (Crash("worker-1"), Pause("worker-1", 3), "worker-1 has crashed; restart it first"),
        (Crash("worker-1"), Crash("worker-1"), "worker-1 has crashed; restart it first"),
        (Pause("worker-1"), Pause("worker-1"), "worker-1 is already paused"),
        (FillDisk(), FillDisk(3), "the disk is already full"),
    ],
)
def test_what_cannot_be_done_is_refused_in_words_and_not_recorded(
    before: UserAction | None, action: UserAction, words: str
) -> None:
    session = Session(*([(10, before)] if before else []), until_s=11)
    recorded: list[object] = []
    session.simulation.on_action(lambda _time_ns, plain: recorded.append(plain))
    with pytest.raises(BrokerError, match=words):
        session.simulation.perform(action)
    assert recorded == []


def test_whoever_is_moved_starts_anew_and_its_crash_or_pause_is_over() -> None:
    for fault in (Crash("reader-1", 10), Pause("reader-1", 10)):
        session = Session(
            (20, fault), (22, MoveConsumer("reader-1", "slow")), (30, MoveConsumer("reader-1", "readers"))
        )
        assert session.simulation.actors["reader-1"].target == "readers"
        assert session.of(EventKind.DELIVERED, 31, client="reader-1") != []
        told = [(at_s, cause.endswith(" is over")) for at_s, _client, cause in session.faults()]
        assert told == [(20, False), (22, True)]


def test_a_schedule_does_the_same_as_a_person_but_is_no_action_of_theirs() -> None:
    schedule = """\
schedule:
  - {at_s: 20, do: {action: crash, client: reader-1, for_s: 15}}
  - {at_s: 25, do: {action: crash, client: reader-1}}
  - {at_s: 40, do: {action: move_consumer, consumer: bench-1, group: readers}}
"""
    session = Session(schedule=schedule)
    causes = [cause for _, _, cause in session.faults()]
    assert causes[0] == "crash"
    assert causes[1].startswith("could not be done: ")
    assert causes[2] == "restarted"
    assert session.simulation.actors["bench-1"].target == "readers"
    (moved,) = session.of(EventKind.USER_ACTION)
    assert moved.cause == "moved bench-1 to readers"


def test_a_rule_that_was_ended_early_ends_none_that_has_its_name_later():
    lasts, stays = FailMatching("jobs", every=2, for_s=5), FailMatching("jobs", every=3)
    session = Session((10, lasts), (12, EndRule("rule-1")), (13, stays), until_s=16)
    told = [(10, lasts.what), (12, "rule rule-1 is over"), (13, stays.what)]
    assert session.faults() == [(at_s, "jobs", cause) for at_s, cause in told]
    assert [fault.what for fault in session.simulation.snapshot().faults] == [stays.what]
