"""The broker core: a message broker as a library, without Qt, Spark, or a clock of its own.

    import broker_core

    with broker_core.BrokerHost("orders-data") as host, broker_core.Producer(host) as producer:
        broker_core.Admin(host).create_topic("orders", partitions=6)
        producer.publish("orders", b"one book", key=b"customer-7")

What is listed in `__all__` is the public face; each name is imported when it is first asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from broker_core.broker import Published
    from broker_core.clients.admin import Admin
    from broker_core.clients.batches import Receipt, Sent
    from broker_core.clients.chain import Chain
    from broker_core.clients.effects import SqliteEffects, resume_from
    from broker_core.clients.group_consumer import GroupConsumer
    from broker_core.clients.membership import ConsumerConfig
    from broker_core.clients.middleware import Dedupe, Filter, Logging, Middleware, Routing, Timestamp, Transform
    from broker_core.clients.producer import Producer
    from broker_core.clients.producer_config import ProducerConfig
    from broker_core.clients.queue_consumer import Delivery, QueueConsumer
    from broker_core.clients.remote.broker import RemoteBroker
    from broker_core.clients.remote.config import RemoteConfig
    from broker_core.clients.schema_admin import SchemaAdmin
    from broker_core.clients.serializers import (
        AvroSerializer,
        BytesSerializer,
        JsonSchemaSerializer,
        JsonSerializer,
        MessagePackSerializer,
        StringSerializer,
    )
    from broker_core.clients.simple_queue import SimpleQueue
    from broker_core.doors.kafka.listener import KafkaListener
    from broker_core.engine.host import BrokerHost, HostConfig
    from broker_core.errors import BrokerError, ErrorCode
    from broker_core.events import Event, EventKind
    from broker_core.flow.config import FlowConfig
    from broker_core.groups.offset_reset import Change, Target
    from broker_core.log.config import LogConfig
    from broker_core.messages import Message, StoredMessage
    from broker_core.queues.config import QueueConfig
    from broker_core.queues.dead_letter_edit import DeadLetterEdit
    from broker_core.queues.dead_letter_filter import DeadLetterFilter
    from broker_core.queues.retry import RetryPolicy
    from broker_core.schemas.compatibility import Compatibility, SchemaKind
    from broker_core.schemas.registry import SchemaRegistry
    from broker_core.schemas.rule import SchemaRule

__all__ = [
    "Admin",
    "AvroSerializer",
    "BrokerError",
    "BrokerHost",
    "BytesSerializer",
    "Chain",
    "Change",
    "Compatibility",
    "ConsumerConfig",
    "DeadLetterEdit",
    "DeadLetterFilter",
    "Dedupe",
    "Delivery",
    "ErrorCode",
    "Event",
    "EventKind",
    "Filter",
    "FlowConfig",
    "GroupConsumer",
    "HostConfig",
    "JsonSchemaSerializer",
    "JsonSerializer",
    "KafkaListener",
    "LogConfig",
    "Logging",
    "Message",
    "MessagePackSerializer",
    "Middleware",
    "Producer",
    "ProducerConfig",
    "Published",
    "QueueConfig",
    "QueueConsumer",
    "Receipt",
    "RemoteBroker",
    "RemoteConfig",
    "RetryPolicy",
    "Routing",
    "SchemaAdmin",
    "SchemaKind",
    "SchemaRegistry",
    "SchemaRule",
    "Sent",
    "SimpleQueue",
    "SqliteEffects",
    "StoredMessage",
    "StringSerializer",
    "Target",
    "Timestamp",
    "Transform",
    "resume_from",
]

_ROOMS = {
    "broker": ("Published",),
    "clients.admin": ("Admin",),
    "clients.batches": ("Receipt", "Sent"),
    "clients.chain": ("Chain",),
    "clients.effects": ("SqliteEffects", "resume_from"),
    "clients.group_consumer": ("GroupConsumer",),
    "clients.membership": ("ConsumerConfig",),
    "clients.middleware": ("Dedupe", "Filter", "Logging", "Middleware", "Routing", "Timestamp", "Transform"),
    "clients.producer": ("Producer",),
    "clients.queue_consumer": ("Delivery", "QueueConsumer"),
    "clients.remote.broker": ("RemoteBroker",),
    "clients.remote.config": ("RemoteConfig",),
    "clients.schema_admin": ("SchemaAdmin",),
    "clients.producer_config": ("ProducerConfig",),
    "clients.serializers": (
        "AvroSerializer",
        "BytesSerializer",
        "JsonSchemaSerializer",
        "JsonSerializer",
        "MessagePackSerializer",
        "StringSerializer",
    ),
    "clients.simple_queue": ("SimpleQueue",),
    "doors.kafka.listener": ("KafkaListener",),
    "engine.host": ("BrokerHost", "HostConfig"),
    "errors": ("BrokerError", "ErrorCode"),
    "events": ("Event", "EventKind"),
    "flow.config": ("FlowConfig",),
    "groups.offset_reset": ("Change", "Target"),
    "log.config": ("LogConfig",),
    "messages": ("Message", "StoredMessage"),
    "queues.config": ("QueueConfig",),
    "queues.dead_letter_edit": ("DeadLetterEdit",),
    "queues.dead_letter_filter": ("DeadLetterFilter",),
    "queues.retry": ("RetryPolicy",),
    "schemas.compatibility": ("Compatibility", "SchemaKind"),
    "schemas.registry": ("SchemaRegistry",),
    "schemas.rule": ("SchemaRule",),
}
_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names}


def __getattr__(name: str) -> Any:
    room = _ROOM_OF.get(name)
    if room is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{room}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
