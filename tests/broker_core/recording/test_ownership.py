"""Who owned what since when, and how long nobody read it, at any moment, out of the events."""

from __future__ import annotations

from bisect import bisect_right
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.clock import NS_PER_S, ns_from_s
from broker_core.events import Event, EventKind, EventStream
from broker_core.recording.ownership import SPANS_KEPT, Gap, Ownership, Span
from broker_core.simulation import Simulation, parse_scenario
from broker_core.simulation.actions import UserAction
from broker_core.simulation.actions.faults import Crash, DropHeartbeats, Pause, Restart, SlowDown
from broker_core.simulation.actions.groups import MoveConsumer

PLACE = ("g", "orders", 3)
SESSION = """\
title: Gaps
about: A group of three.
until_s: 45
rebalance_delay_ms: 0
topics: [{name: orders, partitions: 4}]
groups: [{name: readers, topics: [orders], assignor: %s, session_timeout_ms: 6000, heartbeat_interval_ms: 1000}]
producers: [{name: shop, to: orders, arrivals: {kind: rate, per_s: 20, keys: 40}}]
consumers:
  - {name: reader, count: 3, group: readers, processing: {mean_ms: 20}, static: %s}
  - {name: bench, count: 1}
"""


class Written:
    """A group of which the test writes down what happens to one partition."""

    def __init__(self) -> None:
        self.ownership = Ownership()
        self._events = EventStream()
        self._events.attach(self.ownership)
        self._told_ns: list[int] = []
        self._events.attach(lambda event: self._told_ns.append(event.time_ns))

    def events_by(self, at_s: float) -> int:
        """How many have happened up to then."""
        return bisect_right(self._told_ns, ns_from_s(at_s))

    def tell(self, at_s: float, kind: EventKind, client: str = "", member: str = "", **fields: object) -> None:
        detail = {"partitions": [["orders", 3]], "member_id": member or client, **fields.pop("detail", {})}  # type: ignore[dict-item]
        self._events.emit(ns_from_s(at_s), kind, group="g", client=client, detail=detail, **fields)

    def read(self, at_s: float, client: str, published_s: float, member: str = "") -> None:
        self._events.emit(
            ns_from_s(at_s), EventKind.DELIVERED, topic="orders", partition=3, offset=0, count=1, client=client,
            group="g", attempt=1, published_ns=ns_from_s(published_s), member=member,
        )  # fmt: skip

    def rebalance(self, at_s: float, end_s: float, old: str, new: str) -> None:
        """`old` loses the partition at `at_s` and `new` gets it at `end_s`; "" is nobody."""
        self.tell(at_s, EventKind.REBALANCE_STARTED)
        if old:
            self.tell(at_s, EventKind.PARTITIONS_REVOKED, old)
        if new:
            self.tell(end_s, EventKind.PARTITIONS_ASSIGNED, new)

    def spans(self, at_s: float) -> list[tuple[str, float, float | None]]:
        found = self.ownership.spans(PLACE, ns_from_s(at_s))
        return [(one.owner, one.start_ns / NS_PER_S, one.end_ns and one.end_ns / NS_PER_S) for one in found]

    def gap(self, started_s: float) -> tuple[str, float, float | None]:
        (gap,) = self.ownership.gaps("g", ns_from_s(started_s))
        return gap.cause, gap.start_ns / NS_PER_S, gap.end_ns and gap.end_ns / NS_PER_S


def test_owners_change_at_revocations_and_assignments_and_the_past_knows_nothing_of_what_came_later() -> None:
    told = Written()
    told.rebalance(0, 1, "", "a")
    told.rebalance(5, 7, "a", "b")
    told.rebalance(9, 10, "b", "")
    assert told.spans(20) == [("a", 1, 5), ("b", 7, 9)]
    assert told.spans(8) == [("a", 1, 5), ("b", 7, None)]
    assert told.spans(3) == [("a", 1, None)]
    assert told.ownership.since_ns(PLACE, "a", 3 * NS_PER_S) == NS_PER_S
    assert told.ownership.since_ns(PLACE, "a", 8 * NS_PER_S) is None


def test_a_rebalance_that_gives_back_what_it_revoked_leaves_its_owner_since_as_it_was() -> None:
    told = Written()
    told.rebalance(0, 1, "", "a")
    told.rebalance(5, 7, "a", "a")
    told.rebalance(8, 9, "a", "a")
    assert told.ownership.since_ns(PLACE, "a", 8 * NS_PER_S) is None, "nobody's, while it is revoked"
    assert told.ownership.since_ns(PLACE, "a", 10 * NS_PER_S) == NS_PER_S
    told.rebalance(11, 12, "a", "b")
    told.rebalance(13, 14, "b", "a")
    assert told.ownership.since_ns(PLACE, "a", 15 * NS_PER_S) == 14 * NS_PER_S, "somebody had it in between"


def test_an_owner_that_is_assigned_what_it_has_keeps_it_since_then() -> None:
    told = Written()
    told.rebalance(0, 1, "", "a")
    told.rebalance(5, 7, "", "a")
    assert told.spans(8) == [("a", 1, None)]
    told.rebalance(9, 10, "", "b")
    assert told.spans(11) == [("a", 1, 10), ("b", 10, None)], "a broken coordinator leaves the revocation out"


def test_the_history_of_a_partition_is_bounded() -> None:
    told = Written()
    for start in range(3 * SPANS_KEPT):
        told.rebalance(start, start + 0.5, "ab"[(start + 1) % 2], "ab"[start % 2])
    spans = told.ownership.spans(PLACE, 10**18)
    assert len(spans) == SPANS_KEPT and spans[-1] == Span("b", round((3 * SPANS_KEPT - 0.5) * NS_PER_S), None)


def test_members_that_never_come_back_are_forgotten() -> None:
    told = Written()
    for number in range(1_000):
        told.rebalance(number, number + 0.5, f"pod-{number - 1}" if number else "", f"pod-{number}")
    assert max(len(each._of) for each in (told.ownership._taken, told.ownership._given)) < 200


def test_of_members_that_have_left_or_are_replaced_nothing_is_kept() -> None:
    told = Written()
    for number in range(20):
        told.tell(3 * number, EventKind.MEMBER_JOINED, f"pod-{number}")
        told.read(3 * number + 1, f"pod-{number}", 0)
        told.tell(3 * number + 2, EventKind.MEMBER_LEFT, f"pod-{number}")
        told.read(3 * number + 2.5, f"pod-{number}", 0)  # on its way still
    before = ""
    for number in range(20):
        at_s, member = 100 + 2 * number, f"static-{number}"
        told.tell(at_s, EventKind.MEMBER_JOINED, "static", member, detail={"replaces": before})
        told.read(at_s + 1, "static", 0, member)
        before = member
    held = [each for each in vars(told.ownership).values() if isinstance(each, dict)]
    kept = {key for each in held for key in each if isinstance(key, tuple) and len(key) == 2}
    assert kept == {("g", before)}


def test_a_gap_ends_with_the_first_fetch_where_messages_waited_for_it() -> None:
    told = Written()
    told.rebalance(0, 1, "", "a")
    told.rebalance(5, 6, "a", "b")
    told.read(6.5, "a", 2)  # on its way to the old owner still
    assert told.gap(5) == ("", 5, 6)
    told.read(8, "b", 5.5)
    told.read(9, "b", 5.5)
    assert told.gap(5) == ("", 5, 8)
    # At that moment nobody knew yet.
    (then,) = [gap.at(gap.first_read_seq) for gap in told.ownership.gaps("g", 5 * NS_PER_S)]
    assert (then.end_ns, then.lasted_ns(7 * NS_PER_S)) == (6 * NS_PER_S, NS_PER_S)


def test_who_reads_on_until_it_is_told_leaves_a_gap_from_then_on() -> None:
    told = Written()
    told.rebalance(0, 1, "", "a")
    told.rebalance(5, 5, "a", "")
    told.read(5.4, "a", 5.4)
    told.read(5.5, "c", 5.4)  # nobody's partition, or somebody else's
    assert told.gap(5) == ("", 5, None), "nobody knows whether it reads on"
    told.tell(6, EventKind.PARTITIONS_ASSIGNED, "b")
    assert told.gap(5) == ("", 5.4, 6)


def test_a_gap_ends_with_the_assignment_where_nothing_waited() -> None:
    told = Written()
    told.rebalance(0, 1, "", "a")
    told.rebalance(5, 6, "a", "b")
    told.read(8, "b", 8)
    assert told.gap(5) == ("", 5, 6)


def test_a_partition_that_nobody_gets_has_one_gap_until_somebody_does() -> None:
    told = Written()
    told.rebalance(0, 1, "", "a")
    told.rebalance(5, 6, "a", "")
    (gap,) = told.ownership.gaps("g", 5 * NS_PER_S)
    assert gap.end_ns is None and gap.lasted_ns(30 * NS_PER_S) == 25 * NS_PER_S
    told.rebalance(40, 41, "", "b")
    assert told.gap(5) == ("", 5, 41)
    assert told.ownership.gaps("g", 40 * NS_PER_S) == ()


def test_a_member_from_outside_could_read_until_its_last_sign_of_life() -> None:
    told = Written()
    told.tell(0, EventKind.MEMBER_JOINED, "a")
    told.rebalance(0, 1, "", "a")
    told.read(11, "a", 10)
    told.tell(20, EventKind.MEMBER_LEFT, "a", detail={"heard_ns": 10 * NS_PER_S})
    told.rebalance(20, 21, "a", "b")
    assert told.gap(20) == ("silence", 11, 21)


def test_a_member_that_joined_before_the_recording_could_read_until_its_last_delivery() -> None:
    told = Written()
    told.rebalance(0, 1, "", "a")
    told.read(4, "a", 2)
    told.tell(9, EventKind.MEMBER_LEFT, "a", detail={"heard_ns": 3 * NS_PER_S})
    told.read(9, "a", 2)  # on its way still
    told.rebalance(9, 10, "a", "b")
    assert told.gap(9) == ("silence", 4, 10)
    assert not told.ownership._delivered_ns


def test_a_recording_of_before_members_were_told_has_the_deliveries_of_the_owner_of_that_name() -> None:
    told = Written()
    told.tell(0, EventKind.MEMBER_JOINED, "a", "a-1")
    told.tell(1, EventKind.PARTITIONS_ASSIGNED, "a", "a-1")
    told.read(11, "a", 10)
    told.tell(20, EventKind.MEMBER_LEFT, "a", "a-1", detail={"heard_ns": 10 * NS_PER_S})
    told.tell(20, EventKind.REBALANCE_STARTED)
    told.tell(20, EventKind.PARTITIONS_REVOKED, "a", "a-1")
    told.tell(21, EventKind.PARTITIONS_ASSIGNED, "b", "b-1")
    told.read(24, "b", 10)
    assert told.gap(20) == ("silence", 11, 24)


class Run:
    """A session with what its events tell of gaps."""

    def __init__(self, *actions: tuple[float, UserAction], assignor: str = "range", static: bool = False) -> None:
        self.events: list[Event] = []
        self.ownership = Ownership()
        simulation = Simulation(parse_scenario(SESSION % (assignor, str(static).lower())))
        simulation.events.attach(self.ownership)
        simulation.events.attach(self.events.append)
        simulation.start()
        for at_s, action in actions:
            simulation.run(at_s)
            simulation.perform(action)
        simulation.run(45)
        self.started = [event.time_ns for event in self.events if event.kind is EventKind.REBALANCE_STARTED]

    def gaps(self, after_s: float = 0) -> list[Gap]:
        started = dict.fromkeys(ns for ns in self.started if ns >= after_s * NS_PER_S)
        return [gap for started_ns in started for gap in self.ownership.gaps("readers", started_ns)]

    def first_read(self, gap: Gap) -> int:
        """When the new owner of the partition got its first message in the group."""
        owner = self.ownership.spans(gap.place, gap.assigned_ns or 0)[-1].owner
        return min(
            event.time_ns
            for event in self.events
            if event.kind is EventKind.DELIVERED and event.client == owner and event.time_ns >= (gap.assigned_ns or 0)
        )


def test_after_a_crash_nobody_reads_until_it_is_noticed_and_rebalanced() -> None:
    run = Run((20.3, Crash("reader-1")))
    longest = max(run.gaps(20), key=lambda gap: gap.lasted_ns(0))
    assert (longest.cause, longest.lost_ns) == ("crash", ns_from_s(20.3))
    assert longest.revoked_ns - longest.lost_ns > 5 * NS_PER_S
    assert longest.end_ns == run.first_read(longest)
    others = [gap for gap in run.gaps(20) if not gap.cause]
    assert others and all(gap.lost_ns == gap.revoked_ns for gap in others), "they read until they were revoked"


def test_who_crashes_and_comes_back_before_it_is_missed_has_left_a_gap_from_its_crash_on() -> None:
    run = Run((20.3, Crash("reader-1")), (22, Restart("reader-1")))
    crashed = [gap for gap in run.gaps(20) if gap.cause == "crash"]
    assert crashed and {gap.lost_ns for gap in crashed} == {ns_from_s(20.3)}


def test_a_pause_that_is_over_in_time_is_no_loss_and_one_that_is_not_is() -> None:
    assert Run((20.3, Pause("reader-1", 2)), (30, MoveConsumer("bench-1", "readers"))).gaps(20)[0].cause == ""
    run = Run((20.3, Pause("reader-1", 20)))
    assert {(gap.cause, gap.lost_ns) for gap in run.gaps(20) if gap.revoked_ns < 30 * NS_PER_S and gap.cause} == {
        ("pause", ns_from_s(20.3))
    }


def test_who_falls_silent_could_read_until_its_last_sign_of_life() -> None:
    run = Run((20.3, SlowDown("reader-1", 500)), (20.3, DropHeartbeats("reader-1")))
    silent = [gap for gap in run.gaps(20) if gap.cause == "silence"]
    assert silent
    (first, *_again) = [event for event in run.events if event.kind is EventKind.MEMBER_LEFT]
    heard_ns = (first.detail or {})["heard_ns"]
    assert first.time_ns - heard_ns == 6 * NS_PER_S, "the session timeout"
    last_ns = max(
        event.time_ns
        for event in run.events
        if event.kind is EventKind.DELIVERED and event.client == "reader-1" and event.seq < first.seq
    )
    assert last_ns > heard_ns and silent[0].lost_ns == last_ns, "it was given something after its last heartbeat"


def test_a_static_member_that_comes_back_in_time_leaves_no_gap_and_keeps_its_time() -> None:
    run = Run(
        (20.3, Crash("reader-1")), (22, Restart("reader-1")), (40, MoveConsumer("bench-1", "readers")), static=True
    )
    assert [gap.cause for gap in run.gaps(20)] == [""] * 4


ACTIONS = st.lists(
    st.tuples(
        st.floats(5, 35).map(lambda at_s: round(at_s, 3)),
        st.sampled_from(
            (
                Crash("reader-1", 4),
                Crash("reader-2", 15),
                DropHeartbeats("reader-3", 9),
                MoveConsumer("bench-1", "readers"),
            )
        ),
    ),
    max_size=4,
    unique_by=lambda action: action[1],
).map(lambda actions: sorted(actions, key=lambda action: action[0]))


@pytest.mark.parametrize("assignor", ["range", "cooperative-sticky"])
@settings(deadline=None, max_examples=10)
@given(actions=ACTIONS)
def test_while_a_gap_lasts_nobody_is_given_anything_of_its_partition(
    assignor: str, actions: list[tuple[float, UserAction]]
) -> None:
    run = Run(*actions, assignor=assignor)
    gaps = run.gaps()
    for gap in gaps:
        assert gap.lost_ns <= gap.revoked_ns and gap.start_ns <= (gap.assigned_ns or gap.start_ns)
        if gap.end_ns is None and not gap.cause:
            continue  # its owner may not have been told yet
        end_ns = 10**18 if gap.end_ns is None else gap.end_ns
        inside = [
            event
            for event in run.events
            if event.kind is EventKind.DELIVERED
            and (event.group, event.topic, event.partition) == gap.place
            and gap.start_ns < event.time_ns < end_ns
        ]
        assert inside == []
    for place in {gap.place for gap in gaps}:
        mine = sorted((gap for gap in gaps if gap.place == place), key=lambda gap: gap.revoked_ns)
        assert all((one.end_ns or 10**18) <= other.start_ns for one, other in pairwise(mine))
