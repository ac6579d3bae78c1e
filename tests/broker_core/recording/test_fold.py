"""A keyframe folded through its events gives the next keyframe, in every scenario that comes with the program."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

import resources
from broker_core import snapshots
from broker_core.access import Acl, ClientQuota, Mechanism
from broker_core.clock import NS_PER_S
from broker_core.events import Event, EventKind
from broker_core.operations.access import SetUser
from broker_core.recording.fold import Fold
from broker_core.recording.publish_times import PublishTimes
from broker_core.simulation import Simulation, load_scenario
from broker_core.simulation.actions import UserAction
from broker_core.simulation.actions.access import CreateAcls, DeleteAcls, DeleteUser, RemoveQuota, SetQuota
from broker_core.simulation.actions.clients import RemoveClient
from broker_core.simulation.actions.dead_letters import (
    EditDeadLetter,
    PurgeDeadLetters,
    Redrive,
    RevertDeadLetter,
    UndoPurgeDeadLetters,
    UndoRedrive,
)
from broker_core.simulation.actions.faults import Crash
from broker_core.simulation.actions.groups import (
    CreateGroup,
    DeleteGroup,
    MoveConsumer,
    ResetOffsets,
    SetAssignor,
    SubscribeGroup,
    UnsubscribeGroup,
)
from broker_core.simulation.actions.queues import (
    AckLease,
    ExtendLease,
    NackLease,
    PurgeQueue,
    ReleaseLease,
    UndoPurgeQueue,
)
from broker_core.simulation.actions.topics import AddPartitions, CreateTopic, DeleteRecords, DeleteTopic, Produce
from broker_core.snapshots import PartitionView, Snapshot, TopicView
from tests.broker_core.recording.folded import fold
from tests.long_form import some

SCENARIOS = sorted(path.stem for path in resources.path("scenarios").glob("*.yaml"))
MOST_S = 45
COMPACTED = {"profiles"}  # the topics of these scenarios that are
MANY = 1_000_000


@functools.cache
def keyframes_of(name: str, every_ns: int = NS_PER_S) -> tuple[list[Snapshot], list[Event]]:
    """A scenario with a person in it: its keyframes and all its events."""
    scenario, _ = load_scenario(resources.path("scenarios", f"{name}.yaml"))
    simulation = Simulation(scenario, find_file=lambda sample: resources.path("sample_data", sample))
    events: list[Event] = []
    simulation.events.attach(events.append)
    simulation.start()
    frames = [simulation.snapshot(max_leases=MANY, max_dead_letters=MANY)]
    for second in range(1, int(min(MOST_S, scenario.until_s)) + 1):
        simulation.loop.run_until(second * every_ns)
        act(simulation, second)
        frames.append(simulation.snapshot(max_leases=MANY, max_dead_letters=MANY))
    return frames, events


def act(simulation: Simulation, second: int) -> None:
    """Now and then: a consumer is moved, another crashes, what is dead is redriven."""
    consumers = [actor for actor in simulation.snapshot().actors if actor.role == "consumer"]
    if second == 8 and consumers:
        simulation.perform(MoveConsumer(consumers[0].name, "" if consumers[0].target else "another"))
    if second == 20 and consumers and consumers[-1].state not in {"idle", "crashed"}:
        simulation.perform(Crash(consumers[-1].name, 5))
    if second % 15 == 0:
        for queue in simulation.snapshot().queues:
            if queue.dead_letters:
                simulation.perform(
                    Redrive(queue=queue.name, offsets=[letter.offset for letter in queue.dead_letters[:3]])
                )


def told(snapshot: Snapshot) -> dict[str, Any]:
    """A snapshot without what events do not tell, and without orders that mean nothing."""
    plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(snapshot))
    for topic in plain["topics"]:
        for part in topic["partitions"]:
            del part["size_bytes"]
        _gate(topic["gate"])
    for group in plain["groups"]:
        for member in group["members"]:
            del member["last_heartbeat_ns"]
            member["partitions"] = sorted(member["partitions"])
        group["members"].sort(key=lambda member: member["member_id"])
        for offset in group["offsets"]:
            del offset["position"]
            if offset["topic"] in COMPACTED:
                del offset["lag_ns"]
    plain["groups"].sort(key=lambda group: group["name"])
    for queue in plain["queues"]:
        del queue["waiting_takers"]
        _gate(queue["gate"])
        for lease in queue["leases"]:
            del lease["key"]
        for letter in queue["dead_letters"]:
            for name in ("value", "headers", "attempts", "redrives"):
                del letter[name]
    for rebalance in plain["rebalances"]:
        if rebalance["ended_ns"] is None:
            del rebalance["cause"]
    counted = ("name", "role", "target", "processed", "failed", "rejected", "dropped", "outcome")
    plain["actors"] = [tuple(actor[name] for name in counted) for actor in plain["actors"]]
    return plain


def times_of(events: list[Event]) -> Callable[[tuple[str, int], int, int], int | None]:
    """When messages were published, of all events."""
    times = PublishTimes()
    for event in events:
        if event.kind is EventKind.PUBLISHED:
            times.published(event)
    return lambda place, offset, _time_ns: times.of(place, offset)


def differences(folded: Any, real: Any, where: str = "") -> list[str]:
    """Where two plain values differ, and how."""
    if isinstance(folded, dict) and isinstance(real, dict) and folded.keys() == real.keys():
        return [line for key in folded for line in differences(folded[key], real[key], f"{where}.{key}")]
    if isinstance(folded, list) and isinstance(real, list) and len(folded) == len(real):
        return [
            line
            for place, pair in enumerate(zip(folded, real, strict=True))
            for line in differences(*pair, f"{where}[{place}]")
        ]
    return [] if folded == real else [f"{where}: folded {folded!r}, really {real!r}"]


def _gate(gate: dict[str, Any] | None) -> None:
    if gate is not None:
        del gate["tokens"], gate["depth_bytes"]


@pytest.mark.parametrize("name", some(SCENARIOS))
def test_a_keyframe_folded_through_its_events_is_the_next_keyframe(name: str) -> None:
    frames, events = keyframes_of(name)
    times = times_of(events)
    for before, after in pairwise(frames):
        since = events[before.events : after.events]
        folded = fold(before, since, time_ns=after.time_ns, published_before=times)
        assert differences(told(folded), told(after)) == [], f"{name} at {after.time_ns / NS_PER_S:g} s"


@pytest.mark.parametrize("name", some(SCENARIOS))
def test_ten_seconds_in_one_fold_are_the_same_though_snapshots_were_taken_on_the_way(name: str) -> None:
    frames, events = keyframes_of(name)
    times = times_of(events)
    for before, after in zip(frames[::10], frames[10::10], strict=False):
        walking = Fold(before, published_before=times)
        for event in events[before.events : after.events]:
            walking.add(event)
            if not event.seq % 53:
                walking.snapshot()
        folded = walking.snapshot(after.time_ns)
        assert differences(told(folded), told(after)) == [], f"{name} at {after.time_ns / NS_PER_S:g} s"


def acted() -> list[tuple[str, Callable[[Simulation], UserAction]]]:
    """What a person can do, in an order in which all of it can be done; each a second after the one before."""

    def lease(simulation: Simulation) -> dict[str, Any]:
        held = simulation.snapshot().queues[0].leases[0]
        return {name: getattr(held, name) for name in ("queue", "partition", "offset", "holder", "attempt")}

    plain: list[UserAction] = [
        Produce("commits", "x", count=5),
        Produce("builds", "x", count=9),
        CreateTopic(name="extra", partitions=3),
        AddPartitions(topic="extra", total=5),
        Produce("extra", "y", count=4),
        CreateGroup("fresh", ("extra",)),
        MoveConsumer("indexer-4", "fresh"),
        SetAssignor("indexers", "sticky"),
        SubscribeGroup("indexers", "mails"),
        AddPartitions(topic="extra", total=6),
        AddPartitions(topic="extra", total=7),
        UnsubscribeGroup("indexers", "mails"),
        DeleteRecords(topic="commits", before={"0": 10, "1": 2}),
        PurgeDeadLetters(queue="builds"),
        UndoPurgeDeadLetters(queue="builds"),
        Redrive(queue="builds", offsets=[0, 1]),
        UndoRedrive(queue="builds"),
        EditDeadLetter("builds", 2, "edited"),
        RevertDeadLetter("builds", 2),
        Produce("builds", "x", count=9),
        PurgeQueue(queue="builds"),
        UndoPurgeQueue(queue="builds"),
        RemoveClient("builder-2"),
        ResetOffsets(group="auditors", form="earliest", restart_members=True),
        MoveConsumer("indexer-4", ""),
        DeleteGroup(group="fresh"),
        DeleteTopic(topic="extra"),
        CreateAcls(acls=(Acl("ann", "read", "topic", "builds"), Acl("*", "all", "group", "in", True, True))),
        DeleteAcls(acls=(Acl("ann", "read", "topic", "builds"),)),
        SetQuota(quota=ClientQuota("producer_byte_rate", 1_000.0, "ann")),
        SetQuota(quota=ClientQuota("consumer_byte_rate", 5.0, None, "*")),
        SetQuota(quota=ClientQuota("producer_byte_rate", 2_000.0, "ann")),
        RemoveQuota(key="consumer_byte_rate", client_id="*"),
        DeleteUser(user="ann", mechanism="SCRAM-SHA-256"),
    ]
    return [
        ("AckLease", lambda simulation: AckLease(**lease(simulation))),
        ("NackLease", lambda simulation: NackLease(**lease(simulation))),
        ("ExtendLease", lambda simulation: ExtendLease(**lease(simulation))),
        ("ReleaseLease", lambda simulation: ReleaseLease(**lease(simulation))),
        ("NackLease for good", lambda simulation: NackLease(**lease(simulation), requeue=False)),
        *((type(action).__name__, lambda _simulation, action=action: action) for action in plain),
    ]


def test_what_a_person_does_is_folded_too() -> None:
    scenario, _ = load_scenario(resources.path("scenarios", "first-session.yaml"))
    simulation = Simulation(scenario, find_file=lambda sample: resources.path("sample_data", sample))
    events: list[Event] = []
    simulation.events.attach(events.append)
    simulation.start()
    for mechanism in get_args(Mechanism):
        simulation.broker.handle(0, SetUser(user="ann", mechanism=mechanism, password="secret").salted(b"salt"))
    for second, (name, action) in enumerate(acted(), start=12):
        simulation.loop.run_until(second * NS_PER_S)
        while name.startswith(("Ack", "Nack", "Extend", "Release")) and not simulation.snapshot().queues[0].leases:
            simulation.loop.run_next(10**18)
        before = simulation.snapshot(max_leases=MANY, max_dead_letters=MANY)
        letters = {(letter.queue, letter.offset): letter for letter in before.queues[0].dead_letters}
        simulation.perform(action(simulation))
        simulation.loop.run_until(max(simulation.loop.now_ns, second * NS_PER_S + NS_PER_S // 2))
        after = simulation.snapshot(max_leases=MANY, max_dead_letters=MANY)
        letters |= {(letter.queue, letter.offset): letter for letter in after.queues[0].dead_letters}
        folded = fold(
            before,
            events[before.events : after.events],
            time_ns=after.time_ns,
            find_letter=lambda queue, offset, known=letters: known.get((queue, offset)),  # type: ignore[misc]
            published_before=times_of(events),
        )
        expected, found = told(after), told(folded)
        for plain in (expected, found):
            plain["actors"] = []  # a new one's target is not told
        assert differences(found, expected) == [], f"{name} at {second} s"


def test_the_connection_of_a_producer_that_ends_makes_no_group() -> None:
    fold = Fold(Snapshot(0, 0))
    fold.add(Event(0, 1, EventKind.CONNECTION_ENDED, client="shop"))
    assert fold.snapshot(2).groups == ()


def test_a_session_without_keyframes_is_folded_from_nothing() -> None:
    """What events tell comes out the same; settings, and gates with them, are not known."""
    frames, events = keyframes_of("first-session")
    folded, real = told(fold(Snapshot(0, 0), events, time_ns=frames[-1].time_ns)), told(frames[-1])
    for plain in (folded, real):
        for topic in plain["topics"]:
            del topic["gate"]
        for queue in plain["queues"]:
            queue["waiting"] = queue.pop("ready") + queue.pop("delayed")
            for name in ("lease_ms", "max_attempts", "gate", "dead_letter_topic", "retry", "waits"):
                del queue[name]
            for lease in queue["leases"]:
                del lease["deadline_ns"], lease["max_attempts"]
        plain["actors"] = [actor[:2] for actor in plain["actors"]]
    assert differences(folded, real) == []


def test_a_fold_gives_a_snapshot_at_any_event_and_goes_on() -> None:
    frames, events = keyframes_of("first-session")
    walking = Fold(frames[5])
    for event in events[frames[5].events : frames[7].events]:
        walking.add(event)
        if event.seq % 97 == 0:
            assert walking.snapshot().events == event.seq + 1 == walking.events
    at_once = fold(frames[5], events[frames[5].events : frames[7].events])
    assert walking.snapshot() == at_once


def test_what_is_damaged_stays_so_between_two_keyframes() -> None:
    part = PartitionView(0, 0, 9, 900, lost=((2, 4),))
    fold = Fold(Snapshot(0, 0, topics=(TopicView("orders", (part,), 9, 900, None),)))
    fold.add(Event(0, 1, EventKind.PUBLISHED, "orders", 0, 9, 1))
    (now,) = fold.snapshot().topics[0].partitions
    assert (now.lost, now.end_offset) == (((2, 4),), 10)


def test_what_is_not_told_is_a_field_of_a_snapshot() -> None:
    views = {
        view.__name__: view
        for view in vars(snapshots).values()
        if isinstance(view, type) and issubclass(view, msgspec.Struct)
    }
    told = (
        Path(snapshots.__file__)
        .with_name("recording")
        .joinpath("FORMAT.md")
        .read_text("utf-8")
        .partition("### Between two keyframes")[2]
    )
    names = re.findall(r"^\| (\w+View\.?\w*) \|", told.partition("\n## ")[0], re.MULTILINE)
    assert len(names) > 15
    for name in names:
        view, _, field = name.partition(".")
        assert not field or field in views[view].__struct_fields__, name
