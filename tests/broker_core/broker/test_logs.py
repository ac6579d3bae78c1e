"""Logs by name: one namespace, and what happens when one goes and comes back."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.errors import BrokerError, ErrorCode
from broker_core.files import FileSystem
from broker_core.flow.config import FlowConfig
from broker_core.log import topic_log
from broker_core.log.partition_log import PartitionLog
from broker_core.queues.config import QueueConfig
from broker_core.schemas.rule import SchemaRule
from tests.broker_core.broker.parts import Parts
from tests.broker_core.clients.virtual_broker import VirtualBroker


def code_of(action: object) -> ErrorCode:
    assert callable(action)
    with pytest.raises(BrokerError) as refused:
        action()
    return refused.value.code


def test_names_are_of_one_namespace_whatever_their_case():
    logs = (parts := Parts()).logs
    parts.topic("orders")
    logs.reserve("audit")
    for taken in ("orders", "Orders", "audit", "AUDIT"):
        assert code_of(lambda name=taken: logs.check_new(name)) is ErrorCode.TOPIC_ALREADY_EXISTS
    assert code_of(lambda: logs.check_new("a b")) is ErrorCode.INVALID_TOPIC
    assert logs.why_taken(("jobs", "audit")) == "another audit exists"
    logs.free("audit")
    logs.check_new("audit")


def test_a_removed_log_is_announced_and_comes_back_with_what_it_holds():
    logs = (parts := Parts()).logs
    topic = parts.topic("orders")
    parts.publish("orders", b"a")
    gone: list[str] = []
    logs.on_removed(lambda each: gone.append(each.name))
    revision = logs.revision
    assert logs.remove(0, "orders") is topic and gone == ["orders"] and "orders" not in logs
    assert code_of(lambda: logs.partition("orders", 0)) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    logs.put_back([topic])
    assert logs.end_offset("orders", 0) == 1
    assert logs.revision == revision + 2


def test_a_dead_letter_queue_is_neither_compacted_nor_does_it_expire():
    parts = Parts()
    log = parts.logs.add_dead_letter_queue("jobs.dlq", "jobs", None)
    assert (log.config.cleanup, log.config.message_ttl_ms) == ("delete", None)
    assert parts.logs.topic("jobs.dlq").owner == "jobs"


def test_a_subscription_to_the_log_of_a_queue_ends_with_that_log():
    broker = (virtual := VirtualBroker(1)).broker
    broker.queues.create(0, "jobs", QueueConfig())
    broker.queues.subscribe(0, "audit", "jobs", QueueConfig())
    virtual.publish(b"a", topic="jobs")
    broker.queues.delete(0, "jobs")
    broker.queues.create(0, "jobs", QueueConfig())
    virtual.publish(b"b", topic="jobs")
    assert (broker.queues.queue("audit").ready, broker.queues.queue("jobs").ready) == (1, 1)
    broker.queues.delete(0, "audit")
    assert "read another jobs, which no longer exists" in broker.recently_deleted.why_not_restored("audit")
    broker.queues.delete(0, "jobs")
    assert broker.queues.names() == ()


@pytest.mark.parametrize("kind", ["queue", "topic"])
def test_what_needs_a_dead_letter_queue_is_not_made_without(kind: str, monkeypatch: pytest.MonkeyPatch):
    def failing(files: FileSystem, directory: str, *arguments: Any, **settings: Any) -> PartitionLog:
        if directory == "jobs.dlq-0":
            raise BrokerError(ErrorCode.STORAGE_ERROR, "the disk is full")
        return PartitionLog(files, directory, *arguments, **settings)

    broker = VirtualBroker(1).broker
    broker.schemas.register(0, "numbers", '{"type": "integer"}')

    def create() -> None:
        if kind == "queue":
            broker.queues.create(0, "jobs", QueueConfig(), flow=FlowConfig(max_messages=1))
        else:
            broker.topics.create(0, "jobs", 1, schema=SchemaRule("numbers", "dead_letter"))

    with monkeypatch.context() as patch:
        patch.setattr(topic_log, "PartitionLog", failing)
        assert code_of(create) is ErrorCode.STORAGE_ERROR
    assert "jobs" not in broker.logs
    create()
    assert broker.queues.dead_letters("jobs").name == "jobs.dlq"
