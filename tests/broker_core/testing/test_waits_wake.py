"""Every kind of event and every field of the reference wakes a wait, and is told when the wait has timed out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from broker_core import GroupConsumer, QueueConfig, QueueConsumer, RetryPolicy
from broker_core.broker.conditions import FIELDS, STATE_FIELDS
from broker_core.events import EventKind
from broker_core.operations.observe import ConditionAnswer, WaitUntil
from broker_core.replies import Reply
from broker_core.testing.embedded_broker import ConditionTimeoutError, EmbeddedBroker


@pytest.fixture
def broker() -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker() as broker:
        broker.create_topic("orders")
        broker.create_queue("jobs", QueueConfig(max_attempts=2, retry=RetryPolicy(kind="fixed", base_ms=60_000)))
        broker.clock.stop()
        yield broker


def waiting(broker: EmbeddedBroker, condition: str) -> Reply[ConditionAnswer]:
    """A wait that has begun; what makes the condition hold must settle it at once."""
    request = WaitUntil(condition=condition, timeout_ms=60_000)
    reply = broker.host.call(lambda now_ns: broker.host.broker.handle(now_ns, request))
    assert not reply.done, condition
    return reply


def emit(broker: EmbeddedBroker, kind: EventKind, **fields: Any) -> None:
    broker.host.call(lambda now_ns: broker.host.events.emit(now_ns, kind, **fields))


@pytest.mark.parametrize("kind", EventKind)
def test_every_kind_of_event_wakes_and_is_told_when_it_did_not_come(broker: EmbeddedBroker, kind: EventKind) -> None:
    other = EventKind.DAMAGE if kind is not EventKind.DAMAGE else EventKind.FAULT
    waits = [waiting(broker, f"kind = {kind}"), waiting(broker, f'topic = "orders" and kind = {kind} or kind = {kind}')]
    emit(broker, other)
    assert not any(wait.done for wait in waits)
    emit(broker, kind, topic="orders")
    assert [wait.result().what for wait in waits] == [f"{kind} in orders"] * 2
    with pytest.raises(ConditionTimeoutError, match=r"no event has matched since the wait began .*topic orders has 0"):
        broker.wait_until(f"kind = {kind}", timeout_s=0)


EVENT: dict[str, tuple[str, dict[str, Any]]] = {
    "partition": ("partition = 7", {"partition": 7}),
    "offset": ("offset > 8", {"offset": 9}),
    "key": ("key = k1", {"key": b"k1"}),
    "cause": ("cause contains disk", {"cause": "the disk is full"}),
    "action": ("action = redrive", {"kind": EventKind.USER_ACTION, "detail": {"action": "redrive"}}),
    "attempt": ("attempt >= 2", {"attempt": 3}),
    "count": ("count = 5", {"count": 5}),
    "size": ("size > 3 KiB", {"size_bytes": 4_096}),
    "dlq": ("~dlq", {"kind": EventKind.DEAD_LETTERED}),
    "redriven": ("~redriven", {"kind": EventKind.REDRIVEN}),
    "mine": ("~mine", {"kind": EventKind.USER_ACTION}),
    "control": ("~control", {"kind": EventKind.FAULT}),
    "generation": ("kind = published and generation = 4", {"generation": 4}),
    "client": ("kind = published and client = c1", {"client": "c1"}),
    "topic": ("kind = published and topic = t1", {"topic": "t1"}),
    "group": ("kind = published and group = g1", {"group": "g1"}),
    "time": ("kind = published and time < 1 h", {}),
}


@pytest.mark.parametrize("field", EVENT)
def test_every_field_of_events_wakes_and_is_told_when_it_did_not_come(broker: EmbeddedBroker, field: str) -> None:
    condition, fields = EVENT[field][0], dict(EVENT[field][1])
    with pytest.raises(ConditionTimeoutError, match="no event has matched since the wait began"):
        broker.wait_until(condition, timeout_s=0)
    wait = waiting(broker, condition)
    emit(broker, EventKind.FAULT if field == "redriven" else EventKind.REDRIVEN, topic="another")
    emit(broker, EventKind.ACKNOWLEDGED)
    assert not wait.done or field == "control"
    emit(broker, fields.pop("kind", EventKind.PUBLISHED), **fields)
    assert wait.result().holds


def read(broker: EmbeddedBroker) -> None:
    with GroupConsumer(broker.host, "billing", ["orders"]) as consumer:
        for _ in consumer:
            consumer.commit()
            return


def join(broker: EmbeddedBroker) -> None:
    consumer = GroupConsumer(broker.host, "billing", ["orders"], client_id="one")
    consumer.poll(0)


def share(broker: EmbeddedBroker, topics: tuple[str, ...] = ("orders",)) -> None:
    groups = broker.host.broker.share_groups
    broker.host.admin(lambda now_ns: groups.subscribe(now_ns, "workers", "orders"))
    broker.host.call(lambda now_ns: groups.heartbeat(now_ns, "workers", "m", 0, "one", topics))


def take(broker: EmbeddedBroker, queue: str = "jobs") -> None:
    QueueConsumer(broker.host, queue).take()


def fail(broker: EmbeddedBroker) -> None:
    QueueConsumer(broker.host, "jobs").take().nack("no")  # type: ignore[union-attr]


def publish(topic: str) -> Callable[[EmbeddedBroker], object]:
    return lambda broker: broker.publish(topic, "one")


def one_more_to_share(broker: EmbeddedBroker) -> None:
    share(broker)
    broker.publish("orders", "one")


def begin_transaction(broker: EmbeddedBroker) -> None:
    def begin(now_ns: int) -> None:
        transactions = broker.host.broker.transactions
        identity = transactions.begin_session(now_ns, "pay", 60_000, client="one").result()
        transactions.add_partitions(now_ns, "pay", identity, [("orders", 0)])

    broker.host.call(begin)


Act = Callable[[EmbeddedBroker], object]
# By kind and field: a condition, what is done before the wait, and what makes it hold.
STATE: dict[tuple[str, str], tuple[str, tuple[Act, ...], Act]] = {
    ("group", "kind"): ("kind = group", (), join),
    ("group", "group"): ("group = billing", (), join),
    ("group", "topic"): ("kind = group and topic = orders", (), join),
    ("group", "client"): ("kind = group and client = one", (), join),
    ("group", "state"): ('state("billing") = Stable', (), join),
    ("group", "members"): ("kind = group and members = 1", (), join),
    ("group", "generation"): ("kind = group and generation = 1", (), join),
    ("group", "lag"): ("group = billing and lag = 0", (publish("orders"),), read),
    ("queue", "kind"): ('kind = queue and group = "mail"', (), lambda broker: broker.create_queue("mail")),
    ("queue", "group"): ("group = mail", (), lambda broker: broker.create_queue("mail")),
    ("queue", "topic"): ("kind = queue and topic = mail", (), lambda broker: broker.create_queue("mail")),
    ("queue", "ready"): ('ready("jobs") = 1', (publish("jobs"), fail), lambda broker: broker.clock.advance(60)),
    ("queue", "in_flight"): ("kind = queue and in_flight = 1", (publish("jobs"),), take),
    ("queue", "dead"): (
        "group = jobs and dead = 1",
        (publish("jobs"), fail, lambda broker: broker.clock.advance(60)),
        fail,
    ),
    ("queue", "depth"): ('depth("jobs") = 1', (), publish("jobs")),
    ("queue", "lag"): ("kind = queue and lag = 1", (), publish("jobs")),
    ("topic", "kind"): ("kind = topic and topic = more", (), lambda broker: broker.create_topic("more")),
    ("topic", "topic"): ("topic = more", (), lambda broker: broker.create_topic("more")),
    ("topic", "messages"): ("topic = orders and messages = 1", (), publish("orders")),
    ("topic", "committed"): ("topic = orders and committed = 1", (), publish("orders")),
    ("share_group", "kind"): ("kind = share_group", (), share),
    ("share_group", "group"): ("group = workers", (), share),
    ("share_group", "topic"): ("kind = share_group and topic = orders", (), share),
    ("share_group", "client"): ("kind = share_group and client = one", (), share),
    ("share_group", "state"): ("kind = share_group and state = Stable", (), share),
    ("share_group", "members"): ("members = 1", (), share),
    ("share_group", "in_flight"): (
        "kind = share_group and in_flight = 1",
        (one_more_to_share,),
        lambda broker: take(broker, "workers.orders"),
    ),
    ("share_group", "lag"): ("kind = share_group and lag = 1", (share,), publish("orders")),
    ("group", "transactions"): ("transactions = 1", (), begin_transaction),
}


@pytest.mark.parametrize("case", STATE, ids=" ".join)
def test_every_field_of_the_state_wakes_and_is_told_when_it_did_not_come(
    broker: EmbeddedBroker, case: tuple[str, str]
) -> None:
    condition, before, then = STATE[case]
    for act in before:
        act(broker)
    with pytest.raises(ConditionTimeoutError, match=r"was not met within .*(topic|queue|group) \w+ (has|is) "):
        broker.wait_until(condition, timeout_s=0)
    wait = waiting(broker, condition)
    then(broker)
    assert wait.result().holds


# A broker of our own is one node; tests/broker_core/observation/kafka/test_cluster_changes.py has a cluster's.
OF_CLUSTERS = ("leaderless", "under_replicated", "below_min_insync", "nodes_gone")


@pytest.mark.parametrize("field", OF_CLUSTERS)
def test_one_broker_is_a_cluster_that_lacks_nothing(broker: EmbeddedBroker, field: str) -> None:
    broker.wait_until(f"{field} = 0", timeout_s=0)
    with pytest.raises(ConditionTimeoutError):
        broker.wait_until(f"{field} > 0", timeout_s=0)


def test_every_field_has_its_test() -> None:
    every_kind = {"time", "transactions"}
    asked = {*STATE, *((kind, field) for kind in STATE_FIELDS for field in every_kind)}
    assert {(kind, field) for kind, fields in STATE_FIELDS.items() for field in fields} <= asked
    assert {field.name for field in FIELDS} == {*EVENT, *OF_CLUSTERS, *(field for _, field in asked)}


def test_a_member_of_a_share_group_that_leaves_wakes(broker: EmbeddedBroker) -> None:
    share(broker)
    wait = waiting(broker, "kind = share_group and members = 0")
    groups = broker.host.broker.share_groups
    broker.host.call(lambda now_ns: groups.heartbeat(now_ns, "workers", "m", -1, "one", None))
    assert wait.result().holds


@pytest.mark.parametrize(
    ("condition", "told"),
    [
        ("kind = group and lag == 0", "there is no group; queue jobs has"),
        ("members = 1", "there is no group or share group; queue jobs has"),
    ],
)
def test_it_is_said_that_nothing_has_the_fields_that_are_asked_for(
    broker: EmbeddedBroker, condition: str, told: str
) -> None:
    with pytest.raises(ConditionTimeoutError, match=told):
        broker.wait_until(condition, timeout_s=0)


def test_an_event_before_the_wait_does_not_count(broker: EmbeddedBroker) -> None:
    broker.publish("orders", "one")
    with pytest.raises(ConditionTimeoutError, match="earlier ones do not count"):
        broker.wait_until("kind = published", timeout_s=0)
