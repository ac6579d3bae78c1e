from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from broker_core.operations import fields
from broker_core.operations.request import Result

# Shorter than the usual timeout of HTTP clients, so that they get an answer: 429, and try again.
PRODUCE_TIMEOUT_MS = 2_000

TimeoutMs = Annotated[int, Meta(ge=0, le=60_000, description="How long to wait if there are no messages, or no room")]


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """A body. What is not known in it is passed over, as the mini broker does."""


class Welcome(Result, frozen=True, kw_only=True):
    message: str


class Health(Result, frozen=True, kw_only=True):
    status: Literal["ok"] = "ok"


class RegisterTopic(Asked, frozen=True, kw_only=True):
    """A topic that is to be there; `partitions` counts for a new one."""

    topic: fields.NewName
    partitions: fields.PartitionCount = 1


class TopicRegistered(Result, frozen=True, kw_only=True):
    status: str
    topic: str


class RegisterProducer(Asked, frozen=True, kw_only=True):
    topic: fields.NewName
    producer_id: fields.Client | None = None


class ProducerRegistered(TopicRegistered, frozen=True, kw_only=True):
    """The producer's id, made up if none was given."""

    producer_id: str


class RegisterConsumer(Asked, frozen=True, kw_only=True):
    """A consumer of a topic, which is created if it is missing.

    With `reset` it begins again at the start. Without `auto_commit` it says by /commit what it has done, and gets the
    rest again after a restart of the broker.
    """

    topic: fields.NewName
    consumer_id: fields.Name | None = None
    reset: bool = False
    auto_commit: bool = True


class ConsumerRegistered(TopicRegistered, frozen=True, kw_only=True):
    """The consumer's id, made up if none was given."""

    consumer_id: str


class Produce(Asked, frozen=True, kw_only=True):
    """One message. A `value` that is no string is stored as JSON; with `encoding` base64, value and key are bytes.

    It waits `timeout_ms` for room in a topic that blocks.
    """

    topic: fields.Name
    value: fields.JsonValue
    key: str | None = None
    encoding: fields.Encoding = "text"
    partition: fields.Partition | None = None
    producer_id: fields.Client = ""
    timeout_ms: TimeoutMs = PRODUCE_TIMEOUT_MS


class Produced(Result, frozen=True, kw_only=True):
    """Where the message is. `status` is ok; dropped (by the topic's flow policy); or dead-lettered (by its schema)."""

    status: Literal["ok", "dropped", "dead-lettered"]
    offset: int | None
    partition: int | None


class Consume(Asked, frozen=True, kw_only=True):
    """The next message, or, with `max_messages`, a list of them; it waits `timeout_ms` for one to come."""

    consumer_id: fields.Name
    max_messages: fields.MaxMessages | None = None
    timeout_ms: TimeoutMs = 0
    encoding: fields.Encoding = "text"


class Consumed(Result, frozen=True, kw_only=True):
    """A message. `encoding` is there where value and key are Base64; `partition` if the topic has several."""

    topic: str
    offset: int
    value: fields.JsonValue
    key: str | None
    encoding: fields.Encoding | UnsetType = UNSET
    partition: int | UnsetType = UNSET


class ConsumedMany(Result, frozen=True, kw_only=True):
    messages: list[Consumed]


class Commit(Asked, frozen=True, kw_only=True):
    """Everything that the consumer was given is done; or, with `offset`, everything below it in `partition`."""

    consumer_id: fields.Name
    offset: fields.Offset | None = None
    partition: fields.Partition = 0


class Committed(Result, frozen=True, kw_only=True):
    """On the disk, as durable as the broker is: the offset that is read next, by partition."""

    status: Literal["ok"] = "ok"
    consumer_id: str
    offsets: dict[str, int]


class ConsumerStats(Result, frozen=True, kw_only=True):
    """How many messages the consumer has got past: with one partition, the offset that it reads next."""

    topic: str
    offset: int


class Stats(Result, frozen=True, kw_only=True):
    topics: dict[str, fields.Count]
    consumers: dict[str, ConsumerStats]
