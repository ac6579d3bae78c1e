"""What members ask, in orders that clients seldom bring about."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID

import pytest

from broker_core.events import Event, EventStream
from broker_core.groups.protocol import encode_assignment
from broker_core.listeners.between.asked_requests import TopicNames
from broker_core.listeners.between.seen import Seen
from broker_core.listeners.between.seen_groups import SeenGroups
from broker_core.listeners.between.seen_logs import Batch
from broker_core.listeners.between.traffic_reader import TrafficReader
from broker_core.listeners.connections import Connection
from broker_core.messages import TopicPartition
from broker_core.observation.kafka.arrivals import Arrivals
from broker_core.observation.kafka.cluster_diff import ClusterDiff
from broker_core.observation.kafka.sweep import Sweep
from tests.broker_core.listeners.between.conftest import PATIENCE_S, Watched


def seen(client: str, *, connection: int = 1, time_ns: int = 0) -> Seen:
    return Seen(cast(Connection, SimpleNamespace(id=connection)), client, 11, 9, 1, time_ns, b"", is_answer=False)


def asked(member_id: str, **more: Any) -> Any:
    plain = {
        "group_id": "billing",
        "protocol_type": "consumer",
        "group_instance_id": None,
        "reason": "",
        "protocols": (),
        "assignments": (),
    }
    return SimpleNamespace(**{**plain, **more}, member_id=member_id, session_timeout=10_000)


def test_who_joins_while_a_rebalance_is_completed_is_the_cause_of_the_next():
    events: list[Event] = []
    stream = EventStream()
    stream.attach(events.append)
    groups = SeenGroups(ClusterDiff(Arrivals()), stream, lambda _row: None)
    groups.join_group_asked(seen("one"), asked("one-1"))
    joined = {"generation_id": 1, "protocol_name": "range", "members": (), "error_code": 0}
    groups.join_group_answered(seen("one"), asked("one-1"), SimpleNamespace(member_id="one-1", **joined))
    groups.join_group_asked(seen("two"), asked("two-1"))
    synced = SimpleNamespace(error_code=0, assignment=b"")
    groups.sync_group_answered(seen("one"), asked("one-1", generation_id=1), synced)
    groups.heartbeat_answered(seen("one"), asked("one-1"), SimpleNamespace(error_code=27))
    assert [each.cause for each in events if each.kind == "rebalance_started"] == ["one joins", "two joins"]


def test_a_group_is_known_as_it_was_told_even_if_an_event_cannot_be_passed_on():
    stream, diff = EventStream(), ClusterDiff(Arrivals())
    groups = SeenGroups(diff, stream, lambda _row: None)
    stream.attach(lambda _event: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        groups.join_group_asked(seen("one"), asked("one-1"))
    assert "billing" in diff.groups


def test_a_group_that_begins_during_a_look_is_there_and_one_that_is_gone_rebalances_no_more():
    changes = ClusterDiff(arrivals := Arrivals())
    traffic = TrafficReader(changes, arrivals, TopicNames())
    traffic.groups.now_ns = 5
    traffic.groups.join_group_asked(seen("one"), asked("one-1"))
    traffic.take_sweep(Sweep(), since_ns=4, now_ns=6, ends_then={})
    # At the look that it began during nobody missed it: it is gone at the second one after that.
    for now_ns, is_there in ((8, True), (10, False)):
        traffic.take_sweep(Sweep(), since_ns=now_ns - 1, now_ns=now_ns, ends_then={})
        assert ("billing" in changes.groups) is is_there
    kinds = [each.kind for each in traffic.look(11)[0]]
    assert kinds == ["rebalance_started", "group_state", "rebalance_completed", "group_state"]
    traffic.groups.now_ns = 12
    traffic.groups.join_group_asked(seen("two"), asked("two-1"))
    traffic.take_sweep(Sweep(), since_ns=13, now_ns=14, ends_then={})
    assert "billing" in changes.groups, "it has begun anew since it was gone"


def test_a_classic_member_that_was_killed_leaves_with_its_last_sign_of_life_and_gives_up_its_partitions():
    events: list[Event] = []
    stream = EventStream()
    stream.attach(events.append)
    groups = SeenGroups(ClusterDiff(Arrivals()), stream, lambda _row: None)

    def rebalance(now_ns: int, generation: int, assigned: dict[str, TopicPartition]) -> None:
        """All of them by a connection of their own, which has the last letter of their name as its number."""
        groups.now_ns = now_ns
        for number, member_id in enumerate(assigned):
            joined = {"generation_id": generation, "protocol_name": "range", "members": (), "error_code": 0}
            who = seen(member_id, connection=int(member_id[-1]), time_ns=now_ns)
            groups.join_group_asked(who, asked(member_id))
            groups.join_group_answered(who, asked(member_id), SimpleNamespace(member_id=member_id, **joined))
            rows = [
                SimpleNamespace(member_id=each, assignment=encode_assignment([at])) for each, at in assigned.items()
            ]
            more = {"generation_id": generation, "assignments": rows if number == 0 else ()}
            groups.sync_group_asked(who, asked(member_id, **more))
        for member_id in assigned:
            groups.sync_group_answered(
                seen(member_id), asked(member_id, **more), SimpleNamespace(error_code=0, assignment=b"")
            )

    rebalance(1, 1, {"m-1": ("orders", 0), "m-2": ("orders", 1)})
    groups.now_ns = 5
    groups.lost(2)
    rebalance(9, 2, {"m-1": ("orders", 0), "m-3": ("orders", 1)})
    last = [(e.kind, e.member_id, e.told.get("heard_ns")) for e in events if e.time_ns == 9 and e.client]
    assert last == [
        ("member_left", "m-2", 5),
        ("partitions_revoked", "m-2", None),
        ("member_joined", "m-3", None),
        ("partitions_assigned", "m-3", None),
    ]


def test_what_a_member_is_assigned_by_an_id_is_its_own_as_soon_as_the_id_has_a_name():
    """It asks for the name then, and reads."""
    changes, names = ClusterDiff(arrivals := Arrivals()), TopicNames()
    traffic = TrafficReader(changes, arrivals, names)
    topic_id = UUID(int=7)
    heartbeat = {"instance_id": None, "subscribed_topic_names": ["orders"], "server_assignor": None}
    rows = [SimpleNamespace(topic_id=topic_id, partitions=[0, 1])]
    answer = {"error_code": 0, "member_epoch": 1, "assignment": SimpleNamespace(topic_partitions=rows)}
    joins = asked("one-1", member_epoch=0, topic_partitions=None, **heartbeat)
    traffic.groups.consumer_group_heartbeat_answered(seen("one"), joins, SimpleNamespace(member_id="one-1", **answer))
    assert not [*traffic.groups.reading("orders", 0)]
    told = SimpleNamespace(error_code=0, name="orders", topic_id=topic_id, partitions=[1, 2])
    traffic.metadata_answered(seen("one"), None, SimpleNamespace(topics=[told]))
    assert [member.member_id for _group, member in traffic.groups.reading("orders", 0)] == ["one-1"]
    kinds = [str(each.kind) for each in traffic.look(1)[0]]
    assert kinds.count("partitions_assigned") == 1 and "topic_created" in kinds[: kinds.index("partitions_assigned")]
    traffic.metadata_answered(seen("one"), None, SimpleNamespace(topics=[told]))
    assert not traffic.look(2)[0]


def test_what_was_sent_without_an_answer_is_seen_where_its_place_was_told_already():
    """Others had told of the end; a reader is given it now."""
    traffic = TrafficReader(ClusterDiff(arrivals := Arrivals()), arrivals, TopicNames())
    place = ("orders", 0)
    traffic._produced[place, 7] = ("shop", 1)
    traffic._log(place, 5)
    assert traffic.not_published == {place: 1}
    traffic._given(place, [Batch(0, 1, 70, 7, -1, False, False, False)])
    assert not traffic.not_published


def test_a_look_begins_at_once_where_much_waits(watched: Watched, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("broker_core.listeners.between.peer._OFTEN_S", 2 * PATIENCE_S)
    gone = seen("one")._replace(api_key=-1, frame=bytes(17 << 20))
    watched.peer._traffic.put(gone)
    looking = threading.Thread(target=watched.peer.look, daemon=True)
    looking.start()
    looking.join(PATIENCE_S)
    assert not looking.is_alive()
