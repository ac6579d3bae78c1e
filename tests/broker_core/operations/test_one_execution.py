"""Whoever asks for an operation, the broker's handler executes it: what happens is the same."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest

import broker_core
from broker_core import BrokerHost, Event, Request
from broker_core.broker import handlers
from broker_core.broker.broker import Broker
from broker_core.clients.http_broker import HttpBroker
from broker_core.clock import NS_PER_MS
from broker_core.events import EventKind
from broker_core.flow.config import FlowConfig
from broker_core.listeners.http.listener import HttpListener
from broker_core.listeners.kafka.listener import KafkaListener
from broker_core.messages import Message, OffsetAndMetadata
from broker_core.operations.groups import (
    ConfigureGroup,
    DeleteGroup,
    ForgetOffsets,
    ForgetShareOffsets,
    GroupChanges,
    PartitionPlace,
    ResetOffsets,
    ResetShareOffsets,
    SubscribeShareGroup,
)
from broker_core.operations.queues import CreateQueue, DeleteQueue, PurgeQueue, SettleLease, UndoPurgeQueue
from broker_core.operations.topics import (
    AddPartitions,
    ConfigureTopic,
    CreateTopic,
    DeleteRecords,
    DeleteTopic,
    LogSettings,
)
from broker_core.simulation.actions import groups, queues, topics
from broker_core.simulation.scenario import Scenario
from broker_core.simulation.simulation import Simulation
from tests.broker_core.listeners.kafka.raw import KEYS, asked

ACTIONS: dict[type[Any], type[Any]] = {
    CreateTopic: topics.CreateTopic,
    ConfigureTopic: topics.ConfigureTopic,
    AddPartitions: topics.AddPartitions,
    DeleteRecords: topics.DeleteRecords,
    DeleteTopic: topics.DeleteTopic,
    ResetOffsets: groups.ResetOffsets,
    DeleteGroup: groups.DeleteGroup,
    CreateQueue: queues.CreateQueue,
    PurgeQueue: queues.PurgeQueue,
    UndoPurgeQueue: queues.UndoPurgeQueue,
    DeleteQueue: queues.DeleteQueue,
}
Ask = Callable[[Request[Any]], object]


@contextmanager
def in_process() -> Iterator[tuple[Broker, Ask]]:
    with BrokerHost() as host:
        yield host.broker, host.ask


@contextmanager
def by_http() -> Iterator[tuple[Broker, Ask]]:
    with BrokerHost() as host, HttpListener(host) as listener, HttpBroker(listener.url) as elsewhere:
        yield host.broker, elsewhere.ask


@contextmanager
def by_kafka() -> Iterator[tuple[Broker, Ask]]:
    with BrokerHost() as host, KafkaListener(host, port=0) as listener:

        def ask(request: Request[Any]) -> None:
            api, version, body = _of_kafka(request)
            answer = str(asked(listener.port, KEYS[api], version, body))
            assert "error_code=<ErrorCode.none: 0>" in answer or "error_code=0" in answer, answer

        yield host.broker, ask


def _of_kafka(request: Request[Any]) -> tuple[str, int, dict[str, Any]]:
    match request:
        case CreateTopic():
            configs = [{"name": "retention.ms", "value": str(request.log.retention_ms)}]
            topic = {
                "name": request.name,
                "num_partitions": request.partitions,
                "replication_factor": 1,
                "configs": configs,
            }
            return "CreateTopics", 7, {"topics": [topic]}
        case ConfigureTopic():
            change = {"name": "retention.ms", "config_operation": 0, "value": str(request.log.retention_ms)}
            resource = {"resource_type": 2, "resource_name": request.topic, "configs": [change]}
            return "IncrementalAlterConfigs", 1, {"resources": [resource]}
        case AddPartitions():
            return "CreatePartitions", 3, {"topics": [{"name": request.topic, "count": request.total}]}
        case DeleteRecords():
            parts = [{"partition_index": int(number), "offset": offset} for number, offset in request.before.items()]
            return "DeleteRecords", 2, {"topics": [{"name": request.topic, "partitions": parts}]}
        case DeleteTopic():
            return "DeleteTopics", 6, {"topics": [{"name": request.topic}]}
        case DeleteGroup():
            return "DeleteGroups", 2, {"groups_names": [request.group]}
        case ForgetOffsets():
            parts = [{"partition_index": each.partition or 0} for each in request.partitions]
            body = {"topics": [{"name": request.partitions[0].topic, "partitions": parts}]}
            return "OffsetDelete", 0, {"group_id": request.group, **body}
        case ConfigureGroup():
            value = str(request.settings.delivery_count_limit)
            change = {"name": "share.delivery.count.limit", "config_operation": 0, "value": value}
            resource = {"resource_type": 32, "resource_name": request.group, "configs": [change]}
            return "IncrementalAlterConfigs", 1, {"resources": [resource]}
        case ResetShareOffsets():
            part = {"partition_index": request.partition, "start_offset": request.offset}
            body = {"topics": [{"topic_name": request.topic, "partitions": [part]}]}
            return "AlterShareGroupOffsets", 0, {"group_id": request.group, **body}
        case ForgetShareOffsets():
            body = {"topics": [{"topic_name": request.topic}]}
            return "DeleteShareGroupOffsets", 0, {"group_id": request.group, **body}
    raise AssertionError(type(request).__name__)


@contextmanager
def in_a_session() -> Iterator[tuple[Broker, Ask]]:
    simulation = Simulation(Scenario(title="One", about="", until_s=1, durability="memory"))
    simulation.start()

    def ask(request: Request[Any]) -> None:
        fields = {name: getattr(request, name) for name in request.__struct_fields__}
        known = ACTIONS.get(type(request))
        action: Any = request if known is None else known(**fields)
        simulation.perform(action)

    yield simulation.broker, ask
    simulation.close()


LIFE: list[Request[Any]] = [
    CreateTopic(name="orders", partitions=2, log=LogSettings(retention_ms=5_000)),
    AddPartitions(topic="orders", total=3),
    ConfigureTopic(topic="orders", log=LogSettings(retention_ms=900_000)),
    DeleteRecords(topic="orders", before={"0": 2}),
    DeleteGroup(group="billing"),
    DeleteTopic(topic="orders"),
]
OF_GROUPS: list[Request[Any]] = [
    CreateTopic(name="tasks", partitions=2, log=LogSettings(retention_ms=5_000)),
    ForgetOffsets(group="billing", partitions=[PartitionPlace(topic="tasks", partition=0)]),
    ConfigureGroup(group="workers", settings=GroupChanges(delivery_count_limit=3)),
    ResetShareOffsets(group="workers", topic="tasks", partition=0, offset=1),
    ForgetShareOffsets(group="workers", topic="tasks"),
]
NOT_KAFKAS: list[Request[Any]] = [
    CreateTopic(name="bills", flow=FlowConfig(max_messages=5)),
    ConfigureTopic(topic="bills", flow=FlowConfig(max_messages=9, policy="reject")),
    CreateQueue(name="mail"),
    PurgeQueue(queue="mail"),
    UndoPurgeQueue(queue="mail"),
    DeleteQueue(queue="mail"),
]


def lived(entrance: Callable[[], Any], requests: list[Request[Any]]) -> list[tuple[Any, ...]]:
    """What the events say after each of `requests`, and what there is then."""
    happened: list[Event] = []
    found = []
    with entrance() as (broker, ask):
        broker._events.attach(happened.append)
        for request in requests:
            ask(request)
            told = [_told(event) for event in happened if _of_the_broker(event)]
            found.append((type(request).__name__, told, _state(broker)))
            _use(broker, request)
            happened.clear()
    return found


def _of_the_broker(event: Event) -> bool:
    """Left out: connections, and what a session says of its user."""
    of_user = event.kind is EventKind.USER_ACTION and "action" in (event.detail or {})
    return not of_user and event.kind not in {EventKind.CLIENT_STARTED, EventKind.CLIENT_STOPPED}


def _told(event: Event) -> dict[str, Any]:
    told = msgspec.to_builtins(event)
    return {name: value for name, value in told.items() if name not in {"seq", "time_ns", "client", "member"}}


def _state(broker: Broker) -> Any:
    catalog = msgspec.to_builtins(broker.catalog())
    for entry in (*catalog["topics"], *catalog["queues"]):
        del entry["id"]
    for entry in (*catalog["topics"], *catalog["share_groups"]):
        del entry["kafka_settings"]  # how a Kafka client has written them
    starts = [[log.start_offset for log in topic.log.partitions] for topic in broker.logs]
    return catalog, starts, broker.groups.groups()


def _use(broker: Broker, request: Request[Any]) -> None:
    """There are messages to delete, and a group that has read them."""
    if isinstance(request, CreateTopic | CreateQueue):
        messages = [Message(b"one"), Message(b"two")]
        broker.publishing.publish_batch(NS_PER_MS, request.name, 0, messages, client="test")
    if isinstance(request, CreateTopic):
        if request.name == "tasks":
            broker.handle(NS_PER_MS, SubscribeShareGroup(group="workers", topic=request.name))
        broker.groups.commit(NS_PER_MS, "billing", "", -1, {(request.name, 0): OffsetAndMetadata(1)})


@pytest.mark.parametrize("entrance", [by_http, by_kafka, in_a_session])
def test_a_topic_and_a_group_live_alike_whoever_asks(entrance: Callable[[], Any]):
    assert lived(entrance, LIFE) == lived(in_process, LIFE)


@pytest.mark.parametrize("entrance", [by_http, by_kafka])
def test_groups_settings_and_offsets_are_alike_whoever_asks(entrance: Callable[[], Any]):
    """A share group is there by its subscription, which a Kafka client's first member makes by the same request."""
    assert lived(entrance, OF_GROUPS) == lived(in_process, OF_GROUPS)


@pytest.mark.parametrize("act", ["ack", "nack", "dead-letter", "release", "extend"])
def test_one_message_in_flight_is_settled_alike_in_the_window_and_by_http(act: str):
    """The window's actions are of older recordings; what they do is the operation."""

    def settled(entrance: Callable[[], Any], ask_for: Callable[[SettleLease], Request[Any]]) -> Any:
        happened: list[Event] = []
        with entrance() as (broker, ask):
            ask(CreateQueue(name="mail"))
            broker.publishing.publish(NS_PER_MS, "mail", Message(b"one"), client="test")
            broker.queues.take(NS_PER_MS, "mail", "worker")
            broker._events.attach(happened.append)
            lease = {"queue": "mail", "partition": 0, "offset": 0, "holder": "worker", "attempt": 1}
            ask(ask_for(SettleLease(**lease, act=act, cause="by hand")))  # type: ignore[arg-type]
            view = broker.views.queue(NS_PER_MS, "mail", 0, 0)
            told = [_told(event) for event in happened if _of_the_broker(event)]
            causes = [(row["kind"], row["cause"]) for row in told]
            return causes, view.ready, view.in_flight, view.acknowledged, view.dead

    def action(request: SettleLease) -> Any:
        place = {name: getattr(request, name) for name in ("queue", "partition", "offset", "holder", "attempt")}
        match act:
            case "ack":
                return queues.AckLease(**place)
            case "release":
                return queues.ReleaseLease(**place)
            case "extend":
                return queues.ExtendLease(**place)
        return queues.NackLease(**place, cause="by hand", requeue=act == "nack")

    wanted = settled(in_process, lambda request: request)
    assert settled(by_http, lambda request: request) == wanted
    assert (
        settled(in_a_session, lambda request: action(request) if isinstance(request, SettleLease) else request)
        == wanted
    )


@pytest.mark.parametrize("entrance", [by_http, in_a_session])
def test_limits_and_queues_are_alike_whoever_asks(entrance: Callable[[], Any]):
    assert lived(entrance, NOT_KAFKAS) == lived(in_process, NOT_KAFKAS)


def test_share_groups_go_by_the_request_for_groups_and_their_queues_with_topics(tmp_path: Path):
    with BrokerHost(tmp_path) as host:
        host.ask(CreateTopic(name="orders"))
        for group in ("workers", "packers"):
            host.admin(partial(host.broker.share_groups.subscribe, group=group, topic="orders"))
        host.ask(DeleteGroup(group="workers"))
        host.crash()
    with BrokerHost(tmp_path) as host:
        assert host.broker.share_groups.names() == ("packers",)
        host.ask(DeleteTopic(topic="orders"))
        assert host.broker.queues.names() == ()
        assert host.broker.share_groups.names() == ("packers",), "as in Kafka"


# -- nobody goes around the handlers

#: They only look.
LOOKS = {"view", "views", "snapshot", "unix_ms", "wait"}


def last_name(node: ast.expr) -> str:
    """`queues` of broker.queues, and of broker.queues(name)."""
    if isinstance(node, ast.Call):
        return last_name(node.func)
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def executed_in(path: Path) -> set[tuple[str, str]]:
    """(part of the broker, method) of the calls in a file of handlers that are given the time."""
    return {
        (last_name(call.func.value), call.func.attr)
        for call in ast.walk(ast.parse(path.read_text()))
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
        if call.args and isinstance(call.args[0], ast.Name) and call.args[0].id == "now_ns"
    }


def test_only_handlers_execute_operations():
    of_handlers = set().union(*map(executed_in, Path(handlers.__file__).parent.glob("*.py")))
    executed = {(part, method) for part, method in of_handlers if part != "views" and method not in LOOKS}
    assert {("topics", "create"), ("groups", "delete"), ("queue", "purge"), ("access", "put")} <= executed
    a_call = re.compile("|".join(rf"\b{part}(\([^()]*\))?\.{method}\b" for part, method in sorted(executed)))
    core = Path(broker_core.__file__).parent
    around = [
        f"{path}: {found[0]}"
        for package in (core, core.parent / "app")
        for path in package.rglob("*.py")
        if core / "broker" not in path.parents
        for found in a_call.finditer(path.read_text())
    ]
    assert around == []
