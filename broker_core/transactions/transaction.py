from __future__ import annotations

import contextlib
import enum
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import msgspec

from broker_core.errors import BrokerError
from broker_core.files import FileSystem
from broker_core.log.config import LogConfig
from broker_core.log.group_commit import GroupCommit
from broker_core.log.internal_log import InternalLog
from broker_core.messages import Message, TopicPartition
from broker_core.replies import Reply
from broker_core.settings import Settings, TimeMs, WaitMs
from broker_core.timers import Timer


class TransactionConfig(Settings, frozen=True):
    """`max_timeout_ms` is Kafka's transaction.max.timeout.ms, `id_expiration_ms` its transactional.id.expiration.ms."""

    max_timeout_ms: WaitMs = 900_000
    id_expiration_ms: TimeMs = 604_800_000


class TransactionState(enum.StrEnum):
    """The states of Kafka, with its names.

    EMPTY: the id has a producer and no transaction yet.
    ONGOING: the transaction has partitions or groups. It ends by the producer, by its timeout, or when another producer
        is initialized with the same id.
    PREPARE_COMMIT, PREPARE_ABORT: the decision is written; markers and offsets follow, also after a restart.
    COMPLETE_COMMIT, COMPLETE_ABORT: everything is written.
    DEAD: forgotten, because the id has expired. Final.
    """

    EMPTY = "Empty"
    ONGOING = "Ongoing"
    PREPARE_COMMIT = "PrepareCommit"
    PREPARE_ABORT = "PrepareAbort"
    COMPLETE_COMMIT = "CompleteCommit"
    COMPLETE_ABORT = "CompleteAbort"
    DEAD = "Dead"


_S = TransactionState
PREPARED = frozenset({_S.PREPARE_COMMIT, _S.PREPARE_ABORT})
UNFINISHED = PREPARED | {_S.ONGOING}
#: By whether it commits: (prepared state, complete state).
ENDING: Mapping[bool, tuple[TransactionState, TransactionState]] = {
    True: (_S.PREPARE_COMMIT, _S.COMPLETE_COMMIT),
    False: (_S.PREPARE_ABORT, _S.COMPLETE_ABORT),
}

_AT_REST = frozenset({_S.EMPTY, _S.COMPLETE_COMMIT, _S.COMPLETE_ABORT})
VALID_PREVIOUS: Mapping[TransactionState, frozenset[TransactionState]] = {
    _S.EMPTY: _AT_REST,  # a producer is initialized
    _S.ONGOING: _AT_REST | {_S.ONGOING},
    _S.PREPARE_COMMIT: frozenset({_S.ONGOING}),
    _S.PREPARE_ABORT: _AT_REST | {_S.ONGOING},  # since KIP-890 a producer may abort without a transaction
    _S.COMPLETE_COMMIT: frozenset({_S.PREPARE_COMMIT}),
    _S.COMPLETE_ABORT: frozenset({_S.PREPARE_ABORT}),
    _S.DEAD: _AT_REST,
}


NO_EPOCH = -1


class Identity(NamedTuple):
    """The producer id and epoch, which a producer sends with each request of a transaction."""

    producer_id: int
    epoch: int


class PendingOffset(NamedTuple):
    """An offset that is committed with the transaction. `leader_epoch` is -1 if the client sent none.

    `before` is the committed offset that this one replaces, set by the decision; -1 for none. `member` is who has read,
    as in `Event.member`.
    """

    group: str
    topic: str
    partition: int
    offset: int
    metadata: str = ""
    leader_epoch: int = -1
    before: int = -1
    member: str = ""


class StoredTransaction(msgspec.Struct, array_like=True, frozen=True):
    """The value of a record of the state log. Times are Unix milliseconds; `started_ms` is 0 without a transaction."""

    producer_id: int
    epoch: int
    previous_epoch: int
    ends_at_epoch: int
    timeout_ms: int
    state: str
    client: str
    started_ms: int
    updated_ms: int
    cause: str = ""
    partitions: tuple[TopicPartition, ...] = ()
    groups: tuple[str, ...] = ()
    offsets: tuple[PendingOffset, ...] = ()


#: What a transaction has under the same name.
_SAME = tuple(
    name for name in StoredTransaction.__struct_fields__ if name not in {"state", "partitions", "groups", "offsets"}
)


class Transaction:
    """A transactional id. `cause` is the reason of the end of its transaction, "" if the producer ended it."""

    def __init__(self, transactional_id: str, identity: Identity, timeout_ms: int, client: str) -> None:
        self.transactional_id = transactional_id
        self.producer_id, self.epoch = identity
        self.previous_epoch = NO_EPOCH  # with which the producer may repeat its last request
        self.replaced: Identity | None = None  # the same, with its previous producer id
        self.ends_at_epoch = NO_EPOCH  # the epoch of its markers, once it is decided
        self.timeout_ms = timeout_ms
        self.client = client
        self.state = TransactionState.EMPTY
        self.started_ms = self.updated_ms = 0
        self.started_ns = 0  # the start in session time
        self.cause = ""
        self.partitions: dict[TopicPartition, None] = {}
        self.groups: dict[str, None] = {}
        self.offsets: dict[tuple[str, str, int], PendingOffset] = {}
        self.markers: list[tuple[str, int, int]] = []  # those written so far, as (topic, partition, offset)
        self.timer: Timer | None = None

    @property
    def identity(self) -> Identity:
        return Identity(self.producer_id, self.epoch)

    @property
    def is_unfinished(self) -> bool:
        return self.state in UNFINISHED

    def move(self, state: TransactionState) -> None:
        """Enter a state. AssertionError for an invalid transition."""
        assert self.state in VALID_PREVIOUS[state], (self.transactional_id, self.state, state)
        self.state = state

    def begin(self, started_ns: int, started_ms: int) -> None:
        self.move(TransactionState.ONGOING)
        self.clear()
        self.previous_epoch, self.replaced = NO_EPOCH, None
        self.started_ms, self.started_ns = started_ms, started_ns

    def clear(self) -> None:
        self.started_ms = 0
        self.cause = ""
        self.ends_at_epoch = NO_EPOCH
        self.partitions.clear()
        self.groups.clear()
        self.offsets.clear()
        self.markers.clear()

    @contextlib.contextmanager
    def unless_refused(self) -> Iterator[None]:
        """Takes back what the block changes where it raises BrokerError."""
        before = {name: value.copy() if isinstance(value, dict | list) else value for name, value in vars(self).items()}
        try:
            yield
        except BrokerError:
            vars(self).update(before)
            raise

    def stored(self) -> StoredTransaction:
        return StoredTransaction(
            **{name: getattr(self, name) for name in _SAME},
            state=self.state.value,
            partitions=tuple(self.partitions),
            groups=tuple(self.groups),
            offsets=tuple(self.offsets.values()),
        )

    @classmethod
    def of(cls, transactional_id: str, stored: StoredTransaction) -> Transaction:
        identity = Identity(stored.producer_id, stored.epoch)
        transaction = cls(transactional_id, identity, stored.timeout_ms, stored.client)
        for name in _SAME:
            setattr(transaction, name, getattr(stored, name))
        transaction.state = TransactionState(stored.state)
        transaction.partitions = dict.fromkeys(stored.partitions)
        transaction.groups = dict.fromkeys(stored.groups)
        transaction.offsets = {(each.group, each.topic, each.partition): each for each in stored.offsets}
        return transaction


DIRECTORY = "transaction-state"
_SEGMENT_BYTES = 1_048_576
_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(StoredTransaction)


class StateLog(InternalLog):
    """The states of the transactions of a data directory: compacted by transactional id, as `__transaction_state`."""

    def __init__(self, files: FileSystem, syncs: GroupCommit, config: LogConfig, epoch_ms: int) -> None:
        super().__init__(files, syncs, config, epoch_ms, DIRECTORY, segment_bytes=_SEGMENT_BYTES, cleanup="compact")

    def write(self, now_ns: int, transaction: Transaction) -> Reply[None]:
        """Append the state. The reply is settled when it is durable. Raises or fails with STORAGE_ERROR."""
        value = _ENCODER.encode(transaction.stored())
        return self.append(now_ns, (Message(value, transaction.transactional_id.encode()),))

    def forget(self, now_ns: int, transactional_id: str) -> None:
        """Delete the state of an id. Raises STORAGE_ERROR."""
        self.append(now_ns, (Message(None, transactional_id.encode()),))

    def read(self) -> dict[str, Transaction]:
        found: dict[str, Transaction] = {}  # the oldest first
        for record in self.records():
            transactional_id = (record.key or b"").decode()
            found.pop(transactional_id, None)
            if record.value is not None:
                found[transactional_id] = Transaction.of(transactional_id, _DECODER.decode(record.value))
        return found
