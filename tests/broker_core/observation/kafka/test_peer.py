"""What an observer of a cluster tells is what happened in the broker, as far as Kafka's protocol knows it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition

from broker_core.clock import NS_PER_S
from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import EventKind
from broker_core.groups.states import GroupState
from broker_core.log.config import LogConfig
from broker_core.observation.kafka.cluster_diff import NOT_KNOWN
from broker_core.observation.kafka.config import connection_config
from broker_core.observation.kafka.connection import ALLOWED
from broker_core.observation.kafka.pace import Silence
from broker_core.observation.kafka.peer import KafkaPeer
from broker_core.observation.kafka.seen import GroupSeen, consumer
from broker_core.observation.kafka.sweep import Sweep, SweepReader
from broker_core.observation.observed_session import ObservedSession
from broker_core.operations.browse import BrowseMessages, BrowsePartition, DescribeMessage, FindOffsets, ListLogs
from broker_core.operations.groups import DescribeGroup, ListGroups, ResetShareOffsets, SubscribeShareGroup
from broker_core.operations.topics import DeleteTopic, ListTopics
from broker_core.recording.metadata import read_metadata
from broker_core.recording.reader import open_session
from broker_core.snapshots import NOT_SEEN, SEEN_LATE, GroupView, Snapshot
from broker_core.testing import EmbeddedBroker
from tests.broker_core.admin import Admin
from tests.broker_core.observation.kafka.conftest import Observer
from tests.broker_core.recording.folded import fold
from tests.broker_core.recording.test_fold import differences, times_of, told

Observe = Callable[..., Observer]
PATIENCE_S = 30.0


def published(broker: EmbeddedBroker, topic: str, count: int, partition: int = 0) -> None:
    for number in range(count):
        broker.publish(topic, {"number": number}, key=b"k", partition=partition)


def commit(broker: EmbeddedBroker, group: str, topic: str, offset: int, partition: int = 0) -> None:
    """By a reader that is in no group."""
    reader = Consumer({"bootstrap.servers": broker.bootstrap_servers, "group.id": group, "log_level": 0})
    reader.commit(offsets=[TopicPartition(topic, partition, offset)], asynchronous=False)
    reader.close()


@pytest.fixture
def member(broker: EmbeddedBroker) -> Iterator[Callable[..., Consumer]]:
    """Makes members of the group "billing" that read "orders"; each is polled until it has its partitions."""
    made: list[Consumer] = []

    def make(client: str, **more: Any) -> Consumer:
        usual = {"client.id": client, "group.id": "billing", "auto.offset.reset": "earliest", "log_level": 0}
        quick = {"session.timeout.ms": 6_000, "heartbeat.interval.ms": 200}
        classic = {} if more else quick
        joins = Consumer({"bootstrap.servers": broker.bootstrap_servers, **usual, **classic, **more})
        made.append(joins)
        joins.subscribe(["orders"])
        deadline_s = time.monotonic() + PATIENCE_S
        while not all(each.assignment() for each in made):
            for each in made:
                each.poll(0.05)
            assert time.monotonic() < deadline_s
        return joins

    yield make
    for each in made:
        each.close()


def group_of(snapshot: Snapshot, name: str = "billing") -> GroupView:
    return next(group for group in snapshot.groups if group.name == name)


def kinds(look: Any) -> list[EventKind]:
    return [event.kind for event in look.events]


def assert_true(broker: EmbeddedBroker, shown: Snapshot) -> None:
    """Ends and committed offsets are the broker's own, to the message."""
    for topic in shown.topics:
        real = broker.admin.describe_topic(topic.name)
        assert [(each.start_offset, each.end_offset) for each in topic.partitions] == [
            (each.start_offset, each.end_offset) for each in real.partitions
        ]
    assert {group.name for group in shown.groups} == set(broker.admin.groups())
    for group in shown.groups:
        found = {(at.topic, at.partition): (at.committed, at.lag) for at in group.offsets}
        assert found == {(at.topic, at.partition): (at.committed, at.lag) for at in broker.admin.lag(group.name)}


def test_offsets_are_true_to_the_message_at_each_look(broker: EmbeddedBroker, observe: Observe):
    broker.create_topic("orders", partitions=2)
    published(broker, "orders", 5)
    commit(broker, "billing", "orders", 2)
    seen = observe()
    assert_true(broker, seen.first)
    assert seen.first.totals.published == 0, "no backlog counts as published"
    for step in range(1, 6):
        published(broker, "orders", step)
        published(broker, "orders", 1, partition=1)
        commit(broker, "billing", "orders", 2 + step)
        if step == 3:
            commit(broker, "audit", "orders", 4)
        look = seen.look()
        assert_true(broker, look.snapshot)
    assert seen.looks[-1].snapshot.totals.published == 5 + sum(range(1, 6))
    assert seen.looks[-1].snapshot.totals.acknowledged == 5
    assert kinds(seen.look()) == [], "nothing has happened, and nothing is told"


def test_a_commit_that_goes_back_and_the_first_of_a_group_are_resets(broker: EmbeddedBroker, observe: Observe):
    broker.create_topic("orders")
    published(broker, "orders", 9)
    commit(broker, "billing", "orders", 6)
    seen = observe()
    commit(broker, "billing", "orders", 1)
    commit(broker, "audit", "orders", 8)
    look = seen.look()
    changes = [(event.detail or {})["changes"] for event in look.events if event.kind is EventKind.OFFSETS_RESET]
    assert sorted(changes, key=str) == [[["orders", 0, 6, 1]], [["orders", 0, None, 8]]]
    assert look.snapshot.totals.acknowledged == 0
    assert_true(broker, look.snapshot)


def test_topics_that_come_grow_go_and_are_made_anew(broker: EmbeddedBroker, observe: Observe):
    broker.create_topic("orders")
    broker.create_topic("old")
    published(broker, "orders", 5)
    commit(broker, "billing", "orders", 5)
    seen = observe()
    Admin(broker.host).delete_topic("orders")
    broker.create_topic("orders")
    published(broker, "orders", 7)
    Admin(broker.host).delete_topic("old")
    broker.admin.create_topic("squeezed", log=LogConfig(cleanup="compact"))
    look = seen.look()
    found = [(event.kind, event.topic, event.count) for event in look.events if event.topic]
    assert found == [
        (EventKind.TOPIC_DELETED, "old", 0),
        (EventKind.TOPIC_DELETED, "orders", 0),
        (EventKind.TOPIC_CREATED, "orders", 1),
        (EventKind.TOPIC_CREATED, "squeezed", 1),
        (EventKind.PUBLISHED, "orders", 7),
    ]
    assert look.snapshot.compacted == {"squeezed"}
    assert_true(broker, look.snapshot)
    Admin(broker.host).create_partitions("squeezed", 3)
    published(broker, "squeezed", 2, partition=2)
    look = seen.look()
    assert kinds(look) == [EventKind.PARTITIONS_ADDED, EventKind.PUBLISHED, EventKind.PARTITIONS_PLACED]
    assert_true(broker, look.snapshot)


def test_records_that_are_deleted(broker: EmbeddedBroker, observe: Observe, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("broker_core.observation.kafka.sweep._SELDOM_S", 0.0)
    broker.create_topic("orders")
    published(broker, "orders", 9)
    commit(broker, "billing", "orders", 1)
    seen = observe()
    Admin(broker.host).delete_records("orders", {0: 4})
    look = seen.look()
    assert [(event.kind, event.offset, event.count) for event in look.events] == [(EventKind.RECORDS_DELETED, 0, 4)]
    assert look.snapshot.groups[0].lag == 5, "what is deleted is behind nobody"
    assert_true(broker, look.snapshot)


def test_a_group_that_goes_is_dead(broker: EmbeddedBroker, observe: Observe):
    broker.create_topic("orders")
    commit(broker, "billing", "orders", 0)
    seen = observe()
    Admin(broker.host).delete_group("billing")
    assert not seen.look().events, "a coordinator may be about to have it"
    look = seen.look()
    assert [(event.kind, event.cause) for event in look.events] == [(EventKind.GROUP_STATE, "Dead")]
    assert look.snapshot.groups == ()


@pytest.mark.parametrize("protocol", [{}, {"group.protocol": "consumer"}], ids=["classic", "KIP-848"])
def test_members_their_partitions_and_a_rebalance_seen_late(
    broker: EmbeddedBroker, observe: Observe, member: Callable[..., Consumer], protocol: dict[str, str]
):
    broker.create_topic("orders", partitions=4)
    member("one", **protocol)
    seen = observe()
    before = group_of(seen.first)
    assert before.state == "Stable"
    assert [(each.client, len(each.partitions), each.topics) for each in before.members] == [("one", 4, ("orders",))]
    assert (before.generation == NOT_KNOWN) is (not protocol), "no API tells that of a classic group"
    member("two", **protocol)
    look = seen.look()
    while group_of(look.snapshot).state != "Stable" or len(group_of(look.snapshot).members) < 2:
        look = seen.look()
    real = {each.client: each.partitions for each in broker.admin.describe_group("billing").members}
    assert {each.client: each.partitions for each in group_of(look.snapshot).members} == real
    (card,) = look.snapshot.rebalances
    assert card.ended_ns is not None
    assert {client for _, _, client in card.before} == {"one"}
    assert {client for _, _, client in card.after} == {"one", "two"}
    assert "two joined" in card.cause
    assert look.snapshot.totals.rebalances == 1


def test_a_rebalance_between_two_looks_is_told_to_be_seen_late(
    broker: EmbeddedBroker, observe: Observe, member: Callable[..., Consumer]
):
    broker.create_topic("orders", partitions=2)
    member("one")
    seen = observe()
    member("two")
    look = seen.look()
    (card,) = look.snapshot.rebalances
    assert card.cause.startswith(SEEN_LATE)
    assert card.is_late
    assert seen.first.time_ns < card.started_ns < (card.ended_ns or 0)
    assert [event.time_ns for event in look.events] == sorted(event.time_ns for event in look.events)


def test_an_order_of_members_is_no_rebalance():
    """Brokers list members as their maps have them."""
    at = SimpleNamespace(topic_name="orders", partitions=(1, 0))
    told = [
        SimpleNamespace(
            member_id=name,
            client_id=name,
            instance_id=None,
            subscribed_topic_names=("b", "a") if name == "one" else (),
            assignment=SimpleNamespace(topic_partitions=(at,)),
        )
        for name in ("two", "one")
    ]
    group = SimpleNamespace(group_state="Stable", group_epoch=4, assignor_name="range", members=told)
    seen = consumer(group)
    group.members = told[::-1]
    assert consumer(group) == seen
    assert seen is not None
    assert [(member.client, member.topics) for member in seen.members] == [("one", ("a", "b")), ("two", ("orders",))]


def test_commits_of_a_member_are_its_own(broker: EmbeddedBroker, observe: Observe, member: Callable[..., Consumer]):
    broker.create_topic("orders")
    one = member("one")
    one.commit(offsets=[TopicPartition("orders", 0, 0)], asynchronous=False)
    seen = observe()
    seen.look()
    published(broker, "orders", 3)
    one.commit(offsets=[TopicPartition("orders", 0, 3)], asynchronous=False)
    done = [event for event in seen.look().events if event.kind is EventKind.ACKNOWLEDGED]
    assert [(event.offset, event.count, event.client) for event in done] == [(0, 3, "one")]
    assert done[0].member == group_of(seen.looks[-1].snapshot).members[0].member_id


def test_lag_in_seconds_of_what_was_there_before(broker: EmbeddedBroker, observe: Observe):
    """Dated by its timestamps, which nobody has read."""
    broker.create_topic("orders", partitions=2)
    now_ms = time.time_ns() // 1_000_000
    for age_s in (900, 600, 300, 60):
        broker.publish("orders", {"age": age_s}, partition=0)
    commit(broker, "billing", "orders", 1)
    ages = {0: 900, 1: 600, 2: 300, 3: 60}

    def by_time(self: SweepReader, wanted: Any, failures: Any = None) -> Any:
        found = {}
        for place, at_ms in wanted:
            if at_ms < 0:
                found.update(real(self, [(place, at_ms)], failures))
                continue
            times = [(offset, now_ms - age * 1_000) for offset, age in ages.items()]
            found[place] = next(((o, t) for o, t in times if t >= at_ms), (-1, -1))
        return found

    real = SweepReader.offsets
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(SweepReader, "offsets", by_time)
        seen = observe()
        lag_ns = group_of(seen.first).offsets[0].lag_ns
        assert lag_ns == pytest.approx(600 * NS_PER_S, rel=0.02)
        commit(broker, "billing", "orders", 2)
        lag_ns = group_of(seen.look().snapshot).offsets[0].lag_ns
        assert lag_ns == pytest.approx(300 * NS_PER_S, rel=0.1)


def test_lag_in_seconds_is_between_the_looks(broker: EmbeddedBroker, observe: Observe):
    broker.create_topic("orders")
    commit(broker, "billing", "orders", 0)
    seen = observe()
    published(broker, "orders", 10)
    look = seen.look()
    at = group_of(look.snapshot).offsets[0]
    (run,) = [event for event in look.events if event.kind is EventKind.PUBLISHED]
    assert run.published_ns is not None
    assert at.lag == 10
    assert at.lag_ns == look.snapshot.time_ns - (run.published_ns + (run.time_ns - run.published_ns) // 20)


def test_a_broker_that_tells_the_offsets_of_one_group_at_a_time(
    broker: EmbeddedBroker, observe: Observe, monkeypatch: pytest.MonkeyPatch
):
    """OffsetFetch takes several groups from version 8 on."""
    monkeypatch.setitem(ALLOWED, "OffsetFetch", ALLOWED["OffsetFetch"]._replace(newest=7))
    broker.create_topic("orders")
    published(broker, "orders", 3)
    commit(broker, "audit", "orders", 1)
    commit(broker, "billing", "orders", 2)
    groups = observe().look().snapshot.groups
    assert {group.name: [at.committed for at in group.offsets] for group in groups} == {"audit": [1], "billing": [2]}


def test_what_fails_keeps_its_last_value_and_is_named_once(broker: EmbeddedBroker, observe: Observe):
    broker.create_topic("orders")
    published(broker, "orders", 3)
    commit(broker, "billing", "orders", 1)
    seen = observe()
    with broker.faults.error("OffsetFetch", "GROUP_AUTHORIZATION_FAILED"):
        commit(broker, "billing", "orders", 3)
        published(broker, "orders", 1)
        for _ in range(3):
            look = seen.look()
    named = [event.cause for event in seen.events if event.kind is EventKind.GAP]
    assert len(named) == 1
    assert "billing" in named[0]
    assert "denied" in named[0]
    group = group_of(look.snapshot)
    (at,) = group.offsets
    assert (group.state, at.committed, at.end_offset, at.lag) == (NOT_SEEN, 1, 4, None), "no lag that grows"
    seen.peer._reader._denied_until.clear()  # a minute later
    seen.peer._reader._denials.clear()
    group = group_of(seen.look().snapshot)
    assert (group.state, group.lag) == ("Empty", 1)


def test_what_is_denied_from_the_start_is_named_all_together(broker: EmbeddedBroker, observe: Observe):
    broker.create_topic("orders")
    for name in ("audit", "billing", "shipping"):
        commit(broker, name, "orders", 0)
    with broker.faults.error("OffsetFetch", "GROUP_AUTHORIZATION_FAILED"):
        seen = observe()
        seen.look()
        seen.look()
    (named,) = [event.cause for event in seen.events if event.kind is EventKind.GAP]
    assert "OffsetFetch of the group audit is denied" in named
    assert "2 more" in named


def test_an_api_whose_connection_is_cut_costs_nothing_else(broker: EmbeddedBroker, observe: Observe):
    broker.create_topic("orders")
    commit(broker, "billing", "orders", 0)
    seen = observe()
    with broker.faults.drop("ListGroups"):
        published(broker, "orders", 2)
        look = seen.look()
        assert look.snapshot.totals.published == 2
        assert [group.name for group in look.snapshot.groups] == ["billing"], "not listed is not deleted"
        assert any(event.kind is EventKind.GAP for event in seen.look().events)
    commit(broker, "billing", "orders", 2)
    assert_true(broker, seen.look().snapshot)


def test_a_broker_that_takes_long_for_the_offsets_of_share_groups_tells_the_rest(
    broker: EmbeddedBroker, observe: Observe
):
    broker.create_topic("orders")
    broker.host.ask(SubscribeShareGroup(group="workers", topic="orders"))
    published(broker, "orders", 1)
    broker.host.ask(ResetShareOffsets(group="workers", topic="orders", partition=0, offset=1))
    seen = observe(every_s=0.4)
    assert [at.end_offset for at in seen.peer._share_groups["workers"].offsets] == [1]
    with broker.faults.delay("DescribeShareGroupOffsets", 60_000):
        published(broker, "orders", 2)
        until_s = time.monotonic() + PATIENCE_S
        while seen.look().snapshot.totals.published < 2:
            assert time.monotonic() < until_s
        shown = seen.peer._share_groups["workers"].offsets
        assert [(at.start_offset, at.end_offset) for at in shown] == [(1, 3)], "its last offset, beside the new end"


def test_a_cluster_that_is_away_is_a_gap(broker: EmbeddedBroker, observe: Observe):
    broker.create_topic("orders")
    seen = observe()
    with broker.faults.drop("Metadata"):
        with pytest.raises(BrokerError) as failed:
            seen.look()
        assert failed.value.code is ErrorCode.CONNECTION_LOST
    published(broker, "orders", 2)
    look = seen.look()
    assert "answered" in look.gap
    assert_true(broker, look.snapshot)


def test_it_waits_where_the_cluster_throttles(broker: EmbeddedBroker, observe: Observe):
    broker.create_topic("orders")
    seen = observe()
    with broker.faults.throttle("ListOffsets", 300):
        seen.look()
    waits: list[float] = []
    seen.peer._cluster._wait_for_end = lambda pause_s: waits.append(pause_s) or False  # type: ignore[func-returns-value]
    seen.look()
    assert waits
    assert 0 < waits[0] <= 0.3


def test_only_what_was_chosen_is_seen(broker: EmbeddedBroker, observe: Observe):
    for name in ("orders", "orders-eu", "other"):
        broker.create_topic(name)
        commit(broker, f"{name}-readers", name, 0)
    seen = observe(topics=["orders*"], groups=["*-eu-readers", "other*"])
    assert [topic.name for topic in seen.first.topics] == ["orders", "orders-eu"]
    assert [group.name for group in seen.first.groups] == ["orders-eu-readers", "other-readers"]
    assert group_of(seen.first, "other-readers").offsets == ()


@pytest.mark.promise("42")
def test_questions_are_answered_from_what_was_seen_and_nothing_is_changed(broker: EmbeddedBroker, observe: Observe):
    broker.create_topic("orders")
    commit(broker, "billing", "orders", 0)
    peer = observe().peer
    assert [topic.name for topic in peer.ask(ListTopics())] == ["orders"]
    assert [group.name for group in peer.ask(ListGroups())] == ["billing"]
    with pytest.raises(BrokerError) as missing:
        peer.ask(DescribeGroup(group="nobody"))
    assert missing.value.code is ErrorCode.GROUP_ID_NOT_FOUND
    with pytest.raises(BrokerError) as refused:
        peer.ask(DeleteTopic(topic="orders"))
    assert refused.value.code is ErrorCode.READ_ONLY
    assert peer.why_not(DeleteTopic)
    assert not peer.why_not(ListTopics)
    assert not any(peer.knows(word) for word in ("deliveries", "leases", "backpressure"))


def test_messages_are_read_without_a_group(broker: EmbeddedBroker, observe: Observe):
    broker.create_topic("orders", partitions=2)
    seen = observe()
    published(broker, "orders", 5)
    published(broker, "orders", 3, partition=1)
    peer = seen.peer
    assert [(log.name, log.partitions) for log in peer.ask(ListLogs())] == [("orders", 2)]
    found = peer.ask(FindOffsets(topic="orders"))
    assert [(at.partition, at.start, at.end) for at in found] == [(0, 0, 5), (1, 0, 3)]
    page = peer.ask(BrowsePartition(topic="orders", partition=0, first=1, end=4))
    assert [(row.offset, row.key, row.preview) for row in page.rows] == [
        (at, b"k", b'{"number":%d}' % at) for at in (1, 2, 3)
    ]
    back = peer.ask(BrowseMessages(topic="orders", cursors={0: 5, 1: 3}, back=True, filter="partition = 1"))
    assert [(row.partition, row.offset) for row in back.rows] == [(1, 2), (1, 1), (1, 0)]
    when_ns = back.rows[0].published_ns
    assert 0 <= when_ns <= seen.look().snapshot.time_ns
    later = peer.ask(FindOffsets(topic="orders", partition=1, from_ns=when_ns + NS_PER_S, until_ns=0))[0]
    assert (later.end, later.found) == (0, 3)
    message = peer.ask(DescribeMessage(topic="orders", partition=0, offset=2)).message
    assert message is not None
    assert message.value == b'{"number":2}'
    assert "no longer" in peer.ask(DescribeMessage(topic="orders", partition=0, offset=99)).why
    with pytest.raises(BrokerError) as failed:
        peer.ask(FindOffsets(topic="nowhere"))
    assert failed.value.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    with broker.faults.error("Fetch", "TOPIC_AUTHORIZATION_FAILED"), pytest.raises(BrokerError, match="READ"):
        peer.ask(BrowsePartition(topic="orders", partition=0, first=0, end=4))
    assert broker.admin.groups() == []


def test_the_requests_of_a_sweep_are_few(broker: EmbeddedBroker, observe: Observe):
    """However many topics and groups there are: 12 requests a broker are allowed."""
    for number in range(40):
        broker.create_topic(f"topic-{number}", partitions=5)
    for number in range(30):
        commit(broker, f"group-{number}", f"topic-{number}", 0)
    seen = observe()
    requests = []
    for _ in range(3):
        before, _ = seen.peer.cost
        seen.look()
        requests.append(seen.peer.cost[0] - before)
    assert min(requests) <= 7 and max(requests) <= 12, requests


def test_a_recording_folds_without_a_difference(
    broker: EmbeddedBroker, tmp_path: Path, observe: Observe, member: Callable[..., Consumer]
):
    """Each keyframe folded through the recorded events is the next one, and the recording says what is not known."""
    broker.create_topic("orders", partitions=3)
    published(broker, "orders", 4)
    commit(broker, "audit", "orders", 0)
    seen = observe()
    member("one")
    for step in range(4):
        published(broker, "orders", 3, partition=step % 3)
        commit(broker, "audit", "orders", step * 2)
        if step == 1:
            broker.create_topic("new")
        if step == 2:
            member("two")
        seen.look()

    class Again:
        """The same looks once more, for a session that records."""

        address, facts, epoch_ms = "made-up:9092", seen.peer.facts, seen.peer.epoch_ms
        knows, why_not, ask = seen.peer.knows, seen.peer.why_not, seen.peer.ask
        hosts = seen.peer.hosts

        def __init__(self) -> None:
            self.left = list(seen.looks)

        def open(self) -> Snapshot:
            return seen.first

        def look(self) -> Any:
            return self.left.pop(0) if self.left else time.sleep(0.01)

        def close(self) -> None:
            pass

        rest = close

    frames: list[Snapshot] = []
    again = Again()
    session = ObservedSession(again, folder=tmp_path / "seen", on_keyframe=frames.append)
    while session.latest.time_ns < seen.looks[-1].snapshot.time_ns:
        time.sleep(0.01)
    session.close()
    stored = open_session(tmp_path / "seen")
    events = list(stored.index.events())
    states = [seen.first, *(look.snapshot for look in seen.looks)]
    counts = [0]
    for look in seen.looks:
        counts.append(counts[-1] + len(look.events))
    for (before, first), (after, last) in pairwise(zip(states, counts, strict=True)):
        folded = fold(before, events[first:last], time_ns=after.time_ns, published_before=times_of(events))
        # Of what was there before the first look, only keyframes know how old it is.
        assert differences(_younger(told(folded)), _younger(told(after))) == []
    metadata = read_metadata(tmp_path / "seen")
    assert not metadata.knows("deliveries")
    assert metadata.totals is not None
    assert metadata.totals["published"] == 12


def _younger(plain: dict[str, Any]) -> dict[str, Any]:
    del plain["events"]  # numbered by the session
    for group in plain["groups"]:
        for offset in group["offsets"]:
            if offset["lag_ns"] is None or offset["lag_ns"] > plain["time_ns"]:
                offset["lag_ns"] = None
    return plain


def test_a_clock_that_is_wrong_is_said_once(broker: EmbeddedBroker, observe: Observe):
    broker.create_topic("orders")
    seen = observe()
    seen.peer.epoch_ms += 10_000  # as if our clock were so much ahead
    for _ in range(2):
        published(broker, "orders", 1)
        seen.look()
    (said,) = [event.cause for event in seen.events if event.kind is EventKind.GAP]
    assert "s behind our clock" in said
    assert said.startswith(("new records of orders are 10.", "new records of orders are 9."))


def test_a_clock_is_not_judged_by_what_waited_for_a_silent_node(
    broker: EmbeddedBroker, observe: Observe, monkeypatch: pytest.MonkeyPatch
):
    broker.create_topic("orders")
    seen = observe()
    seen.peer.epoch_ms += 10_000
    monkeypatch.setattr(seen.peer, "_note_heard", lambda _sweep: [Silence(0, 0.0, 6.0, True)])
    for _ in range(2):
        published(broker, "orders", 1)
        seen.look()
        monkeypatch.undo()
    assert not [event.cause for event in seen.events if "our clock" in event.cause]


def test_a_look_after_one_that_missed_a_group_is_not_hurried_though_another_rebalances():
    peer = KafkaPeer(connection_config("127.0.0.1:1"), every_s=60.0)
    joining = GroupSeen(GroupState.PREPARING, None, "", ())
    there = Sweep(
        listed={"billing": "", "audit": ""}, groups={"audit": joining}, committed={"billing": {}, "audit": {}}
    )
    due_s = []
    for sweep in (there, Sweep(listed={"audit": ""}, groups={"audit": joining}, committed={"audit": {}})):
        peer._diff.events(sweep, 1)
        peer._end_look(sweep, 1_000.0)
        due_s.append(peer._pace.due_s - 1_000.0)
    assert peer._diff.rebalancing
    assert due_s[0] < 1 and due_s[1] == 60
