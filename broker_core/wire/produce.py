"""Publishing: record batches that the client has encoded, and that the log stores as they are."""

from __future__ import annotations

from typing import Literal

from broker_core.wire.body import Body, Int32, Millis, Name


class InitProducer(Body, frozen=True):
    """An id for an idempotent producer; that of `name` at its next epoch, where it has a name."""

    name: Name


class ProducerIdentity(Body, frozen=True):
    """With these two it stamps its batches."""

    producer_id: int
    epoch: int


class ProducedBatch(Body, frozen=True):
    """One record batch, format v2 without compression, base offset 0, with the stamp of its producer in its header."""

    topic: Name
    partition: Int32
    batch: memoryview


class Produce(Body, frozen=True):
    """`client` is the producer's name. Waiting for room ends after `timeout_ms`, or sooner as the flow policy says.

    With acks "all" the reply comes when the messages are as durable as their topics promise, with 1 when they are in
    the log, with 0 at once.
    """

    client: Name
    acks: Literal[0, 1, "all"]
    timeout_ms: Millis
    batches: tuple[ProducedBatch, ...]


class Produced(Body, frozen=True):
    """What became of one batch: where it was stored, or an error. Dropped by the flow policy: an offset of -1.

    `throttle_ms` says how long to wait before the next one.
    """

    topic: str
    partition: int
    offset: int
    count: int
    missed_by: tuple[str, ...] = ()
    error: int = 0
    about: str = ""
    throttle_ms: int = 0


class ProduceReply(Body, frozen=True):
    """One for each batch, in order. `revision` is that of `Metadata`."""

    revision: int
    results: tuple[Produced, ...]


class LeaveProducer(Body, frozen=True):
    """`client` publishes no more: what it has waiting for room is given up."""

    client: Name
