"""The broker core: a message broker as a library, without Qt, Spark, or a clock of its own.

    import broker_core

    with broker_core.BrokerHost("orders-data") as host, broker_core.Producer(host) as producer:
        broker_core.Admin(host).create_topic("orders", partitions=6)
        producer.publish("orders", b"one book", key=b"customer-7")

The public interface is `__all__`. Each name is imported on first access.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from broker_core.broker.publishing import Published
    from broker_core.broker.views import SlowReader
    from broker_core.clients.admin import Admin, RunningRedrive
    from broker_core.clients.batches import Receipt, Sent
    from broker_core.clients.chain import Chain, Passage
    from broker_core.clients.effects import SqliteEffects, resume_from
    from broker_core.clients.group_consumer import GroupConsumer
    from broker_core.clients.host import Host
    from broker_core.clients.http_broker import HttpBroker
    from broker_core.clients.membership import ConsumerConfig
    from broker_core.clients.middleware import (
        Context,
        Dedupe,
        Filter,
        Logging,
        Middleware,
        Routing,
        Timestamp,
        Transform,
    )
    from broker_core.clients.producer import Producer
    from broker_core.clients.producer_config import ProducerConfig
    from broker_core.clients.queue_consumer import Delivery, QueueConsumer
    from broker_core.clients.schema_admin import SchemaAdmin
    from broker_core.clients.serializer import Serializer
    from broker_core.clients.serializers import (
        AvroSerializer,
        BytesSerializer,
        JsonSchemaSerializer,
        JsonSerializer,
        MessagePackSerializer,
        StringSerializer,
    )
    from broker_core.clients.simple_queue import Consumption, Persisted, SimpleQueue
    from broker_core.closable import Closable
    from broker_core.engine.host import BrokerHost, HostConfig
    from broker_core.errors import BrokerError, ErrorCode
    from broker_core.events import Event, EventKind
    from broker_core.flow.adaptive import AdaptiveConfig
    from broker_core.flow.config import FlowConfig
    from broker_core.groups.config import GroupConfig
    from broker_core.groups.offset_reset import Change, Target
    from broker_core.listeners.access.access import Access, Principal, PrincipalEntry, Rule
    from broker_core.listeners.access.limits import GuardConfig
    from broker_core.listeners.access.tls import TlsConfig
    from broker_core.listeners.connections import ApiView, Connection, Connections, ConnectionView, RequestView
    from broker_core.listeners.kafka.listener import KafkaListener
    from broker_core.log.config import LogConfig
    from broker_core.messages import Message, StoredMessage
    from broker_core.operations.request import Request
    from broker_core.operations.rights import Operation
    from broker_core.queues.config import QueueConfig
    from broker_core.queues.dead_letter_edit import DeadLetterEdit
    from broker_core.queues.dead_letter_filter import DeadLetterFilter
    from broker_core.queues.dead_letters import (
        PurgeResult,
        Redrivable,
        Redriven,
        RedrivePreview,
        RedriveResult,
        Refused,
    )
    from broker_core.queues.lease import Lease
    from broker_core.queues.retry import RetryPolicy
    from broker_core.replies import Reply
    from broker_core.schemas.avro_schema import AvroSchema
    from broker_core.schemas.compatibility import Compatibility, SchemaKind, SchemaProblem
    from broker_core.schemas.diff import SchemaChange
    from broker_core.schemas.json_schema import JsonSchema
    from broker_core.schemas.problem import Problem
    from broker_core.schemas.registry import RegistryState, SchemaRegistry, SchemaVersion, SubjectState
    from broker_core.schemas.rule import SchemaRule
    from broker_core.snapshots import (
        AttemptView,
        DeadLetterView,
        GateView,
        GroupView,
        LeaseView,
        MemberView,
        OffsetView,
        PartitionView,
        QueueView,
        RetryView,
        TopicView,
        Totals,
        WaitView,
    )

__all__ = [
    "Access",
    "AdaptiveConfig",
    "Admin",
    "ApiView",
    "AttemptView",
    "AvroSchema",
    "AvroSerializer",
    "BrokerError",
    "BrokerHost",
    "BytesSerializer",
    "Chain",
    "Change",
    "Closable",
    "Compatibility",
    "Connection",
    "ConnectionView",
    "Connections",
    "ConsumerConfig",
    "Consumption",
    "Context",
    "DeadLetterEdit",
    "DeadLetterFilter",
    "DeadLetterView",
    "Dedupe",
    "Delivery",
    "ErrorCode",
    "Event",
    "EventKind",
    "Filter",
    "FlowConfig",
    "GateView",
    "GroupConfig",
    "GroupConsumer",
    "GroupView",
    "GuardConfig",
    "Host",
    "HostConfig",
    "HttpBroker",
    "JsonSchema",
    "JsonSchemaSerializer",
    "JsonSerializer",
    "KafkaListener",
    "Lease",
    "LeaseView",
    "LogConfig",
    "Logging",
    "MemberView",
    "Message",
    "MessagePackSerializer",
    "Middleware",
    "OffsetView",
    "Operation",
    "PartitionView",
    "Passage",
    "Persisted",
    "Principal",
    "PrincipalEntry",
    "Problem",
    "Producer",
    "ProducerConfig",
    "Published",
    "PurgeResult",
    "QueueConfig",
    "QueueConsumer",
    "QueueView",
    "Receipt",
    "Redrivable",
    "RedrivePreview",
    "RedriveResult",
    "Redriven",
    "Refused",
    "RegistryState",
    "Reply",
    "Request",
    "RequestView",
    "RetryPolicy",
    "RetryView",
    "Routing",
    "Rule",
    "RunningRedrive",
    "SchemaAdmin",
    "SchemaChange",
    "SchemaKind",
    "SchemaProblem",
    "SchemaRegistry",
    "SchemaRule",
    "SchemaVersion",
    "Sent",
    "Serializer",
    "SimpleQueue",
    "SlowReader",
    "SqliteEffects",
    "StoredMessage",
    "StringSerializer",
    "SubjectState",
    "Target",
    "Timestamp",
    "TlsConfig",
    "TopicView",
    "Totals",
    "Transform",
    "WaitView",
    "resume_from",
]

_EXPORTS = {
    "broker.publishing": ("Published",),
    "broker.views": ("SlowReader",),
    "clients.admin": (
        "Admin",
        "RunningRedrive",
    ),
    "clients.batches": (
        "Receipt",
        "Sent",
    ),
    "clients.chain": (
        "Chain",
        "Passage",
    ),
    "clients.effects": (
        "SqliteEffects",
        "resume_from",
    ),
    "clients.group_consumer": ("GroupConsumer",),
    "clients.host": ("Host",),
    "clients.http_broker": ("HttpBroker",),
    "clients.membership": ("ConsumerConfig",),
    "clients.middleware": (
        "Context",
        "Dedupe",
        "Filter",
        "Logging",
        "Middleware",
        "Routing",
        "Timestamp",
        "Transform",
    ),
    "clients.producer": ("Producer",),
    "clients.producer_config": ("ProducerConfig",),
    "clients.queue_consumer": (
        "Delivery",
        "QueueConsumer",
    ),
    "clients.schema_admin": ("SchemaAdmin",),
    "clients.serializer": ("Serializer",),
    "clients.serializers": (
        "AvroSerializer",
        "BytesSerializer",
        "JsonSchemaSerializer",
        "JsonSerializer",
        "MessagePackSerializer",
        "StringSerializer",
    ),
    "clients.simple_queue": (
        "Consumption",
        "Persisted",
        "SimpleQueue",
    ),
    "listeners.connections": (
        "ApiView",
        "Connection",
        "ConnectionView",
        "Connections",
        "RequestView",
    ),
    "listeners.access.access": (
        "Access",
        "Principal",
        "PrincipalEntry",
        "Rule",
    ),
    "listeners.access.limits": ("GuardConfig",),
    "listeners.access.tls": ("TlsConfig",),
    "listeners.kafka.listener": ("KafkaListener",),
    "engine.host": (
        "BrokerHost",
        "HostConfig",
    ),
    "closable": ("Closable",),
    "errors": (
        "BrokerError",
        "ErrorCode",
    ),
    "events": (
        "Event",
        "EventKind",
    ),
    "flow.adaptive": ("AdaptiveConfig",),
    "flow.config": ("FlowConfig",),
    "groups.config": ("GroupConfig",),
    "groups.offset_reset": (
        "Change",
        "Target",
    ),
    "log.config": ("LogConfig",),
    "operations.request": ("Request",),
    "operations.rights": ("Operation",),
    "messages": (
        "Message",
        "StoredMessage",
    ),
    "queues.config": ("QueueConfig",),
    "queues.dead_letter_edit": ("DeadLetterEdit",),
    "queues.dead_letter_filter": ("DeadLetterFilter",),
    "queues.dead_letters": (
        "PurgeResult",
        "Redrivable",
        "RedrivePreview",
        "RedriveResult",
        "Redriven",
        "Refused",
    ),
    "queues.lease": ("Lease",),
    "queues.retry": ("RetryPolicy",),
    "replies": ("Reply",),
    "schemas.avro_schema": ("AvroSchema",),
    "schemas.compatibility": (
        "Compatibility",
        "SchemaKind",
        "SchemaProblem",
    ),
    "schemas.diff": ("SchemaChange",),
    "schemas.json_schema": ("JsonSchema",),
    "schemas.problem": ("Problem",),
    "schemas.registry": (
        "RegistryState",
        "SchemaRegistry",
        "SchemaVersion",
        "SubjectState",
    ),
    "schemas.rule": ("SchemaRule",),
    "snapshots": (
        "AttemptView",
        "DeadLetterView",
        "GateView",
        "GroupView",
        "LeaseView",
        "MemberView",
        "OffsetView",
        "PartitionView",
        "QueueView",
        "RetryView",
        "TopicView",
        "Totals",
        "WaitView",
    ),
}
_MODULE_OF = {name: module for module, names in _EXPORTS.items() for name in names}


def __getattr__(name: str) -> Any:
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{module}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
