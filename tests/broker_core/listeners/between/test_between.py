"""What goes through is passed on unchanged but for addresses, and told as the cluster itself would tell it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from typing import Any
from uuid import UUID

import pytest
from confluent_kafka import Consumer, Producer, ShareConsumer, TopicPartition

from broker_core.events import FIRST_COMMIT, Event
from broker_core.groups.config import GroupConfig, GroupSettings
from broker_core.listeners.between.peer import BetweenPeer
from broker_core.observation.kafka.config import connection_config
from broker_core.operations.faults import BeginFault, EndFault, ListFaults
from broker_core.recording.ownership import Ownership
from broker_core.testing import EmbeddedBroker
from tests.broker_core.listeners.between.conftest import PATIENCE_S, Watched
from tests.broker_core.listeners.kafka.raw import KEYS, Raw
from tests.reference.brokers import free_port

_RUNS = ("published", "delivered", "acknowledged")


def offsets(events: Iterable[Event]) -> list[tuple[object, ...]]:
    """Each message of each run: runs may be cut otherwise than in the broker."""
    return sorted(
        (each.kind.value, each.topic, each.partition, offset, each.group, each.client, each.member, each.attempt or 0)
        for each in events
        if each.kind in _RUNS
        for offset in each.offsets
    )


def read(watched: Watched, consumer: Consumer, count: int) -> None:
    """Consume so many, and commit them."""
    got = 0
    while got < count:
        got += len(consumer.consume(count - got, 0.1))
        watched.look()
    consumer.commit(asynchronous=False)


@pytest.mark.promise("46")
def test_what_is_told_is_what_the_cluster_knows(broker: EmbeddedBroker, watched: Watched, clients):
    broker.create_topic("orders", 3)
    consumer = clients(Consumer, "biller")
    consumer.subscribe(["orders"])
    producer = clients(Producer, "shop")
    for number in range(200):
        producer.produce("orders", b"x" * number, key=b"%d" % (number % 7))
    assert producer.flush(30) == 0
    read(watched, consumer, 200)
    watched.until(lambda: sum(each.count for each in watched.of("acknowledged")) == 200)
    truth = truth_of(broker)
    assert offsets(watched.events) == offsets(truth)
    generations = [each.generation for each in truth if each.kind == "rebalance_completed"]
    assert [each.generation for each in watched.of("rebalance_completed")] == generations == [1]
    assert watched.last.totals.published == watched.last.totals.acknowledged == 200
    assert not watched.gaps and not watched.of("gap") and watched.peer.not_seen == 0


@pytest.mark.promise("46")
def test_no_connection_bypasses_it(broker: EmbeddedBroker, watched: Watched, clients):
    broker.create_topic("orders", 3)
    producer = clients(Producer, "shop")
    producer.produce("orders", b"x")
    assert producer.flush(30) == 0
    (node,) = watched.peer.ports.nodes.values()
    named = producer.list_topics(timeout=30).brokers
    assert {(each.host, each.port) for each in named.values()} == {("127.0.0.1", node[0])}
    passed = {view.client for view in watched.peer.clients.views()}
    assert passed == {"shop"}
    there = [view for view in broker.connections.views() if view.client == "shop"]
    assert len(there) == len(watched.peer.clients.views())


def test_a_member_leaves_and_another_takes_over(broker: EmbeddedBroker, watched: Watched, clients):
    broker.create_topic("orders", 2)
    first = clients(Consumer, "first")
    first.subscribe(["orders"])
    watched.until(lambda: first.poll(0.05) or watched.of("rebalance_completed"))
    second = clients(Consumer, "second")
    second.subscribe(["orders"])
    watched.until(lambda: first.poll(0.05) or second.poll(0.05) or len(watched.of("rebalance_completed")) == 2)
    first.close()
    watched.until(lambda: second.poll(0.05) or len(watched.of("rebalance_completed")) == 3)
    causes = [each.cause for each in watched.of("rebalance_started")]
    assert causes[:2] == ["first joins", "second joins"] and causes[2].startswith("first left")
    (left,) = watched.of("member_left")
    assert (left.client, left.cause) == ("first", "left by itself")
    (group,) = watched.last.groups
    assert [(each.client, len(each.partitions)) for each in group.members] == [("second", 2)]
    truth = broker.host.call(
        lambda _now: [e.generation for e in broker.events.events if e.kind == "rebalance_completed"]
    )
    assert [each.generation for each in watched.of("rebalance_completed")] == truth


def test_what_has_passed_until_it_is_closed_is_told(broker: EmbeddedBroker, watched: Watched, clients):
    """Also what the cluster has taken and not answered yet."""
    broker.create_topic("orders", 1)
    producer = clients(Producer, "shop", retries=0)
    producer.produce("orders", b"first")
    assert producer.flush(PATIENCE_S) == 0
    watched.until(lambda: watched.of("published"))
    broker.faults.lose_reply("Produce")  # and nothing looks any more
    producer.produce("orders", b"second")
    assert producer.flush(PATIENCE_S) == 0
    watched.peer.close()
    rest = watched.peer.rest()
    assert rest is not None and [e.offset for e in rest.events if e.kind == "published"] == [1]
    assert rest.snapshot.topics[0].published == 2


def test_what_the_cluster_has_not_answered_when_the_ports_close_is_said(
    broker: EmbeddedBroker, watched: Watched, clients, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("broker_core.listeners.between.ports._LAST_S", 0.01)
    broker.create_topic("orders", 1)
    producer = clients(Producer, "shop", retries=0)
    broker.faults.hold("Produce")
    producer.produce("orders", b"held")
    broker.faults.hold("OffsetCommit")
    with contextlib.closing(Raw(watched.peer.ports.port)) as line:
        line.send(KEYS["OffsetCommit"], 8, commit_of(3))
        watched.until(lambda: {8, 0} <= {key for key, _asked in watched.peer._traffic._in_flight.values()})
        watched.peer.close()
    rest = watched.peer.rest()
    assert rest is not None
    assert rest.gap.startswith("passed on and not answered when the ports closed: 1 OffsetCommit, 1 Produce;")
    assert watched.peer.not_answered["published"] == [["orders", 0, 1]]
    assert producer.flush(PATIENCE_S) == 0


def test_a_commit_whose_connection_has_ended_without_an_answer_is_said_until_a_look_tells_it(
    broker: EmbeddedBroker, watched: Watched
):
    """As where a coordinator has died: the client tries again, and the ports may close before that."""
    broker.create_topic("orders", 1)
    watched.until(lambda: watched.of("topic_created"))
    held = broker.faults.hold("OffsetCommit")
    with contextlib.closing(Raw(watched.peer.ports.port)) as line:
        line.send(KEYS["OffsetCommit"], 8, commit_of(3))
        watched.until(lambda: watched.peer.not_answered["acknowledged"])
    watched.until(lambda: not watched.peer._traffic._in_flight)
    assert watched.peer.not_answered["acknowledged"] == [["billing", "orders", 0, 3]]
    held.end()
    with contextlib.closing(Raw(int(broker.bootstrap_servers.rpartition(":")[2]))) as line:
        committed(line, 3)
    watched.until(lambda: not watched.peer.not_answered["acknowledged"])


def commit_of(offset: int, **more: Any) -> dict[str, Any]:
    rows = [{"partition_index": 0, "committed_offset": offset, "committed_metadata": None}]
    return {"group_id": "billing", "topics": [{"name": "orders", "partitions": rows}], **more}


def committed(line: Raw, offset: int, **more: Any) -> None:
    answer = line.asked(KEYS["OffsetCommit"], 8, commit_of(offset, **more))
    assert not answer.topics[0].partitions[0].error_code


def test_a_commit_to_a_partition_whose_end_nobody_knew_makes_nothing_published(
    broker: EmbeddedBroker, between: Callable[..., Watched]
):
    """Its leader was away at the first look; all that had been published before was told once more."""
    broker.create_topic("orders", 1)
    broker.publish("orders", 1, 2, 3, 4)
    with contextlib.closing(Raw(int(broker.bootstrap_servers.rpartition(":")[2]))) as line:
        committed(line, 1)
    watched = between(every_s=60)
    del watched.peer._diff.ends["orders", 0]
    with contextlib.closing(Raw(watched.peer.ports.port)) as line:
        who = {"member_id": "m-1", "generation_id_or_member_epoch": heartbeat(line, "m-1", 0)}
        committed(line, 2, **who)  # it was given that before
        fetched(line, 2)
        committed(line, 4, **who)
        watched.until(lambda: len(watched.of("acknowledged")) > 1)
    producer = Producer({"bootstrap.servers": watched.peer.bootstrap_servers, "client.id": "shop", "log_level": 0})
    producer.produce("orders", b"new")
    assert producer.flush(PATIENCE_S) == 0
    watched.until(lambda: watched.of("published"))
    assert [(each.offset, each.client) for each in watched.of("published")] == [(4, "shop")]
    assert [offset for each in watched.of("acknowledged") for offset in each.offsets] == [1, 2, 3]


def test_where_a_reader_is_seen_first_says_nothing_of_commits_that_its_broker_did_not_tell(
    broker: EmbeddedBroker, between: Callable[..., Watched]
):
    """Its coordinator was away at the first look: it may have been given more before, and acknowledges that now."""
    broker.create_topic("orders", 1)
    broker.publish("orders", 1, 2, 3, 4)
    for all_told, new, told in (
        (True, 4, ["acknowledged"]),
        (False, 4, ["offsets_reset"]),
        (False, 1, ["offsets_reset"]),
    ):
        watched = between(every_s=60)
        watched.peer._diff.all_told = all_told
        watched.peer._diff.committed.clear()
        with contextlib.closing(Raw(watched.peer.ports.port)) as line:
            coordinator = {"key_type": 0, "coordinator_keys": ["billing"]}
            line.asked(KEYS["FindCoordinator"], 4, coordinator)
            fetched(line, 2)
            committed(line, new)
            watched.until(lambda: watched.of("acknowledged", "offsets_reset"))  # noqa: B023
        found = watched.of("acknowledged", "offsets_reset")
        assert [each.kind for each in found] == told
        if not all_told:
            assert found[0].cause == FIRST_COMMIT and found[0].told["changes"] == [["orders", 0, None, new]]
        watched.peer.close()


def fetched(line: Raw, offset: int, session: int = 0, epoch: int = -1) -> Any:
    rows = [{"partition": 0, "fetch_offset": offset, "partition_max_bytes": 1 << 20}]
    named = [{"topic": "orders", "partitions": rows}] if epoch <= 0 else []
    body = {"session_id": session, "session_epoch": epoch, "topics": named, "forgotten_topics_data": ()}
    return line.asked(KEYS["Fetch"], 11, {**body, "max_wait": 0, "min_bytes": 0, "isolation_level": 0})


def test_a_fetch_session_that_is_older_than_its_connection_tells_what_it_brings(
    broker: EmbeddedBroker, watched: Watched
):
    """As Java's consumer goes on with it, past a connection that was cut, or ports that have begun anew."""
    broker.create_topic("orders", 2)
    watched.until(lambda: watched.of("topic_created"))
    member = Raw(watched.peer.ports.port)
    heartbeat(member, "m-1", 0)
    with contextlib.closing(Raw(watched.peer.ports.port)) as line:
        session = fetched(line, 0, epoch=0).session_id
    broker.publish("orders", 1, 2, 3, partition=0)
    with contextlib.closing(Raw(watched.peer.ports.port)) as line:
        assert fetched(line, -1, session, 1).responses
        watched.until(lambda: watched.of("delivered"))
    member.close()
    told = [(offset, each.member) for each in watched.of("delivered") for offset in each.offsets]
    assert told == [(0, "m-1"), (1, "m-1"), (2, "m-1")]


def test_what_comes_to_a_partition_whose_end_nobody_knew_is_told(
    broker: EmbeddedBroker, between: Callable[..., Watched]
):
    """Its leader was away at the first look."""
    broker.create_topic("orders", 1)
    for _ in range(3):
        broker.publish("orders", b"before")
    watched = between(every_s=60)
    del watched.peer._diff.ends["orders", 0]
    producer = Producer({"bootstrap.servers": watched.peer.bootstrap_servers, "client.id": "shop", "log_level": 0})
    for _ in range(2):
        producer.produce("orders", b"new")
        assert producer.flush(PATIENCE_S) == 0
    watched.until(lambda: sum(each.count for each in watched.of("published")) >= 2)
    assert [(each.offset, each.client) for each in watched.of("published")] == [(3, "shop"), (4, "shop")]


def test_what_is_sent_again_and_was_taken_before_it_began_is_counted(
    broker: EmbeddedBroker, between: Callable[..., Watched]
):
    """The cluster has it, the client was not told, and asks again where it is passed on anew."""
    broker.create_topic("orders", 1)
    port = free_port()  # the node's is the next one, in both runs
    first = between(port=port)
    producer = Producer({
        "bootstrap.servers": first.peer.bootstrap_servers,
        **{"client.id": "shop", "log_level": 0, "enable.idempotence": True},
    })  # fmt: skip
    lost = broker.faults.lose_reply("Produce")
    producer.produce("orders", b"once")
    first.until(lambda: broker.admin.describe_topic("orders").partitions[0].end_offset)
    first.peer.close()
    lost.end()
    again = between(port=port)
    assert producer.flush(PATIENCE_S) == 0
    again.until(lambda: again.peer.published_before)
    producer.produce("orders", b"new")
    assert producer.flush(PATIENCE_S) == 0
    again.until(lambda: again.of("published"))
    assert again.peer.published_before == 1 and [each.offset for each in again.of("published")] == [1]
    assert [message.value for message in broker.messages("orders")] == [b"once", b"new"]


def test_what_was_read_as_it_closes_is_told_where_a_sweep_would_be_due(
    broker: EmbeddedBroker, watched: Watched, clients
):
    broker.create_topic("orders", 1)
    producer = clients(Producer, "shop")
    producer.produce("orders", b"x", partition=0)
    assert producer.flush(PATIENCE_S) == 0
    peer = watched.peer
    peer._traffic.closing = True
    peer._sweeper.shutdown()  # as `close` does, in another thread
    peer._pace.due_s = 0.0
    watched.until(lambda: watched.of("published"), "what was published")


def test_who_comes_past_it_is_seen_by_looking(broker: EmbeddedBroker, watched: Watched):
    broker.create_topic("orders")
    broker.publish("orders", 1, 2, 3)
    watched.until(lambda: sum(each.count for each in watched.of("published")) == 3)
    assert {each.client for each in watched.of("published")} == {""}


@pytest.mark.promise("46")
def test_a_fault_answers_and_the_cluster_is_not_asked(broker: EmbeddedBroker, watched: Watched, clients):
    broker.create_topic("orders")
    producer = clients(Producer, "shop", **{"retry.backoff.ms": 10})
    fault = BeginFault(
        effect="error", api="Produce", error="NOT_ENOUGH_REPLICAS", times=2, client="shop", topic="orders"
    )
    name = watched.peer.ask(fault).name
    assert [each.name for each in watched.peer.ask(ListFaults())] == [name]
    producer.produce("orders", b"x")
    assert producer.flush(30) == 0
    watched.until(lambda: watched.of("published") and len(watched.of("fault")) == 2)
    assert watched.peer.ask(ListFaults()) == []
    asked = [each for each in broker.connections.requests() if each.api == "Produce"]
    refused = [each for each in watched.peer.clients.requests() if each.api == "Produce" and each.error]
    assert len(asked) == 1 and len(refused) == 2


def test_a_lost_reply_makes_the_duplicate_of_a_retry(broker: EmbeddedBroker, watched: Watched, clients):
    broker.create_topic("orders")
    watched.peer.ask(BeginFault(effect="lose_reply", api="Produce", times=1))
    producer = clients(Producer, "shop", **{"retry.backoff.ms": 10})
    producer.produce("orders", b"x")
    assert producer.flush(30) == 0
    assert len(broker.messages("orders")) == 2
    watched.until(lambda: sum(each.count for each in watched.of("published")) == 2)


def test_a_held_request_goes_on_when_the_fault_ends(broker: EmbeddedBroker, watched: Watched, clients):
    broker.create_topic("orders")
    name = watched.peer.ask(BeginFault(effect="hold", api="Produce")).name
    producer = clients(Producer, "shop")
    producer.produce("orders", b"x")
    watched.until(lambda: any(each.errors for each in watched.peer.clients.views()))
    assert broker.messages("orders") == [] and [each.fault for each in watched.last.faults] in ([], [f"fault {name}"])
    watched.peer.ask(EndFault(fault=name))
    assert producer.flush(30) == 0
    assert len(broker.messages("orders")) == 1


def truth_of(broker: EmbeddedBroker) -> list[Event]:
    return broker.host.call(lambda _now: list(broker.events.events))


def test_transactions_end_as_the_cluster_says(broker: EmbeddedBroker, watched: Watched, clients):
    broker.create_topic("orders", 2)
    consumer = clients(Consumer, "biller")
    consumer.subscribe(["orders"])
    till = clients(Producer, "till", **{"transactional.id": "till-1"})
    till.init_transactions(30)
    for number in range(6):
        till.begin_transaction()
        for key in range(5):
            till.produce("orders", b"x", key=b"%d" % key)
        assert till.flush(30) == 0  # an abort purges what is not sent yet
        (till.abort_transaction if number % 3 == 1 else till.commit_transaction)(30)
        watched.look()
    read(watched, consumer, 20)
    watched.until(lambda: sum(each.count for each in watched.of("acknowledged")) == 20)
    truth = truth_of(broker)
    assert offsets(watched.events) == offsets(truth)

    def ends(events: Iterable[Event]) -> list[object]:
        found = [each for each in events if each.kind == "transaction_ended"]
        return [(e.cause, e.client, sorted(e.told["markers"]), sorted(e.told["aborted"])) for e in found]

    assert ends(watched.events) == ends(truth)
    started = [each.told["producer_id"] for each in truth if each.kind == "transaction_started"]
    assert [each.told["producer_id"] for each in watched.of("transaction_started")] == started
    assert watched.last.transactions == ()


def test_how_a_transaction_of_a_producer_that_comes_past_it_has_ended_is_told_by_its_marker(
    broker: EmbeddedBroker, between: Callable[..., Watched]
):
    broker.create_topic("orders", 1)
    watched = between(every_s=60)
    till = Producer({"bootstrap.servers": broker.bootstrap_servers, "transactional.id": "till-1", "log_level": 0})
    till.init_transactions(30)
    for end in (till.abort_transaction, till.commit_transaction):
        till.begin_transaction()
        till.produce("orders", b"x")
        assert till.flush(30) == 0
        end(30)
    with contextlib.closing(Raw(watched.peer.ports.port)) as line:
        fetched(line, 0)
        watched.until(lambda: len(watched.of("transaction_ended")) == 2)
    assert [each.cause for each in watched.of("transaction_ended")] == ["aborted", "committed"]


def test_share_groups_are_told_record_by_record(broker: EmbeddedBroker, watched: Watched, clients):
    broker.create_topic("mail", 2)
    member = clients(ShareConsumer, "postman")
    member.subscribe(["mail"])
    watched.until(lambda: member.poll(0.1) or any(each.group == "billing.mail" for each in truth_of(broker)))
    producer = clients(Producer, "shop")
    for number in range(30):
        producer.produce("mail", b"x", key=b"%d" % number)
    assert producer.flush(30) == 0
    got = 0
    while got < 30:
        got += len(member.poll(0.2))
        watched.look()
    member.close()

    def told(events: Iterable[Event]) -> list[tuple[object, ...]]:
        return [row[:5] for row in offsets(events)]

    watched.until(lambda: told(watched.events) == told(truth_of(broker)))
    assert sum(each.count for each in watched.of("acknowledged")) >= 1
    (queue,) = watched.last.queues
    assert queue.name == "billing.mail" and queue.acknowledged + queue.in_flight == 30


def test_what_the_cluster_refuses_to_acknowledge_is_not_told_as_acknowledged(broker: EmbeddedBroker, watched: Watched):
    """Neither of a whole request nor of one of its partitions, whichever request brings it."""
    broker.create_topic("mail")
    broker.host.call(
        lambda _now: broker.host.broker.groups.configs.set("billing", GroupSettings(auto_offset_reset="earliest"))
    )
    broker.publish("mail", 1, 2, 3)
    watched.until(lambda: watched.of("topic_created"))
    topic_id = UUID(bytes=broker.host.broker.logs.topic("mail").id)
    lines = {member: Raw(watched.peer.ports.port) for member in ("m-1", "m-2")}

    def asks(api: str, member: str, epoch: int, *offsets: int) -> Any:
        rows = [{"first_offset": each, "last_offset": each, "acknowledge_types": [1]} for each in offsets]
        place = {"partition_index": 0, "acknowledgement_batches": rows}
        body = {"group_id": "billing", "member_id": member, "share_session_epoch": epoch}
        body |= {"topics": [{"topic_id": topic_id, "partitions": [place]}]}
        fetching = {"max_wait": 0, "min_bytes": 0, "max_bytes": 1 << 20, "max_records": 500, "batch_size": 500}
        more = {**fetching, "forgotten_topics_data": ()} if api == "ShareFetch" else {}
        answer = lines[member].asked(KEYS[api], 1, body | more)
        part = answer.responses[0].partitions[0] if answer.responses else answer
        return getattr(part, "acknowledge_error_code", part.error_code)

    with contextlib.ExitStack() as ends:
        for member, line in lines.items():
            ends.callback(line.close)
            join = {"group_id": "billing", "member_id": member, "member_epoch": 0, "subscribed_topic_names": ["mail"]}
            assert not line.asked(KEYS["ShareGroupHeartbeat"], 1, join).error_code
            assert not asks("ShareFetch", member, 0)
        watched.until(lambda: sum(each.count for each in watched.of("delivered")) == 3)
        assert asks("ShareAcknowledge", "m-1", 99, 0) and asks("ShareFetch", "m-1", 99, 0), "of no such session"
        assert asks("ShareFetch", "m-2", 1, 1) and asks("ShareAcknowledge", "m-2", 2, 1), "of what another one has"
        assert not asks("ShareAcknowledge", "m-1", 1, 2)
        watched.until(lambda: watched.of("acknowledged"))
    assert [(each.offset, each.count, each.member) for each in watched.of("acknowledged")] == [(2, 1, "m-1")]


def test_a_group_by_the_new_protocol(broker: EmbeddedBroker, watched: Watched, clients):
    broker.create_topic("orders", 3)
    consumer = clients(Consumer, "biller", **{"group.protocol": "consumer"})
    consumer.subscribe(["orders"])
    producer = clients(Producer, "shop")
    for number in range(50):
        producer.produce("orders", b"x", key=b"%d" % number)
    assert producer.flush(30) == 0
    read(watched, consumer, 50)
    watched.until(lambda: sum(each.count for each in watched.of("acknowledged")) == 50)
    assert offsets(watched.events) == offsets(truth_of(broker))
    (group,) = watched.last.groups
    assert [(each.client, len(each.partitions)) for each in group.members] == [("biller", 3)]
    consumer.close()
    watched.until(lambda: watched.of("member_left"))


def test_a_commit_beyond_what_was_given_or_beyond_the_end_is_told(broker: EmbeddedBroker, watched: Watched, clients):
    broker.create_topic("orders")
    consumer = clients(Consumer, "biller")
    consumer.subscribe(["orders"])
    producer = clients(Producer, "shop")
    for number in range(20):
        producer.produce("orders", b"%d" % number)
    assert producer.flush(30) == 0
    read(watched, consumer, 20)
    held = watched.peer.ask(BeginFault(effect="hold", api="Fetch", client="biller")).name
    watched.until(lambda: watched.peer.ports.client_faults.met(held))  # the one before brings nothing more
    for number in range(10):
        producer.produce("orders", b"%d" % number)
    assert producer.flush(30) == 0
    for offset, (count, what) in {25: (5, "beyond what was given"), 35: (5, "beyond the end")}.items():
        consumer.commit(offsets=[TopicPartition("orders", 0, offset)], asynchronous=False)
        watched.until(lambda: [each for each in watched.of("commit_beyond") if each.cause == what])  # noqa: B023
        last = watched.of("commit_beyond")[-1]
        assert (last.offset, last.count, last.client, last.group) == (offset, count, "biller", "billing")


@pytest.mark.parametrize("effect", ["drop", "cut_reply", "throttle", "bandwidth", "slice", "delay", "leader_change"])
def test_each_fault_ends_and_nothing_is_lost(broker: EmbeddedBroker, watched: Watched, clients, effect: Any):
    """Of one partition: messages for another meet nothing. What the cluster has done is there, whatever came back."""
    broker.create_topic("orders", 2)
    more: dict[str, Any] = {
        "throttle": {"delay_ms": 30},
        "delay": {"delay_ms": 30},
        "bandwidth": {"bytes_per_s": 5_000},
        "slice": {"slice_bytes": 7, "delay_ms": 1},
    }
    fault = BeginFault(effect=effect, api="Produce", topic="orders", partition=1, times=1, **more.get(effect, {}))
    name = watched.peer.ask(fault).name
    producer = clients(Producer, "shop", **{"retry.backoff.ms": 10, "enable.idempotence": True})
    producer.produce("orders", b"other", partition=0)
    assert producer.flush(30) == 0
    assert [each.name for each in watched.peer.ask(ListFaults())] == [name]
    producer.produce("orders", b"met", partition=1)
    assert producer.flush(30) == 0
    assert watched.peer.ask(ListFaults()) == [] and watched.peer.ports.client_faults.met(name) == 1
    assert sorted(message.value or b"" for message in broker.messages("orders")) == [b"met", b"other"]
    asked = [each for each in broker.connections.requests() if each.api == "Produce"]
    assert len(asked) == {"drop": 2, "leader_change": 2, "cut_reply": 3}.get(effect, 2), (
        "cut_reply: done, and done again"
    )
    watched.until(lambda: sum(each.count for each in watched.of("published")) == 2)


def heartbeat(line: Raw, member: str, epoch: int) -> Any:
    body = {"group_id": "billing", "member_id": member, "member_epoch": epoch}
    joining = {"rebalance_timeout": 60_000, "subscribed_topic_names": ["orders"], "topic_partitions": []}
    answer = line.asked(KEYS["ConsumerGroupHeartbeat"], 1, body | (joining if epoch == 0 else {}))
    assert not answer.error_code
    return answer.member_epoch


def test_a_killed_member_is_told_until_it_is_heard_again_and_leaves_for_that():
    settings = GroupConfig(consumer_session_timeout_ms=3_000, consumer_heartbeat_interval_ms=500)
    with EmbeddedBroker(groups=settings) as broker:
        broker.create_topic("orders", 2)
        watched = Watched(BetweenPeer(connection_config(broker.bootstrap_servers), port=0, every_s=0.3))
        with contextlib.closing(watched.peer):

            def lost() -> dict[str, bool]:
                return {each.member_id: each.lost_ns is not None for g in watched.last.groups for each in g.members}

            line = Raw(watched.peer.ports.port)
            epoch = heartbeat(line, "m-1", 0)
            watched.until(lambda: lost() == {"m-1": False})
            line.close()
            watched.until(lambda: lost() == {"m-1": True})
            (ended,) = watched.of("connection_ended")
            assert (ended.client, ended.group, ended.member_id) == ("raw", "billing", "m-1")
            line = Raw(watched.peer.ports.port)
            heartbeat(line, "m-1", epoch)
            watched.until(lambda: lost() == {"m-1": False}, "a member that is heard again")
            line.close()
            watched.until(lambda: watched.of("member_left"))
            (left,) = watched.of("member_left")
            assert left.client == "raw" and "its connection has ended: its session has timed out" in left.cause
            assert len(watched.of("connection_ended")) == 2


def test_how_long_nobody_read_after_a_member_was_killed_is_told():
    """From its last sign of life, the end of its connection, on."""
    settings = GroupConfig(consumer_session_timeout_ms=2_000, consumer_heartbeat_interval_ms=500)
    with EmbeddedBroker(groups=settings) as broker:
        broker.create_topic("orders", 2)
        watched, ownership = Watched(BetweenPeer(connection_config(broker.bootstrap_servers), port=0)), Ownership()
        with contextlib.closing(watched.peer):
            line = Raw(watched.peer.ports.port)
            heartbeat(line, "m-1", 0)
            watched.until(lambda: watched.of("partitions_assigned"))
            line.close()
            watched.until(lambda: watched.of("connection_ended"))
            line, epoch = Raw(watched.peer.ports.port), 0
            while len(watched.of("partitions_assigned")) < 2:
                epoch = heartbeat(line, "m-2", epoch)
                watched.look()
            line.close()
        for event in watched.events:
            ownership(event)
        (ended,), (left,) = watched.of("connection_ended"), watched.of("member_left")
        gaps = [gap for each in watched.of("rebalance_started") for gap in ownership.gaps("billing", each.time_ns)]
        assert [(gap.cause, gap.place[2], gap.start_ns) for gap in gaps] == [
            ("silence", number, ended.time_ns) for number in (0, 1)
        ]
        assert {gap.end_ns for gap in gaps} == {watched.of("partitions_assigned")[1].time_ns}
        assert left.told["heard_ns"] == ended.time_ns and "its session has timed out" in left.cause


def test_a_killed_producer_is_told_and_one_that_leaves_a_group_is_not(broker: EmbeddedBroker, watched: Watched):
    broker.create_topic("orders")
    line = Raw(watched.peer.ports.port)
    heartbeat(line, "m-1", 0)
    heartbeat(line, "m-1", -1)
    line.close()
    watched.until(lambda: watched.of("member_left") and not watched.peer.clients.count())
    producer = Producer({"bootstrap.servers": watched.peer.bootstrap_servers, "client.id": "shop", "log_level": 0})
    producer.produce("orders", b"x")
    assert producer.flush(30) == 0
    watched.until(lambda: watched.of("published"))
    for view in watched.peer.clients.views():
        watched.peer.clients.cut(view.id)
    watched.until(lambda: watched.of("connection_ended"))
    assert {(each.client, each.group) for each in watched.of("connection_ended")} == {("shop", "")}
