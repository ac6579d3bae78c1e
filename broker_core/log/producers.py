"""The state of idempotent producers in a partition, for the detection of duplicates (KIP-98)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

import msgspec

from broker_core.clock import NS_PER_MS, NS_PER_S
from broker_core.errors import BrokerError, ErrorCode
from broker_core.log.batch import SEQUENCES, ProducerStamp
from broker_core.log.checkpoint import StoredProducer

MAX_EPOCH = (1 << 15) - 1
_BLOCK = 1_000


class ProducerIdsState(msgspec.Struct, frozen=True):
    """The state to save: the next free id, and (id, epoch) by name."""

    next_id: int = 0
    named: dict[str, tuple[int, int]] = {}


class ProducerIds:
    def __init__(self) -> None:
        self._next_id = 0
        self._named: dict[str, tuple[int, int]] = {}

    def register(self, name: str = "") -> tuple[int, int]:
        """A new id at epoch 0, or, for a known `name`, its id at the next epoch."""
        known = self._named.get(name) if name else None
        if known is not None and known[1] < MAX_EPOCH:
            given = (known[0], known[1] + 1)
        else:
            given = (self._next_id, 0)
            self._next_id += 1
        if name:
            self._named[name] = given
        return given

    def register_above(self, producer_id: int) -> int:
        """A new id greater than `producer_id`, which is in use."""
        self._next_id = max(self._next_id, producer_id + 1)
        return self.register()[0]

    def restore(self, state: ProducerIdsState) -> None:
        self._next_id = state.next_id
        self._named = dict(state.named)

    def state(self) -> ProducerIdsState:
        """The state to save. It reserves a block of ids, so that none is reused where the last state was not saved."""
        return ProducerIdsState((self._next_id // _BLOCK + 1) * _BLOCK, dict(self._named))


REMEMBERED_BATCHES = 5  # as in Kafka: the maximum in flight of a producer
FORGOTTEN_AFTER_NS = 86_400 * NS_PER_S  # Kafka's default of producer.id.expiration.ms


class RememberedBatch(msgspec.Struct, frozen=True, gc=False):
    sequence: int
    count: int
    base_offset: int
    published_ns: int

    @property
    def end_offset(self) -> int:
        return self.base_offset + self.count


class ProducerState:
    __slots__ = ("batches", "epoch")

    def __init__(self, epoch: int) -> None:
        self.epoch = epoch
        self.batches: deque[RememberedBatch] = deque(maxlen=REMEMBERED_BATCHES)


class ProducerStates:
    def __init__(self) -> None:
        self._by_id: dict[int, ProducerState] = {}

    def duplicate(self, stamp: ProducerStamp, count: int) -> RememberedBatch | None:
        """The stored batch that this one repeats, or None if it is the next one.

        Raises INVALID_PRODUCER_EPOCH for an older epoch, OUT_OF_ORDER_SEQUENCE_NUMBER for a gap or the repetition of
        an older batch than the remembered ones. An unknown producer may start at any number, a new epoch at 0.
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
        for producer in stored:
            state = self._by_id[producer.producer_id] = ProducerState(producer.epoch)
            for sequence, count, base_offset, timestamp_ms in producer.batches:
                state.batches.append(
                    RememberedBatch(sequence, count, base_offset, (timestamp_ms - epoch_ms) * NS_PER_MS)
                )

    def stored(self, end_offset: int, epoch_ms: int) -> tuple[StoredProducer, ...]:
        """The state for a checkpoint at `end_offset`: the batches before it."""
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
        idle = [
            producer_id
            for producer_id, state in self._by_id.items()
            if not state.batches or state.batches[-1].published_ns < published_ns
        ]
        for producer_id in idle:
            del self._by_id[producer_id]

    def fence(self, producer_id: int, epoch: int) -> None:
        state = self._by_id.get(producer_id)
        if state is not None and epoch > state.epoch:
            self._by_id[producer_id] = ProducerState(epoch)

    def known(self) -> list[tuple[int, int, RememberedBatch | None]]:
        """(producer id, epoch, last batch) of each producer; the batch is None if the epoch has sent none."""
        return [
            (producer_id, state.epoch, state.batches[-1] if state.batches else None)
            for producer_id, state in self._by_id.items()
        ]

    def remember(self, stamp: ProducerStamp, batch: RememberedBatch) -> None:
        state = self._by_id.get(stamp.producer_id)
        if state is None or state.epoch != stamp.epoch:
            state = self._by_id[stamp.producer_id] = ProducerState(stamp.epoch)
        state.batches.append(batch)
