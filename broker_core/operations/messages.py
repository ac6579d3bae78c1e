from __future__ import annotations

from typing import Annotated, Any, Self

from msgspec import UNSET, Meta, UnsetType

from broker_core.messages import Headers, Message, StoredMessage
from broker_core.operations.entry import READ, WRITE, Entry, Right, declaring
from broker_core.operations.fields import Client, Encoding, JsonValue, MaxMessages, Name, Offset, Partition, TtlMs
from broker_core.operations.request import Input, Request, Result
from broker_core.operations.values import bytes_of, headers_of, shown, stored_value


class Record(Input, frozen=True, kw_only=True, gc=False):
    """A message to publish. A `value` that is not a string is stored as JSON; with `encoding` base64 it is bytes.

    Without a `partition`, the key decides. The message expires after `ttl_ms`. `priority` 0 is the most urgent; a
    queue refuses a priority that it has no level for.
    """

    value: JsonValue
    key: str | None = None
    headers: Annotated[dict[str, str], Meta(max_length=1_000)] | None = None
    encoding: Encoding = "text"
    partition: Partition | None = None
    ttl_ms: TtlMs | None = None
    priority: Annotated[int, Meta(ge=0, le=255)] = 0

    def message(self) -> Message:
        """The message to store. Raises MALFORMED_REQUEST."""
        headers: Headers = ()
        if self.headers:
            headers = tuple((name, value.encode()) for name, value in self.headers.items())
        value, headers = stored_value(self.value, self.encoding, headers)
        return Message(value, bytes_of(self.key, self.encoding), headers, self.ttl_ms, self.priority)


class PublishBatch(Input, frozen=True, kw_only=True):
    """Messages, published in this order. `timeout_ms` limits how long they wait where a limit blocks."""

    messages: Annotated[list[Record], Meta(min_length=1, max_length=10_000)]
    producer_id: Client = ""
    timeout_ms: Annotated[int, Meta(ge=1, le=60_000)] = 30_000


class Placed(Result, frozen=True, kw_only=True, gc=False):
    """The outcome of one message. `status` is stored, dropped, dead-lettered, or an error code.

    After an error it is not stored and never will be, unless it is `possibly_stored`.
    """

    status: str
    partition: int | None
    offset: int | None
    possibly_stored: bool | UnsetType = UNSET


class BatchPublished(Result, frozen=True, kw_only=True):
    """The outcome of each message, in the order of the request; `failed` counts the errors.

    With `created_partitions` there was no such topic, and the broker has created it with so many partitions.
    """

    count: int
    failed: int
    messages: list[Placed]
    created_partitions: int | UnsetType = UNSET


class MessageAnswer(Result, frozen=True, kw_only=True, gc=False):
    """A stored message. `encoding` is that of value and key; headers that are not text begin with "base64:"."""

    topic: str
    partition: int
    offset: int
    timestamp_ms: int
    key: str | None
    value: JsonValue
    headers: dict[str, str]
    encoding: Encoding

    @classmethod
    def of(cls, stored: StoredMessage, wanted: Encoding = "text", **more: Any) -> Self:
        return cls(
            topic=stored.topic,
            partition=stored.partition,
            offset=stored.offset,
            timestamp_ms=stored.timestamp_ms,
            **shown(stored, wanted),
            **more,
        )

    def stored(self) -> StoredMessage:
        """The message of an answer without JSON values; what no answer says is 0."""
        key, value = bytes_of(self.key, self.encoding), bytes_of(self.value, self.encoding)
        headers = headers_of(self.headers)
        return StoredMessage(self.topic, self.partition, self.offset, self.timestamp_ms, 0, key, value, headers)


class MessagesAnswer(Result, frozen=True, kw_only=True):
    """Messages in order, the offset to read on from, and the end offset."""

    messages: list[MessageAnswer]
    next_offset: int
    end_offset: int

    @property
    def read_messages(self) -> int:
        return len(self.messages)


ENTRIES: list[Entry] = []
_publish = declaring(ENTRIES, mode="parked", served_by="listener", errors=(409,), body="batch")
_entry = declaring(ENTRIES)


@_publish(
    "POST /v1/topics/{topic}/messages",
    "Publish a batch of messages to a topic or a queue",
    tag="Topics",
    rights=(Right(WRITE, "topic or queue", "topic"),),
    called="publish_batch",
    details="The response comes when all messages are as durable as the broker promises. A failed message has its "
    "error in its status; if all fail with the same error, that is the response.",
)
class PublishMessages(Request[BatchPublished], frozen=True, kw_only=True):
    topic: Name
    batch: PublishBatch


@_publish(
    "POST /v1/queues/{queue}/messages",
    "Publish messages to a queue; their priority selects the level",
    tag="Queues",
    rights=(Right(WRITE, "queue", "queue"),),
    called="send",
)
class SendMessages(Request[BatchPublished], frozen=True, kw_only=True):
    queue: Name
    batch: PublishBatch


@_entry(
    "GET /v1/topics/{topic}/partitions/{partition}/messages",
    "Read messages of a partition from an offset on without a consumer; nothing is committed or counted",
    tag="Topics",
    rights=(Right(READ, "topic or queue", "topic"),),
    errors=(409,),
    details="If retention has deleted the offset, reading begins at the start offset.",
)
class ReadMessages(Request[MessagesAnswer], frozen=True, kw_only=True):
    topic: Name
    partition: Partition
    offset: Offset = 0
    max_messages: MaxMessages = 100
    max_bytes: Annotated[int, Meta(ge=1, le=8 * 1_048_576)] = 1_048_576
    encoding: Encoding = "text"
