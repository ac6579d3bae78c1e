"""What a partition remembers of idempotent producers, so that a retry is neither lost nor stored twice (KIP-98)."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from broker_core.errors import BrokerError, ErrorCode
from broker_core.log.batch import ProducerStamp

REMEMBERED_BATCHES = 5  # Kafka's: as many as a producer may have in flight
SEQUENCES = 1 << 31  # after the last one comes 0


class RememberedBatch(NamedTuple):
    """A batch that a producer has sent: its sequence numbers and where it was stored."""

    sequence: int
    count: int
    base_offset: int
    published_ns: int


class ProducerState:
    """The epoch of one producer and its last batches, oldest first."""

    __slots__ = ("batches", "epoch")

    def __init__(self, epoch: int) -> None:
        self.epoch = epoch
        self.batches: deque[RememberedBatch] = deque(maxlen=REMEMBERED_BATCHES)


class ProducerStates:
    """All producers that a partition knows."""

    def __init__(self) -> None:
        self.by_id: dict[int, ProducerState] = {}

    def duplicate(self, stamp: ProducerStamp, count: int) -> RememberedBatch | None:
        """The stored batch that this one repeats, or None where it is the next one.

        Raises INVALID_PRODUCER_EPOCH for an older epoch and OUT_OF_ORDER_SEQUENCE_NUMBER for a gap or a repetition of what is
        no longer remembered. A producer that is not known, or no longer, may start anywhere; a new epoch starts at 0.
        """
        state = self.by_id.get(stamp.producer_id)
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
            last = state.batches[-1]
            expected = (last.sequence + last.count) % SEQUENCES
        if stamp.sequence != expected:
            raise BrokerError(
                ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
                f"producer {stamp.producer_id} sent {stamp.sequence} where {expected} is next",
            )
        return None

    def remember(self, stamp: ProducerStamp, batch: RememberedBatch) -> None:
        """`batch` was stored for this producer."""
        state = self.by_id.get(stamp.producer_id)
        if state is None or state.epoch != stamp.epoch:
            state = self.by_id[stamp.producer_id] = ProducerState(stamp.epoch)
        state.batches.append(batch)
