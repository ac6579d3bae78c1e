"""The transaction coordinator: the producer of each transactional id, the partitions of its transaction, and its end.

What is decided is written down before it is done: a transaction that was prepared when the process ended is completed
when the log of states is read again, and one that was open goes on, or ends by its timeout.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Protocol, TypeVar

from broker_core.clock import NS_PER_MS
from broker_core.errors import BrokerError, ErrorCode, must
from broker_core.events import EventKind, EventStream
from broker_core.limits import MAX_WAIT_MS
from broker_core.log.batch import NO_PRODUCER_ID, ProducerStamp
from broker_core.log.producers import MAX_EPOCH
from broker_core.messages import TopicPartition
from broker_core.replies import Reply, all_done
from broker_core.snapshots import TransactionView
from broker_core.timers import Timers
from broker_core.transactions.transaction import (
    ENDING,
    NO_EPOCH,
    PREPARED,
    Identity,
    PendingOffset,
    StateLog,
    Transaction,
    TransactionConfig,
    TransactionState,
)

T = TypeVar("T")

NOBODY = Identity(NO_PRODUCER_ID, NO_EPOCH)
_RETRY_NS = 500 * NS_PER_MS  # the delay of a retry after a disk error
# Why a transaction ended, where its producer has not said so.
_TIMED_OUT, _FENCED, _CAME_BACK = "timed out", "another producer came", "its producer came back"
_UNKNOWN = "no transactional id is known for it"
_Markers = Sequence[tuple[str, int, int]]  # (topic, partition, offset) of each


class Ports(Protocol):
    """What the coordinator asks of the logs, of the offsets of groups, and of the registry of producer ids."""

    def new_identity(self, above: int) -> Identity:
        """A new producer id greater than `above`, at epoch 0."""

    def open_parts(self) -> Iterable[tuple[TopicPartition, Identity]]:
        """The partitions with an open transaction, each with its producer."""

    def write_marker(self, now_ns: int, place: TopicPartition, identity: Identity, *, commits: bool) -> int | None:
        """Append the marker. Returns its offset, None if no transaction is open there. Raises STORAGE_ERROR."""

    def aborted(self, place: TopicPartition, producer_id: int, marker_offset: int) -> Iterable[range]:
        """The offsets that the marker at this offset has aborted; none if it has committed them."""

    def durable(self, place: TopicPartition, end_offset: int) -> Reply[None]:
        """A reply that is settled when the log is durable up to `end_offset`. It fails with STORAGE_ERROR."""

    def ended(self, now_ns: int, places: Iterable[TopicPartition]) -> None:
        """Readers of committed messages look again."""

    def committed_offset(self, group: str, topic: str, partition: int) -> int:
        """-1 for none."""

    def commit_offsets(self, now_ns: int, client: str, offsets: Sequence[PendingOffset]) -> Reply[None]:
        """Commit offsets, lower ones too, but not of what was deleted. The reply is settled when all are stored."""


class TransactionCoordinator:
    """Transactions by transactional id. Time is session nanoseconds; `epoch_ms` is the Unix time of session time 0."""

    def __init__(self, events: EventStream, timers: Timers, states: StateLog, ports: Ports, *, epoch_ms: int) -> None:
        self.config = TransactionConfig()
        self.states = states
        self._events = events
        self._timers = timers
        self._ports = ports
        self._epoch_ms = epoch_ms
        self._by_id: dict[str, Transaction] = {}  # the most recently used last
        self._by_producer: dict[int, Transaction] = {}
        self._greatest = NO_PRODUCER_ID  # of the producer ids so far
        self._begun: dict[str, Transaction] = {}  # those unfinished and some ended, the last written last

    # -- a producer

    def begin_session(
        self, now_ns: int, transactional_id: str, timeout_ms: int, *, client: str, previous: Identity = NOBODY
    ) -> Reply[Identity]:
        """Initialize a producer (InitProducerId). The reply has its identity. An older producer of the id is fenced.

        An open transaction of that producer is aborted first. `previous` is the identity of a producer that continues
        after an error (KIP-360); if nobody has the transactional id it is passed over, as in Kafka. Raises
        INVALID_REQUEST, INVALID_TRANSACTION_TIMEOUT, CONCURRENT_TRANSACTIONS, PRODUCER_FENCED.
        """
        if not transactional_id:
            raise BrokerError(ErrorCode.INVALID_REQUEST, "an empty transactional id")
        if not 0 < timeout_ms <= self.config.max_timeout_ms:
            about = f"{timeout_ms} ms for {transactional_id!r}; 1 to {self.config.max_timeout_ms} are"
            raise BrokerError(ErrorCode.INVALID_TRANSACTION_TIMEOUT, about)
        transaction = self._by_id.get(transactional_id)
        if transaction is None:
            identity = self._ports.new_identity(self._greatest)
            transaction = Transaction(transactional_id, identity, timeout_ms, client)
            written = self._write_empty(now_ns, transaction, timeout_ms, client)
            self._keep(transaction)
            return written
        self._not_prepared(transaction)
        again = previous != NOBODY and previous == Identity(transaction.producer_id, transaction.previous_epoch)
        if previous not in (NOBODY, transaction.identity) and not again:
            raise self._fenced(transaction, previous)
        if transaction.state is not TransactionState.ONGOING:
            if not again:
                self._bump(transaction, accepts_previous_epoch=previous != NOBODY)
            return self._write_empty(now_ns, transaction, timeout_ms, client)
        cause = _FENCED if previous == NOBODY else _CAME_BACK
        ended = self._end(now_ns, transaction, commits=False, bumps_epoch=True, cause=cause)
        return ended.chain(lambda _identity: self._write_empty(now_ns, transaction, timeout_ms, client))

    def _write_empty(self, now_ns: int, transaction: Transaction, timeout_ms: int, client: str) -> Reply[Identity]:
        self._not_prepared(transaction)  # where an abort before this could not be completed
        with transaction.unless_refused():
            transaction.timeout_ms, transaction.client = timeout_ms, client
            transaction.move(TransactionState.EMPTY)
            identity = transaction.identity
            return self._write(now_ns, transaction).map(lambda _written: identity)

    # -- its transaction

    def add_partitions(
        self, now_ns: int, transactional_id: str, identity: Identity, places: Iterable[TopicPartition]
    ) -> Reply[None]:
        """Add partitions to the transaction, which begins if needed. The reply is settled when that is stored.

        Raises INVALID_PRODUCER_ID_MAPPING, PRODUCER_FENCED, CONCURRENT_TRANSACTIONS, STORAGE_ERROR.
        """
        transaction = self._checked(transactional_id, identity)
        return self._add(now_ns, transaction, transaction.partitions, places)

    def add_group(self, now_ns: int, transactional_id: str, identity: Identity, group: str) -> Reply[None]:
        transaction = self._checked(transactional_id, identity)
        return self._add(now_ns, transaction, transaction.groups, (group,))

    def _add(self, now_ns: int, transaction: Transaction, known: dict[T, None], added: Iterable[T]) -> Reply[None]:
        """Add to its partitions or groups, which are `known`; nothing is added where the write raises."""
        begins = transaction.state is not TransactionState.ONGOING
        new = dict.fromkeys(each for each in added if each not in known)
        if not (new or begins):
            return Reply.of(None)
        with transaction.unless_refused():
            if begins:
                transaction.begin(now_ns, self._unix_ms(now_ns))
            known.update(new)
            written = self._write(now_ns, transaction)
        if begins:
            self._began(now_ns, transaction)
        return written

    def put_offsets(
        self, now_ns: int, transactional_id: str, identity: Identity, offsets: Sequence[PendingOffset]
    ) -> Reply[None]:
        """Set offsets to commit with the transaction, settled when stored. Raises as `add_partitions`, and
        INVALID_TXN_STATE.
        """
        transaction = self._checked(transactional_id, identity)
        missing = [each.group for each in offsets if each.group not in transaction.groups]
        if transaction.state is not TransactionState.ONGOING or missing:
            group = missing[0] if missing else offsets[0].group if offsets else ""
            about = f"{transactional_id!r} is {transaction.state}, without the group {group!r}"
            raise BrokerError(ErrorCode.INVALID_TXN_STATE, about)
        with transaction.unless_refused():
            transaction.offsets.update({(each.group, each.topic, each.partition): each for each in offsets})
            return self._write(now_ns, transaction)

    def check_append(self, stamp: ProducerStamp, topic: str, partition: int) -> None:
        """Raises INVALID_PRODUCER_ID_MAPPING, INVALID_PRODUCER_EPOCH, or INVALID_TXN_STATE for an unknown partition."""
        transaction = self._by_producer.get(stamp.producer_id)
        if transaction is None:
            if stamp.transactional:
                about = f"no transactional id has the producer {stamp.producer_id}"
                raise BrokerError(ErrorCode.INVALID_PRODUCER_ID_MAPPING, about)
            return
        if stamp.epoch != transaction.epoch:
            about = f"producer {stamp.producer_id} sent epoch {stamp.epoch}, but is at {transaction.epoch}"
            raise BrokerError(ErrorCode.INVALID_PRODUCER_EPOCH, about)
        belongs = transaction.state is TransactionState.ONGOING and (topic, partition) in transaction.partitions
        if belongs != stamp.transactional:
            about = f"{transaction.transactional_id!r} is {transaction.state}, "
            about += f"and {topic}-{partition} {'belongs' if belongs else 'does not belong'} to its transaction"
            raise BrokerError(ErrorCode.INVALID_TXN_STATE, about)

    def end(
        self, now_ns: int, transactional_id: str, identity: Identity, *, commits: bool, bumps_epoch: bool = False
    ) -> Reply[Identity]:
        """Commit or abort. The reply has the producer's identity. It is settled when everything is written, or when the
        sync of a partition has failed: the decision is written, and a restart completes the transaction.

        With `bumps_epoch` the producer gets a new epoch (KIP-890), so that late batches of this transaction cannot get
        into the next. A repeated call gets the same reply. Raises as `add_partitions`, and INVALID_TXN_STATE without a
        transaction.
        """
        prepared, complete = ENDING[commits]
        transaction = self._find(transactional_id)
        before = {Identity(transaction.producer_id, transaction.previous_epoch), transaction.replaced}
        if bumps_epoch and transaction.state in {prepared, complete} and identity in before:
            self._not_prepared(transaction)
            return Reply.of(transaction.identity)  # the reply was lost
        late = Identity(transaction.producer_id, transaction.epoch - 1)  # its transaction was ended by its timeout
        if bumps_epoch and transaction.state in ENDING[not commits] and identity == late:
            raise _wrong_state(transaction, commits=commits)
        self._match(transaction, identity)
        if transaction.state in PREPARED and transaction.state is not prepared:
            raise _wrong_state(transaction, commits=commits)
        self._not_prepared(transaction)
        if transaction.state is complete and not bumps_epoch:
            return Reply.of(transaction.identity)
        if transaction.state is not TransactionState.ONGOING and (commits or not bumps_epoch):
            raise _wrong_state(transaction, commits=commits)
        return self._end(now_ns, transaction, commits=commits, bumps_epoch=bumps_epoch)

    def _end(
        self, now_ns: int, transaction: Transaction, *, commits: bool, bumps_epoch: bool, cause: str = ""
    ) -> Reply[Identity]:
        """Write the decision, then complete it."""
        prepared, _ = ENDING[commits]
        ended_by = transaction.producer_id
        with transaction.unless_refused():
            transaction.move(prepared)
            transaction.cause = cause
            transaction.ends_at_epoch = transaction.epoch + 1 if bumps_epoch else transaction.epoch
            if commits and transaction.offsets:
                self._note_offsets_before(transaction)
            written = self._write(now_ns, transaction)
        if transaction.timer is not None:
            transaction.timer.cancel()
        if bumps_epoch:
            self._bump(transaction, accepts_previous_epoch=cause != _FENCED)
        # `all_done` passes over the error of a failed sync: the decision is written.
        completed = written.chain(lambda _written: all_done([self._complete(now_ns, transaction, ended_by, Reply())]))
        return completed.map(lambda _done: transaction.identity)

    def _note_offsets_before(self, transaction: Transaction) -> None:
        """Note what each of its offsets replaces: the last decided that is not yet committed, else the committed."""
        decided: dict[tuple[str, str, int], PendingOffset] = {}
        for other in self._unfinished():
            if other is not transaction and other.state is TransactionState.PREPARE_COMMIT:
                decided.update(other.offsets)
        for key, offset in transaction.offsets.items():
            before = decided[key].offset if key in decided else self._ports.committed_offset(*key)
            transaction.offsets[key] = offset._replace(before=before)

    def _timed_out(self, now_ns: int, transaction: Transaction) -> None:
        if transaction.state is TransactionState.ONGOING:
            try:
                # The producer may return with its old epoch, and gets the new one (KIP-588).
                self._end(now_ns, transaction, commits=False, bumps_epoch=True, cause=_TIMED_OUT)
            except BrokerError:
                self._await_end(now_ns + _RETRY_NS, transaction)

    # -- the completion of a decided one: a marker in each partition, offsets of groups, and the final state

    def _complete(
        self, now_ns: int, transaction: Transaction, producer_id: int, done: Reply[None], *, keeps_newer: bool = False
    ) -> Reply[None]:
        """`done`, which is settled when everything is written; after disk errors it is tried again: a decision is never
        reverted. With `keeps_newer`, the offsets that a group has committed since are kept.
        """
        now_ns = max(now_ns, self.states.syncs.synced_ns)
        commits = transaction.state is TransactionState.PREPARE_COMMIT
        identity = Identity(producer_id, transaction.ends_at_epoch)
        committed: Reply[None] = Reply.of(None)
        try:
            for place in list(transaction.partitions):
                offset = self._ports.write_marker(now_ns, place, identity, commits=commits)
                if offset is not None:
                    transaction.markers.append((*place, offset))
            if commits and transaction.offsets:
                offsets = [
                    each
                    for key, each in transaction.offsets.items()
                    if not keeps_newer or self._ports.committed_offset(*key) == each.before
                ]
                committed = self._ports.commit_offsets(now_ns, transaction.client, offsets)
        except BrokerError:
            self._retry_later(now_ns, transaction, producer_id, done)
            return done
        durable = [self._ports.durable((topic, number), at + 1) for topic, number, at in transaction.markers]

        def settled(_all: Reply[None]) -> None:
            settled_ns = max(now_ns, self.states.syncs.synced_ns)
            failed = next((each.error for each in durable if each.error is not None), None)
            if failed is not None:
                # A failed sync is final for its log: the transaction stays prepared, and a restart completes it.
                done.fail(failed)
            elif committed.error is not None:
                self._retry_later(settled_ns, transaction, producer_id, done)
            else:
                self._finish(settled_ns, transaction, identity, done)

        all_done([committed, *durable]).then(settled)
        return done

    def _finish(self, now_ns: int, transaction: Transaction, identity: Identity, done: Reply[None]) -> None:
        commits = transaction.state is TransactionState.PREPARE_COMMIT
        cause, markers = transaction.cause, list(transaction.markers)
        transaction.move(ENDING[commits][1])
        transaction.clear()
        # After a disk error it stays prepared in the log of states: a restart finds nothing left to do.
        with contextlib.suppress(BrokerError):
            self.states.write(now_ns, transaction)
        self._tell(now_ns, transaction, identity, cause, markers, commits=commits)
        self._ports.ended(now_ns, [(topic, partition) for topic, partition, _ in markers])
        done.resolve(None)

    def _retry_later(self, now_ns: int, transaction: Transaction, producer_id: int, done: Reply[None]) -> None:
        again = partial(self._complete, transaction=transaction, producer_id=producer_id, done=done, keeps_newer=True)
        self._timers.at(now_ns + _RETRY_NS, again)

    def _tell(
        self, now_ns: int, ended: Transaction | None, by: Identity, cause: str, markers: _Markers, *, commits: bool
    ) -> None:
        """`ended` is None if nobody has its transactional id."""
        self._events.emit(
            now_ns,
            EventKind.TRANSACTION_ENDED,
            client="" if ended is None else ended.client,
            cause=cause or ("committed" if commits else "aborted"),
            detail={
                "transactional_id": "" if ended is None else ended.transactional_id,
                "producer_id": by.producer_id,
                "epoch": by.epoch,
                "committed": commits,
                "markers": [list(each) for each in markers],
                "aborted": [] if commits else self._aborted(by.producer_id, markers),
            },
        )

    def _aborted(self, producer_id: int, markers: _Markers) -> list[list[str | int]]:
        """[topic, partition, first offset, count] of the messages that nobody who reads committed ones is given."""
        found: list[list[str | int]] = []
        for topic, partition, marker in markers:
            end = -1
            for span in self._ports.aborted((topic, partition), producer_id, marker):
                if span.start == end:
                    found[-1][3] = span.stop - int(found[-1][2])
                else:
                    found.append([topic, partition, span.start, len(span)])
                end = span.stop
        return found

    # -- queries

    def views(self) -> tuple[TransactionView, ...]:
        found = [
            TransactionView(
                each.transactional_id, each.producer_id, each.epoch, each.client, each.started_ns, each.timeout_ms
            )
            for each in self._unfinished()
            if each.partitions or each.groups
        ]
        return tuple(sorted(found, key=lambda view: (view.started_ns, view.producer_id)))

    def ids(self) -> Mapping[str, Transaction]:
        return self._by_id

    def age_ms(self, now_ns: int, transaction: Transaction) -> int:
        """The age of its open transaction in milliseconds; 0 without one."""
        return max(0, self._unix_ms(now_ns) - transaction.started_ms) if transaction.started_ms else 0

    def unstable_offsets(self, group: str) -> Collection[tuple[str, int]]:
        """(topic, partition) of the offsets of `group` that an unfinished transaction is about to commit."""
        return {
            (topic, partition)
            for transaction in self._unfinished()
            for (reader, topic, partition) in transaction.offsets
            if reader == group
        }

    # -- restart

    def restore(self) -> None:
        for transaction in self.states.read().values():
            self._keep(transaction)
            if transaction.is_unfinished:
                self._begun[transaction.transactional_id] = transaction
            transaction.started_ns = (transaction.started_ms - self._epoch_ms) * NS_PER_MS

    def resume(self, now_ns: int) -> None:
        """After `restore`: complete prepared transactions, and abort those open in a log that are unknown here."""
        for transaction in list(self._by_id.values()):
            if transaction.state is TransactionState.ONGOING:
                self._await_end(now_ns, transaction)
            if transaction.state in PREPARED:
                ended_by = transaction.producer_id
                if transaction.ends_at_epoch != transaction.epoch:
                    self._bump(transaction, accepts_previous_epoch=transaction.cause != _FENCED)
                self._complete(now_ns, transaction, ended_by, Reply(), keeps_newer=True)
        known = {(place, each.producer_id) for each in self._unfinished() for place in each.partitions}
        for place, identity in list(self._ports.open_parts()):
            if (place, identity.producer_id) not in known:
                offset = self._ports.write_marker(now_ns, place, identity, commits=False)
                markers = [] if offset is None else [(*place, offset)]
                self._tell(now_ns, None, identity, _UNKNOWN, markers, commits=False)

    def expire(self, now_ns: int) -> None:
        """Forget ids that have not been used for `id_expiration_ms`. Raises STORAGE_ERROR."""
        before_ms = self._unix_ms(now_ns) - self.config.id_expiration_ms
        for oldest in list(self._by_id.values()):
            if oldest.updated_ms > before_ms:
                return
            if oldest.is_unfinished:
                continue
            self.states.forget(now_ns, oldest.transactional_id)
            oldest.move(TransactionState.DEAD)
            del self._by_id[oldest.transactional_id]
            self._by_producer.pop(oldest.producer_id, None)

    # -- inside

    def _keep(self, transaction: Transaction) -> None:
        self._by_id[transaction.transactional_id] = self._by_producer[transaction.producer_id] = transaction
        self._greatest = max(self._greatest, transaction.producer_id)

    def _unfinished(self) -> Collection[Transaction]:
        self._begun = {key: one for key, one in self._begun.items() if one.is_unfinished}
        return self._begun.values()

    def _unix_ms(self, now_ns: int) -> int:
        return self._epoch_ms + now_ns // NS_PER_MS

    def _write(self, now_ns: int, transaction: Transaction) -> Reply[None]:
        now_ns = max(now_ns, self.states.syncs.synced_ns)
        transaction.updated_ms = self._unix_ms(now_ns)
        written = self.states.write(now_ns, transaction)
        for known in (self._by_id, self._begun):
            if known.pop(transaction.transactional_id, None) is not None:
                known[transaction.transactional_id] = transaction
        return written

    def _began(self, now_ns: int, transaction: Transaction) -> None:
        """Its beginning is written."""
        self._begun[transaction.transactional_id] = transaction
        self._await_end(now_ns, transaction)
        self._events.emit(
            now_ns,
            EventKind.TRANSACTION_STARTED,
            client=transaction.client,
            detail={
                "transactional_id": transaction.transactional_id,
                "producer_id": transaction.producer_id,
                "epoch": transaction.epoch,
                "timeout_ms": transaction.timeout_ms,
            },
        )

    def _await_end(self, now_ns: int, transaction: Transaction) -> None:
        left_ms = min(transaction.started_ms + transaction.timeout_ms - self._unix_ms(now_ns), MAX_WAIT_MS)
        deadline_ns = max(now_ns, now_ns + left_ms * NS_PER_MS)
        transaction.timer = self._timers.at(deadline_ns, lambda at_ns: self._timed_out(at_ns, transaction))

    def _bump(self, transaction: Transaction, *, accepts_previous_epoch: bool) -> None:
        old = transaction.identity
        if transaction.epoch + 1 < MAX_EPOCH:
            transaction.epoch += 1
            transaction.previous_epoch, transaction.replaced = old.epoch if accepts_previous_epoch else NO_EPOCH, None
            return
        del self._by_producer[transaction.producer_id]
        transaction.producer_id, transaction.epoch = self._ports.new_identity(self._greatest)
        transaction.previous_epoch, transaction.replaced = NO_EPOCH, old if accepts_previous_epoch else None
        self._keep(transaction)

    def _find(self, transactional_id: str) -> Transaction:
        about = f"nobody has {transactional_id!r}"
        return must(self._by_id.get(transactional_id), ErrorCode.INVALID_PRODUCER_ID_MAPPING, about)

    def _checked(self, transactional_id: str, identity: Identity) -> Transaction:
        transaction = self._find(transactional_id)
        self._match(transaction, identity)
        self._not_prepared(transaction)
        return transaction

    def _match(self, transaction: Transaction, identity: Identity) -> None:
        if identity.producer_id != transaction.producer_id:
            about = f"{transaction.transactional_id!r} has {transaction.producer_id}, not {identity.producer_id}"
            raise BrokerError(ErrorCode.INVALID_PRODUCER_ID_MAPPING, about)
        if identity.epoch != transaction.epoch:
            raise self._fenced(transaction, identity)

    def _fenced(self, transaction: Transaction, identity: Identity) -> BrokerError:
        about = f"{transaction.transactional_id!r} is at epoch {transaction.epoch}, not {identity.epoch}"
        return BrokerError(ErrorCode.PRODUCER_FENCED, about)

    def _not_prepared(self, transaction: Transaction) -> None:
        if transaction.state in PREPARED:
            about = f"{transaction.transactional_id!r} is {transaction.state}"
            raise BrokerError(ErrorCode.CONCURRENT_TRANSACTIONS, about)


def _wrong_state(transaction: Transaction, *, commits: bool) -> BrokerError:
    what = "committed" if commits else "aborted"
    about = f"{transaction.transactional_id!r} is {transaction.state} and cannot be {what}"
    return BrokerError(ErrorCode.INVALID_TXN_STATE, about)
