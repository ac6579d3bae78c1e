"""What a partition remembers of idempotent producers, so that a retry is neither lost nor stored twice (KIP-98)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

import msgspec

from broker_core.clock import NS_PER_MS
from broker_core.errors import BrokerError, ErrorCode
from broker_core.log.batch import SEQUENCES, ProducerStamp
from broker_core.log.checkpoint import StoredProducer

REMEMBERED_BATCHES = 5  # Kafka's: as many as a producer may have in flight
FORGOTTEN_AFTER_NS = 86_400 * 1_000_000_000  # Kafka's default of producer.id.expiration.ms


class RememberedBatch(msgspec.Struct, frozen=True, gc=False):
    """A batch that a producer has sent: its sequence numbers and where it was stored."""

    sequence: int
    count: int
    base_offset: int
    published_ns: int

    @property
    def end_offset(self) -> int:
        """The offset after its last message."""
        return self.base_offset + self.count


class ProducerState:
    """The epoch of one producer and its last batches, oldest first."""

    __slots__ = ("batches", "epoch")

    def __init__(self, epoch: int) -> None:
        self.epoch = epoch
        self.batches: deque[RememberedBatch] = deque(maxlen=REMEMBERED_BATCHES)


class ProducerStates:
    """All producers that a partition knows."""

    def __init__(self) -> None:
        self._by_id: dict[int, ProducerState] = {}

    def duplicate(self, stamp: ProducerStamp, count: int) -> RememberedBatch | None:
        """The stored batch that this one repeats, or None where it is the next one.

        Raises INVALID_PRODUCER_EPOCH for an older epoch and OUT_OF_ORDER_SEQUENCE_NUMBER for a gap or a repetition of
        what is no longer remembered. A producer that is not known, or no longer, may start anywhere; a new epoch
        starts at 0.
        """
        state = self._by_id.get(stamp.producer_id)
        if state is None:
            return None
        if stamp.epoch < state.epoch:
            raise BrokerError(
                ErrorCode.INVALID_PRODUCER_EPOCH,
                f"producer {stamp.producer_id} sent epoch {stamp.epoch}, but is at {state.epoch}",
            )
        expected = 0
        if stamp.epoch == state.epoch:
            for batch in state.batches:
                if batch.sequence == stamp.sequence and batch.count == count:
                    return batch
            if state.batches:
                last = state.batches[-1]
                expected = (last.sequence + last.count) % SEQUENCES
        if stamp.sequence != expected:
            raise BrokerError(
                ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
                f"producer {stamp.producer_id} sent {stamp.sequence} where {expected} is next",
            )
        return None

    def restore(self, stored: Iterable[StoredProducer], epoch_ms: int) -> None:
        """Take over what a checkpoint holds."""
        for producer in stored:
            state = self._by_id[producer.producer_id] = ProducerState(producer.epoch)
            for sequence, count, base_offset, timestamp_ms in producer.batches:
                state.batches.append(
                    RememberedBatch(sequence, count, base_offset, (timestamp_ms - epoch_ms) * NS_PER_MS)
                )

    def stored(self, end_offset: int, epoch_ms: int) -> tuple[StoredProducer, ...]:
        """What a checkpoint at `end_offset` has to hold: the batches before it."""
        found = []
        for producer_id, state in self._by_id.items():
            batches = tuple(
                (batch.sequence, batch.count, batch.base_offset, epoch_ms + batch.published_ns // NS_PER_MS)
                for batch in state.batches
                if batch.base_offset + batch.count <= end_offset
            )
            if batches or not state.batches:
                found.append(StoredProducer(producer_id, state.epoch, batches))
        return tuple(found)

    def forget_before(self, published_ns: int) -> None:
        """Forget the producers that have sent nothing since."""
        idle = [
            producer_id
            for producer_id, state in self._by_id.items()
            if not state.batches or state.batches[-1].published_ns < published_ns
        ]
        for producer_id in idle:
            del self._by_id[producer_id]

    def fence(self, producer_id: int, epoch: int) -> None:
        """A marker has ended a transaction at `epoch`: what the producer sends with an older one is refused."""
        state = self._by_id.get(producer_id)
        if state is not None and epoch > state.epoch:
            self._by_id[producer_id] = ProducerState(epoch)

    def known(self) -> list[tuple[int, int, RememberedBatch | None]]:
        """(producer id, epoch, last batch) of each of them; None where a newer epoch has sent nothing yet."""
        return [
            (producer_id, state.epoch, state.batches[-1] if state.batches else None)
            for producer_id, state in self._by_id.items()
        ]

    def remember(self, stamp: ProducerStamp, batch: RememberedBatch) -> None:
        """`batch` was stored for this producer."""
        state = self._by_id.get(stamp.producer_id)
        if state is None or state.epoch != stamp.epoch:
            state = self._by_id[stamp.producer_id] = ProducerState(stamp.epoch)
        state.batches.append(batch)
