"""What is told of nodes, leaders and replicas, and that folding it gives what was seen."""

from __future__ import annotations

import contextlib
import threading
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.broker.occurrences import FIELDS, Occurrence, SnapshotState
from broker_core.broker.occurrences import tester as judge
from broker_core.clock import NS_PER_S
from broker_core.errors import BrokerError
from broker_core.events import Event, EventKind
from broker_core.filters import parse
from broker_core.groups.states import GroupState
from broker_core.observation.cluster_tally import ClusterTally
from broker_core.observation.kafka.arrivals import Arrivals
from broker_core.observation.kafka.cluster import BrokerLine, Cluster, Task
from broker_core.observation.kafka.cluster_diff import ClusterDiff
from broker_core.observation.kafka.config import connection_config
from broker_core.observation.kafka.seen import GroupSeen, MemberSeen, NodeSeen, PlaceSeen, TopicSeen
from broker_core.observation.kafka.sweep import Sweep, SweepReader
from broker_core.recording.fold import Fold
from broker_core.snapshots import (
    AT_MIN,
    BELOW_MIN,
    LEADERLESS,
    SEEN_LATE,
    SHARE,
    UNDER_REPLICATED,
    PartitionView,
    Snapshot,
    replication,
)
from broker_core.testing import EmbeddedBroker
from tests.long_form import examples

REFUSED = "nothing listens at 127.0.0.1:9003"
_ALL = (1, 2, 3)


def swept(
    places: dict[int, PlaceSeen], nodes: tuple[int, ...] = _ALL, refused: dict[int, str] | None = None, **more: Any
) -> Sweep:
    """A look at a topic "orders"."""
    return Sweep(
        topics={"orders": TopicSeen(len(places), None)},
        ends={("orders", number): more.pop("end", 0) for number in places},
        nodes={node: NodeSeen(f"127.0.0.1:900{node}", "") for node in nodes},
        places={("orders", number): seen for number, seen in places.items()},
        refused=refused or {},
        heard={*nodes} - (refused or {}).keys(),
        **{"controller": 1, "min_in_sync": {"orders": 2}, **more},
    )


class Seen:
    """Looks in turn, a second apart, with all that is made of them."""

    def __init__(self, first: Sweep) -> None:
        self._diff = ClusterDiff(Arrivals())
        self.shown = self._diff.first(first, 0)
        self.tally = ClusterTally(self.shown)
        self.now_ns = 0
        self.stories: list[str] = []

    def look(self, sweep: Sweep) -> list[Event]:
        self.now_ns += NS_PER_S
        events = self._diff.events(sweep, self.now_ns)
        fold = Fold(self.shown)
        for event in events:
            fold.add(event)
            self.tally(event)
        self.shown = fold.snapshot(self.now_ns)
        self.stories += [event.cause for event in self.tally.looked(self.now_ns)]
        return events


def told(events: list[Event]) -> list[tuple[str, str]]:
    return [(event.kind.value, event.cause) for event in events if event.kind is not EventKind.PUBLISHED]


def full(leader: int, epoch: int = 0) -> PlaceSeen:
    return PlaceSeen(leader, epoch, _ALL, _ALL)


def test_a_node_that_is_killed_and_comes_back():
    seen = Seen(swept({0: full(3), 1: full(1)}))
    assert not told(seen.look(swept({0: full(3), 1: full(1)}, end=5)))
    gone = seen.look(swept({0: full(3), 1: full(1)}, end=5, refused={3: REFUSED}))
    assert told(gone) == [("node_gone", REFUSED)], "the cluster does not know yet"
    assert seen.shown.nodes_gone == {3}
    assert [replication(part, 2, seen.shown.nodes_gone) for part in seen.shown.topics[0].partitions] == [LEADERLESS, ""]
    for _ in range(3):
        assert not told(seen.look(swept({0: full(3), 1: full(1)}, end=5, refused={3: REFUSED})))
    less = {0: PlaceSeen(1, 1, _ALL, (1, 2)), 1: PlaceSeen(1, 1, _ALL, (1, 2))}
    moved = seen.look(swept(less, nodes=(1, 2), end=9))
    assert told(moved) == [("leaders_moved", "node 3 is gone"), ("in_sync_shrunk", "node 3 is gone")]
    assert [event.count for event in moved if event.kind is not EventKind.PUBLISHED] == [1, 2]
    assert [replication(part, 2, seen.shown.nodes_gone) for part in seen.shown.topics[0].partitions] == [AT_MIN] * 2
    assert told(seen.look(swept(less, end=10))) == [("node_seen", "back")]
    back = {number: PlaceSeen(1, 1, _ALL, _ALL) for number in (0, 1)}
    assert told(seen.look(swept(back, end=11))) == [("in_sync_grown", "node 3 caught up")]
    assert seen.stories == [
        "node 3 not seen from 2.0 to 7.0; 1 leader moved; 1 partition without a leader for 4.0 s; nothing arrived on "
        "it for 5.0 s; 2 partitions under-replicated for 2.0 s"
    ]
    summary = seen.tally.summary()
    assert summary["nodes"]["3"]["gone"] == [[2.0, 7.0]]
    assert (summary["leader_changes"], summary["leaderless_s"], summary["under_replicated_s"]) == (1, 4.0, 2.0)
    assert [sum(to_s - from_s for from_s, to_s, _ in summary[what]) for what in ("leaderless", "under_replicated")] == [
        4.0,
        2.0,
    ]
    assert summary["incidents"] == seen.stories


def test_a_group_is_not_gone_while_its_broker_takes_looks_long_for_its_offsets(
    broker: EmbeddedBroker, monkeypatch: pytest.MonkeyPatch
):
    broker.create_topic("orders")
    with contextlib.closing(Consumer({"bootstrap.servers": broker.bootstrap_servers, "group.id": "billing"})) as reader:
        reader.commit(offsets=[TopicPartition("orders", 0, 0)], asynchronous=False)
    cluster = Cluster(connection_config(broker.bootstrap_servers), lambda _s: False)
    reader = SweepReader(cluster, patience_s=60.0)
    go_on = threading.Event()
    with contextlib.closing(cluster):
        changes = ClusterDiff(Arrivals())
        changes.first(reader.sweep(), 0)
        told = reader._told_of_offsets
        monkeypatch.setattr(reader, "_told_of_offsets", lambda *asked: go_on.wait(60) and told(*asked))
        metadata = cluster.metadata
        monkeypatch.setattr(cluster, "metadata", lambda **_patience: metadata(patience_s=60.0))
        reader._patience_s = 0.01
        events = [event for at_ns in range(1, 8) for event in changes.events(reader.sweep(), at_ns)]
        assert "billing" in changes.groups
        assert not [event.cause for event in events if event.group]
        go_on.set()


def test_a_broker_that_has_just_come_back_is_asked_for_the_cluster_after_all_others(monkeypatch: pytest.MonkeyPatch):
    """It knows for a moment what was so when it went: seen on three nodes of Kafka."""
    asked: list[int] = []
    host = "127.0.0.1"

    def begin(line: BrokerLine, job: Any) -> Task:
        asked.append(line.place[1])
        told = [SimpleNamespace(node_id=each, host=host, port=each) for each in _ALL]
        return Task(job, is_done=True, result=SimpleNamespace(brokers=told, cluster_id=""))

    monkeypatch.setattr(BrokerLine, "begin", begin)
    with contextlib.closing(Cluster(connection_config(f"{host}:1"), lambda _s: False)) as cluster:
        cluster.metadata()
        for port in (1, 2):  # where nothing listens
            with pytest.raises(BrokerError):
                cluster.line((host, port)).ask("Metadata", {"topics": None})
        cluster._source = None
        cluster.metadata()
    assert asked == [1, 3]


@pytest.mark.parametrize(("groups", "rest"), [(2, ""), (4, "; nor did 1 more group"), (5, "; nor did 2 more groups")])
def test_the_groups_that_stood_still_meanwhile(groups: int, rest: str):
    names = [f"group-{number}" for number in range(groups)]

    def at(offset: int, **more: Any) -> Sweep:
        committed = {name: {("orders", 0): offset} for name in names}
        return swept({0: full(3)}, end=100, committed=committed, listed=dict.fromkeys(names, "classic"), **more)

    seen = Seen(at(0))
    for offset in range(1, 4):
        seen.look(at(offset))
    for _ in range(5):
        seen.look(at(3, refused={3: REFUSED}))
    seen.look(at(4))
    (story,) = seen.stories
    last = sorted(names)[-3:][::-1]
    assert story.endswith("; ".join(f"group {name} did not commit for 6.0 s" for name in last) + rest)


def test_a_condition_asks_what_a_cluster_lacks():
    seen = Seen(swept({0: full(3), 1: full(1)}))

    def answers() -> dict[str, int]:
        at = Occurrence(None, "", SnapshotState(seen.shown))
        asked = ("nodes_gone", "leaderless", "under_replicated", "below_min_insync")
        return {
            field: next(count for count in range(9) if judge(parse(f"{field} = {count}", FIELDS))(at))
            for field in asked
        }

    assert set(answers().values()) == {0}
    seen.look(swept({0: full(3), 1: full(1)}, refused={3: REFUSED}))
    assert answers() == {"nodes_gone": 1, "leaderless": 1, "under_replicated": 0, "below_min_insync": 0}
    seen.look(swept({0: PlaceSeen(1, 1, _ALL, (1,)), 1: PlaceSeen(1, 1, _ALL, (1, 2))}, nodes=(1, 2)))
    found = answers()
    assert found == {"nodes_gone": 1, "leaderless": 0, "under_replicated": 2, "below_min_insync": 1}


def test_a_node_that_leaves_and_one_that_only_does_not_answer():
    seen = Seen(swept({0: full(1)}))
    assert told(seen.look(swept({0: full(1)}, nodes=(1, 2)))) == [("node_gone", "it has left the cluster")]
    seen.look(swept({0: full(1)}))
    silent = swept({0: full(1)}, nodes=(1, 2), silent={3})
    assert told(seen.look(silent))[0][1].startswith("it does not answer")


def test_a_group_that_nobody_lists_while_its_coordinator_moves_is_not_gone():
    billing = GroupSeen(GroupState.EMPTY, 1, "", ())
    there: dict[str, Any] = {
        "listed": {"billing": "classic"},
        "groups": {"billing": billing},
        "committed": {"billing": {("orders", 0): 0}},
    }
    seen = Seen(swept({0: full(1)}, **there))
    for more in ({}, there, {}, {"all_groups": False}, there):
        assert not seen.look(swept({0: full(1)}, **more))
        assert [group.name for group in seen.shown.groups] == ["billing"]
    assert not seen.look(swept({0: full(1)}))
    assert told(seen.look(swept({0: full(1)}))) == [("group_state", "Dead")]
    assert not seen.shown.groups


def test_the_first_generation_that_is_told_is_not_so_many_generations_at_once():
    """A group whose generation no API has told has moved to the consumer protocol."""
    pod = MemberSeen("m-1", "pod-1", "", ("orders",), (("orders", 0),))
    groups = [GroupSeen(GroupState.STABLE, *more) for more in ((None, "range", ()), (12, "range", (pod,)))]
    seen = Seen(swept({0: full(1)}, groups={"jobs": groups[0]}))
    started = seen.look(swept({0: full(1)}, groups={"jobs": groups[1]}))[0]
    assert started.kind is EventKind.REBALANCE_STARTED
    assert started.cause == f"{SEEN_LATE}, at least one: pod-1 joined"


def test_a_node_that_cannot_be_reached_from_here_is_not_gone():
    """Its address may be one that only others can reach: that is no incident of the cluster."""
    seen = Seen(swept({0: full(3)}, refused={3: REFUSED}))
    assert not told(seen.look(swept({0: full(3)}, refused={3: REFUSED})))
    assert not seen.shown.nodes_gone


def test_why_leaders_move():
    seen = Seen(swept({0: full(1)}))
    steps = {
        "back to the preferred leader": [full(2, 1), full(1, 2)],
        "no replica that is in sync is left": [PlaceSeen(-1, 3, _ALL, (1,))],
        "node 2 is in sync, and leads again": [PlaceSeen(2, 4, _ALL, (2,))],
        "its replicas were reassigned": [PlaceSeen(1, 5, (1, 3), (1, 3))],
    }
    for why, places in steps.items():
        for place in places:
            events = seen.look(swept({0: place}))
        assert why in [event.cause for event in events if event.kind is EventKind.LEADERS_MOVED]
    assert seen.shown.topics[0].partitions[0].replicas == (1, 3)


def test_the_controller_moves_and_a_topic_is_made_anew():
    seen = Seen(swept({0: full(1)}, controller=1))
    assert told(seen.look(swept({0: full(1)}, controller=2))) == [("controller_moved", "")]
    assert [each.node for each in seen.shown.nodes if each.is_controller] == [2]
    assert not told(seen.look(swept({0: full(1)}, controller=None))), "not told is not moved"
    fewer = Sweep(nodes={node: NodeSeen(f"127.0.0.1:900{node}", "") for node in _ALL})
    seen.look(fewer)
    seen.look(swept({0: PlaceSeen(3, 0, (3,), (3,))}))
    (part,) = seen.shown.topics[0].partitions
    assert (part.leader, part.replicas) == (3, (3,))


@pytest.mark.parametrize(
    ("leader", "in_sync", "word"),
    [(1, 3, ""), (1, 2, AT_MIN), (1, 1, BELOW_MIN), (-1, 1, LEADERLESS), (3, 3, LEADERLESS), (None, 0, "")],
)
def test_how_a_partition_is_replicated(leader: int | None, in_sync: int, word: str):
    part = PartitionView(0, 0, 0, 0, leader=leader, replicas=_ALL, in_sync=_ALL[:in_sync])
    assert replication(part, 2, frozenset({3})) == word
    if word == AT_MIN:
        assert replication(part, 1, frozenset()) == UNDER_REPLICATED


_PLACES = st.fixed_dictionaries(
    {
        number: st.builds(
            PlaceSeen,
            st.sampled_from([-1, 1, 2, 3]),
            st.just(0),
            st.sampled_from([(1, 2), (1, 2, 3)]),
            st.sampled_from([(1,), (1, 2), (1, 2, 3)]),
        )
        for number in (0, 1)
    }
)
_SWEEPS = st.builds(
    swept,
    _PLACES,
    nodes=st.sampled_from([(1, 2), (1, 2, 3)]),
    refused=st.sampled_from([{}, {2: REFUSED}]),
    controller=st.sampled_from([None, 1, 2, 9]),
)


@given(sweeps=st.lists(_SWEEPS, min_size=1, max_size=12))
@settings(max_examples=examples(60), deadline=None)
def test_folding_what_is_told_gives_what_was_seen(sweeps: list[Sweep]):
    seen = Seen(sweeps[0])
    for sweep in sweeps[1:]:
        seen.look(sweep)
        parts = {("orders", part.partition): part for part in seen.shown.topics[0].partitions}
        for place, at in sweep.places.items():
            assert (parts[place].leader, parts[place].replicas, parts[place].in_sync) == (at.leader, *at[2:])
        named = {each.node for each in seen.shown.nodes if each.address and each.gone_ns is None}
        assert sweep.nodes.keys() - sweep.refused.keys() <= named <= sweep.nodes.keys()
        if sweep.controller is not None:
            assert [each.node for each in seen.shown.nodes if each.is_controller] == [sweep.controller]
    assert isinstance(seen.shown, Snapshot)


def test_a_topic_whose_end_went_back_keeps_its_places_though_the_cluster_tells_the_same():
    first = swept({0: PlaceSeen(2, 5, _ALL, _ALL)}, end=9)
    seen = Seen(first)
    again = swept({0: PlaceSeen(2, 5, _ALL, _ALL)}, end=4)
    again.places = first.places
    seen.look(again)
    (topic,) = seen.shown.topics
    assert [(part.leader, part.replicas, part.end_offset) for part in topic.partitions] == [(2, _ALL, 4)]


@pytest.mark.parametrize(("members", "client"), [(1, "pod-1"), (2, "")])
def test_what_a_share_group_with_one_member_has_done_that_member_has_done(members: int, client: str):
    pods = tuple(MemberSeen(f"id-{each}", f"pod-{each}", "", ("orders",), ()) for each in range(1, members + 1))
    more: dict[str, Any] = {"groups": {"jobs": GroupSeen(GroupState.STABLE, 1, "", pods, SHARE)}, "end": 9}
    seen = Seen(swept({0: full(1)}, committed={"jobs": {("orders", 0): 2}}, **more))
    events = seen.look(swept({0: full(1)}, committed={"jobs": {("orders", 0): 7}}, **more))
    done = [event for event in events if event.kind is EventKind.ACKNOWLEDGED]
    assert [(event.client, event.offset, event.count) for event in done] == [(client, 2, 5)]
