"""The transaction coordinator: the producer of each transactional id, the partitions of its transaction, and its end.

What is decided is written down before it is done: a transaction that was prepared when the process ended is completed
when the log of states is read again, and one that was open goes on, or ends by its timeout.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import msgspec

from broker_core.broker.durability import Durability
from broker_core.broker.fetches import Fetches
from broker_core.broker.group_offsets import GroupOffsets
from broker_core.broker.logs import Logs
from broker_core.clock import NS_PER_MS
from broker_core.errors import BrokerError, ErrorCode, must
from broker_core.events import EventKind, EventStream
from broker_core.limits import MAX_WAIT_MS
from broker_core.log.batch import NO_PRODUCER_ID, ProducerStamp
from broker_core.log.growth import Growth
from broker_core.log.partition_log import PartitionLog
from broker_core.log.producers import MAX_EPOCH, ProducerIds
from broker_core.messages import OffsetAndMetadata, TopicPartition
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

_GONE = frozenset({ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.OFFSET_OUT_OF_RANGE})


class TransactionPorts(msgspec.Struct, eq=False, dict=True):
    """The parts of the broker that the coordinator uses: logs, offsets of groups, and producer ids. Readers of
    committed messages, which `growth` knows, look again when a transaction has ended.
    """

    _logs: Logs
    _durability: Durability
    _offsets: GroupOffsets
    _fetches: Fetches[PartitionLog]
    _growth: Growth
    _producer_ids: ProducerIds

    def new_identity(self, above: int) -> Identity:
        """A new producer id greater than `above`, at epoch 0."""
        return Identity(self._producer_ids.register_above(above), 0)

    def open_parts(self) -> Iterator[tuple[TopicPartition, Identity]]:
        for log in self._logs.partitions():
            epochs = {producer_id: epoch for producer_id, epoch, _ in log.producers}
            for producer_id in log.segments.open_transactions:
                yield (log.topic, log.partition), Identity(producer_id, epochs.get(producer_id, 0))

    def write_marker(self, now_ns: int, place: TopicPartition, identity: Identity, *, commits: bool) -> int | None:
        """Append the marker. Returns its offset, None if no transaction is open there. Raises STORAGE_ERROR."""
        log = self._log(place)
        if log is None or identity.producer_id not in log.segments.open_transactions:
            return None
        return log.append_marker(now_ns, *identity, commits=commits)

    def aborted(self, place: TopicPartition, producer_id: int, marker_offset: int) -> Iterable[range]:
        """The offsets that the marker at this offset has aborted; none if it has committed them."""
        log = self._log(place)
        return () if log is None else log.segments.aborted_with(producer_id, marker_offset)

    def durable(self, place: TopicPartition, end_offset: int) -> Reply[None]:
        log = self._log(place)
        if log is None:
            return Reply.of(None)
        reply = self._durability.syncs.durable(log, end_offset)
        reply.then(lambda _done: self._growth.appended(*place))
        return reply

    def ended(self, now_ns: int, places: Iterable[TopicPartition]) -> None:
        for place in places:
            self._fetches.appended(now_ns, *place)
            topic = self._logs.get(place[0])
            for subscription in () if topic is None else topic.subscriptions.values():
                subscription.queue.appended(now_ns)

    def committed_offset(self, group: str, topic: str, partition: int) -> int:
        """-1 for none."""
        committed = self._offsets.groups.committed(group, topic, partition)
        return -1 if committed is None else committed

    def commit_offsets(self, now_ns: int, client: str, offsets: Sequence[PendingOffset]) -> Reply[None]:
        """Commit offsets, lower ones too. The reply is settled when everything committed so far is stored. What was
        deleted meanwhile is left out.
        """
        for each in offsets:
            value = OffsetAndMetadata(each.offset, each.metadata, each.leader_epoch)
            wanted = {(each.topic, each.partition): value}
            try:
                self._offsets.commit(now_ns, each.group, client, None, -1, wanted, backwards=True, reader=each.member)
            except BrokerError as error:
                if error.code not in _GONE:
                    raise
        return self._offsets.store.flushed()

    def _log(self, place: TopicPartition) -> PartitionLog | None:
        topic = self._logs.get(place[0])
        return None if topic is None or place[1] >= len(topic.log.partitions) else topic.log.partitions[place[1]]


_AGAIN_NS = 500 * NS_PER_MS  # the delay of a retry after a disk error


NOBODY = Identity(NO_PRODUCER_ID, NO_EPOCH)
# Why a transaction ended, where its producer has not said so.
_TIMED_OUT, _FENCED, _CAME_BACK = "timed out", "another producer came", "its producer came back"
_UNKNOWN = "no transactional id is known for it"


class TransactionCoordinator:
    """All transactional ids. Time is session nanoseconds; `epoch_ms` is the Unix time of session time 0."""

    def __init__(
        self,
        events: EventStream,
        timers: Timers,
        states: StateLog,
        ports: TransactionPorts,
        *,
        epoch_ms: int,
        config: TransactionConfig | None = None,
    ) -> None:
        self.config = config or TransactionConfig()
        self.states = states
        self._events = events
        self._timers = timers
        self._ports = ports
        self._epoch_ms = epoch_ms
        self._by_id: dict[str, Transaction] = {}  # the most recently used last
        self._by_producer: dict[int, Transaction] = {}
        self._greatest = NO_PRODUCER_ID  # of the producer ids so far
        self._begun: dict[str, Transaction] = {}  # the unfinished ones, and some that have ended since

    # -- a producer

    def begin_session(
        self, now_ns: int, transactional_id: str, timeout_ms: int, *, client: str, known: Identity = NOBODY
    ) -> Reply[Identity]:
        """Initialize a producer (InitProducerId). The reply has its identity. An older producer of the id is fenced.

        An open transaction of that producer is aborted first. `known` is the identity of a producer that continues
        after an error (KIP-360); if nobody has the transactional id it is passed over, as in Kafka. Raises
        INVALID_REQUEST, INVALID_TRANSACTION_TIMEOUT, CONCURRENT_TRANSACTIONS, PRODUCER_FENCED.
        """
        if not transactional_id:
            raise BrokerError(ErrorCode.INVALID_REQUEST, "an empty transactional id")
        if not 0 < timeout_ms <= self.config.max_timeout_ms:
            about = f"{timeout_ms} ms for {transactional_id!r}; 1 to {self.config.max_timeout_ms} are"
            raise BrokerError(ErrorCode.INVALID_TRANSACTION_TIMEOUT, about)
        found = self._by_id.get(transactional_id)
        if found is None:
            found = Transaction(transactional_id, self._new_identity(), timeout_ms, client)
            settled = self._settled(now_ns, found, timeout_ms, client)
            self._keep(found)
            return settled
        self._not_prepared(found)
        again = known != NOBODY and known == Identity(found.producer_id, found.previous_epoch)
        if known not in (NOBODY, found.identity) and not again:
            raise self._fenced(found, known)
        if found.state is not TransactionState.ONGOING:
            if not again:
                self._bump(found, keeps=known != NOBODY)
            return self._settled(now_ns, found, timeout_ms, client)
        cause = _FENCED if known == NOBODY else _CAME_BACK
        ended = self._end(now_ns, found, commits=False, cause=cause, bumped=True, keeps=known != NOBODY)
        return ended.chain(lambda _identity: self._settled(now_ns, found, timeout_ms, client))

    def _settled(self, now_ns: int, found: Transaction, timeout_ms: int, client: str) -> Reply[Identity]:
        found.timeout_ms, found.client = timeout_ms, client
        found.move(TransactionState.EMPTY)
        identity = found.identity
        return self._write(now_ns, found).map(lambda _written: identity)

    # -- its transaction

    def add_partitions(
        self, now_ns: int, transactional_id: str, identity: Identity, places: Iterable[TopicPartition]
    ) -> Reply[None]:
        """Add partitions to the transaction, which begins if needed. The reply is settled when that is stored.

        Raises INVALID_PRODUCER_ID_MAPPING, PRODUCER_FENCED, CONCURRENT_TRANSACTIONS, STORAGE_ERROR.
        """
        found = self._checked(transactional_id, identity)
        new = [place for place in places if place not in found.partitions]
        if not new and found.state is TransactionState.ONGOING:
            return Reply.of(None)
        self._begin(now_ns, found)
        found.partitions.update(dict.fromkeys(new))
        return self._write(now_ns, found)

    def add_group(self, now_ns: int, transactional_id: str, identity: Identity, group: str) -> Reply[None]:
        found = self._checked(transactional_id, identity)
        if group in found.groups and found.state is TransactionState.ONGOING:
            return Reply.of(None)
        self._begin(now_ns, found)
        found.groups[group] = None
        return self._write(now_ns, found)

    def put_offsets(
        self, now_ns: int, transactional_id: str, identity: Identity, offsets: Sequence[PendingOffset]
    ) -> Reply[None]:
        """Set offsets to commit with the transaction, settled when stored. Raises as `add_partitions`, and
        INVALID_TXN_STATE.
        """
        found = self._checked(transactional_id, identity)
        missing = [each.group for each in offsets if each.group not in found.groups]
        if found.state is not TransactionState.ONGOING or missing:
            group = missing[0] if missing else offsets[0].group if offsets else ""
            raise BrokerError(
                ErrorCode.INVALID_TXN_STATE, f"{transactional_id!r} is {found.state}, without the group {group!r}"
            )
        found.offsets.update({(each.group, each.topic, each.partition): each for each in offsets})
        return self._write(now_ns, found)

    def check_append(self, stamp: ProducerStamp, topic: str, partition: int) -> None:
        """Raises INVALID_PRODUCER_ID_MAPPING, INVALID_PRODUCER_EPOCH, or INVALID_TXN_STATE for an unknown partition."""
        found = self._by_producer.get(stamp.producer_id)
        if found is None:
            if stamp.transactional:
                about = f"no transactional id has the producer {stamp.producer_id}"
                raise BrokerError(ErrorCode.INVALID_PRODUCER_ID_MAPPING, about)
            return
        if stamp.epoch != found.epoch:
            about = f"producer {stamp.producer_id} sent epoch {stamp.epoch}, but is at {found.epoch}"
            raise BrokerError(ErrorCode.INVALID_PRODUCER_EPOCH, about)
        belongs = found.state is TransactionState.ONGOING and (topic, partition) in found.partitions
        if belongs != stamp.transactional:
            about = f"{found.transactional_id!r} is {found.state}, "
            about += f"and {topic}-{partition} {'belongs' if belongs else 'does not belong'} to its transaction"
            raise BrokerError(ErrorCode.INVALID_TXN_STATE, about)

    def end(
        self, now_ns: int, transactional_id: str, identity: Identity, *, commits: bool, bumps: bool = False
    ) -> Reply[Identity]:
        """Commit or abort. The reply is settled when everything is written, with the producer's identity.

        With `bumps` the producer gets a new epoch (KIP-890), so that late batches of this transaction cannot get into
        the next. A repeated call gets the same reply. Raises as `add_partitions`, and INVALID_TXN_STATE without a
        transaction.
        """
        prepared, complete = ENDING[commits]
        found = self._known(transactional_id)
        if (
            bumps
            and found.state in {prepared, complete}
            and identity in {Identity(found.producer_id, found.previous_epoch), found.replaced}
        ):
            self._not_prepared(found)
            return Reply.of(found.identity)  # the reply was lost
        late = Identity(found.producer_id, found.epoch - 1)  # its transaction has ended otherwise, by its timeout
        if bumps and found.state in ENDING[not commits] and identity == late:
            raise _wrong_state(found, commits)
        self._match(found, identity)
        if found.state in PREPARED and found.state is not prepared:
            raise _wrong_state(found, commits)
        self._not_prepared(found)
        if found.state is complete and not bumps:
            return Reply.of(found.identity)
        if found.state is not TransactionState.ONGOING and (commits or not bumps):
            raise _wrong_state(found, commits)
        return self._end(now_ns, found, commits=commits, bumped=bumps, keeps=bumps)

    def _end(
        self, now_ns: int, found: Transaction, *, commits: bool, bumped: bool, cause: str = "", keeps: bool = False
    ) -> Reply[Identity]:
        """Write the decision, then complete it. `keeps` accepts retries with the previous epoch."""
        prepared, _ = ENDING[commits]
        before = found.stored()
        found.move(prepared)
        found.cause = cause
        found.ends_at_epoch = found.epoch + 1 if bumped else found.epoch
        if commits and found.offsets:
            self._note_offsets_before(found)
        try:
            written = self._write(now_ns, found)
        except BrokerError:
            found.state = TransactionState(before.state)
            found.cause, found.ends_at_epoch = before.cause, before.ends_at_epoch
            raise
        if found.timer is not None:
            found.timer.cancel()
        if bumped:
            self._bump(found, keeps=keeps)
        completed = written.chain(lambda _written: all_done([self._complete(now_ns, found, before.producer_id)]))
        return completed.map(lambda _done: found.identity)

    def _note_offsets_before(self, found: Transaction) -> None:
        """Note what each offset of `found` replaces: a decided one that is not yet committed, else the committed."""
        decided: dict[tuple[str, str, int], PendingOffset] = {}
        for each in self._unfinished():
            if each is not found and each.state is TransactionState.PREPARE_COMMIT:
                decided.update(each.offsets)
        for key, offset in found.offsets.items():
            before = decided[key].offset if key in decided else self._ports.committed_offset(*key)
            found.offsets[key] = offset._replace(before=before)

    def _timed_out(self, now_ns: int, found: Transaction) -> None:
        if found.state is TransactionState.ONGOING:
            # The producer may return with its old epoch, and gets the new one (KIP-588).
            self._end(now_ns, found, commits=False, bumped=True, cause=_TIMED_OUT, keeps=True)

    # -- the completion of a decided one: a marker in each partition, offsets of groups, and the final state

    def _complete(self, now_ns: int, found: Transaction, producer_id: int, *, restored: bool = False) -> Reply[None]:
        """The reply is settled when everything is written; after disk errors it is tried again: a decision is never
        reverted. With `restored`, what a group committed since is kept.
        """
        done: Reply[None] = Reply()
        self._try(now_ns, found, producer_id, restored, done)
        return done

    def _try(self, now_ns: int, found: Transaction, producer_id: int, restored: bool, done: Reply[None]) -> None:
        commits = found.state is TransactionState.PREPARE_COMMIT
        identity = Identity(producer_id, found.ends_at_epoch)
        committed: Reply[None] = Reply.of(None)
        try:
            for place in list(found.partitions):
                offset = self._ports.write_marker(now_ns, place, identity, commits=commits)
                if offset is not None:
                    found.markers.append((*place, offset))
            if commits and found.offsets:
                offsets = [
                    each
                    for key, each in found.offsets.items()
                    if not restored or self._ports.committed_offset(*key) == each.before
                ]
                committed = self._ports.commit_offsets(now_ns, found.client, offsets)
        except BrokerError:
            self._again(now_ns, found, producer_id, done)
            return
        durable = [self._ports.durable((topic, number), at + 1) for topic, number, at in found.markers]
        waits = [committed, *durable]

        def settled(_all: Reply[None]) -> None:
            failed = next((each.error for each in durable if each.error is not None), None)
            if failed is not None:
                # A failed sync is final for its log: the transaction stays prepared, and a restart completes it.
                done.fail(failed)
            elif committed.error is not None:
                self._again(now_ns, found, producer_id, done)
            else:
                self._finish(now_ns, found, identity, done)

        all_done(waits).then(settled)

    def _finish(self, now_ns: int, found: Transaction, identity: Identity, done: Reply[None]) -> None:
        commits = found.state is TransactionState.PREPARE_COMMIT
        cause, markers = found.cause, list(found.markers)
        found.move(ENDING[commits][1])
        found.clear()
        # After a disk error it stays prepared in the log of states: a restart finds nothing left to do.
        with contextlib.suppress(BrokerError):
            self.states.write(now_ns, found)
        self._tell(now_ns, found.transactional_id, identity, found.client, cause, commits, markers)
        self._ports.ended(now_ns, [(topic, partition) for topic, partition, _ in markers])
        done.resolve(None)

    def _again(self, now_ns: int, found: Transaction, producer_id: int, done: Reply[None]) -> None:
        self._timers.at(now_ns + _AGAIN_NS, lambda at_ns: self._try(at_ns, found, producer_id, True, done))

    def _tell(
        self,
        now_ns: int,
        transactional_id: str,
        identity: Identity,
        client: str,
        cause: str,
        commits: bool,
        markers: Sequence[tuple[str, int, int]],
    ) -> None:
        """`markers` are (topic, partition, offset)."""
        self._events.emit(
            now_ns,
            EventKind.TRANSACTION_ENDED,
            client=client,
            cause=cause or ("committed" if commits else "aborted"),
            detail={
                "transactional_id": transactional_id,
                "producer_id": identity.producer_id,
                "epoch": identity.epoch,
                "committed": commits,
                "markers": [list(each) for each in markers],
                "aborted": [] if commits else self._aborted(identity.producer_id, markers),
            },
        )

    def _aborted(self, producer_id: int, markers: Sequence[tuple[str, int, int]]) -> list[list[str | int]]:
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
        return tuple(sorted(found, key=lambda each: (each.started_ns, each.producer_id)))

    def ids(self) -> Mapping[str, Transaction]:
        return self._by_id

    def age_ms(self, now_ns: int, found: Transaction) -> int:
        """The age of its open transaction in milliseconds; 0 without one."""
        return max(0, self._unix_ms(now_ns) - found.started_ms) if found.is_unfinished else 0

    def unstable_offsets(self, group: str) -> Collection[tuple[str, int]]:
        """(topic, partition) of the offsets of `group` that an unfinished transaction is about to commit."""
        return {
            (topic, partition)
            for each in self._unfinished()
            for (reader, topic, partition) in each.offsets
            if reader == group
        }

    # -- restart

    def restore(self) -> None:
        for each in self.states.read().values():
            self._keep(each)
            if each.is_unfinished:
                self._begun[each.transactional_id] = each
            each.started_ns = (each.started_ms - self._epoch_ms) * NS_PER_MS

    def resume(self, now_ns: int) -> None:
        """After `restore`: complete prepared transactions, and abort open ones in logs that are unknown here."""
        for each in list(self._by_id.values()):
            if each.state is TransactionState.ONGOING:
                self._await_end(now_ns, each)
            if each.state in PREPARED:
                ended_by = each.producer_id
                if each.ends_at_epoch != each.epoch:
                    self._bump(each, keeps=each.cause != _FENCED)
                self._complete(now_ns, each, ended_by, restored=True)
        known = {(place, each.producer_id) for each in self._unfinished() for place in each.partitions}
        for place, identity in list(self._ports.open_parts()):
            if (place, identity.producer_id) not in known:
                offset = self._ports.write_marker(now_ns, place, identity, commits=False)
                markers = [] if offset is None else [(*place, offset)]
                self._tell(now_ns, "", identity, "", _UNKNOWN, False, markers)

    def expire(self, now_ns: int) -> None:
        """Forget ids that have not been used for `id_expiration_ms`. Raises STORAGE_ERROR."""
        before_ms = self._unix_ms(now_ns) - self.config.id_expiration_ms
        while self._by_id:
            oldest = next(iter(self._by_id.values()))
            if oldest.updated_ms > before_ms or oldest.is_unfinished:
                return
            self.states.forget(now_ns, oldest.transactional_id)
            oldest.move(TransactionState.DEAD)
            del self._by_id[oldest.transactional_id]
            self._by_producer.pop(oldest.producer_id, None)

    # -- inside

    def _keep(self, found: Transaction) -> None:
        self._by_id[found.transactional_id] = self._by_producer[found.producer_id] = found
        self._greatest = max(self._greatest, found.producer_id)

    def _unfinished(self) -> Collection[Transaction]:
        self._begun = {key: each for key, each in self._begun.items() if each.is_unfinished}
        return self._begun.values()

    def _unix_ms(self, now_ns: int) -> int:
        return self._epoch_ms + now_ns // NS_PER_MS

    def _write(self, now_ns: int, found: Transaction) -> Reply[None]:
        found.updated_ms = self._unix_ms(now_ns)
        written = self.states.write(now_ns, found)
        for known in (self._by_id, self._begun):
            if known.pop(found.transactional_id, None) is not None:
                known[found.transactional_id] = found
        return written

    def _begin(self, now_ns: int, found: Transaction) -> None:
        if found.state is TransactionState.ONGOING:
            return
        found.move(TransactionState.ONGOING)
        self._begun[found.transactional_id] = found
        found.clear()
        found.previous_epoch = NO_EPOCH
        found.replaced = None
        found.started_ms, found.started_ns = self._unix_ms(now_ns), now_ns
        self._await_end(now_ns, found)
        self._events.emit(
            now_ns,
            EventKind.TRANSACTION_STARTED,
            client=found.client,
            detail={
                "transactional_id": found.transactional_id,
                "producer_id": found.producer_id,
                "epoch": found.epoch,
                "timeout_ms": found.timeout_ms,
            },
        )

    def _await_end(self, now_ns: int, found: Transaction) -> None:
        left_ms = min(found.started_ms + found.timeout_ms - self._unix_ms(now_ns), MAX_WAIT_MS)
        deadline_ns = max(now_ns, now_ns + left_ms * NS_PER_MS)
        found.timer = self._timers.at(deadline_ns, lambda at_ns: self._timed_out(at_ns, found))

    def _new_identity(self) -> Identity:
        return self._ports.new_identity(self._greatest)

    def _bump(self, found: Transaction, *, keeps: bool) -> None:
        old = found.identity
        if found.epoch + 1 < MAX_EPOCH:
            found.epoch += 1
            found.previous_epoch, found.replaced = old.epoch if keeps else NO_EPOCH, None
            return
        del self._by_producer[found.producer_id]
        found.producer_id, found.epoch = self._new_identity()
        found.previous_epoch, found.replaced = NO_EPOCH, old if keeps else None
        self._keep(found)

    def _known(self, transactional_id: str) -> Transaction:
        about = f"nobody has {transactional_id!r}"
        return must(self._by_id.get(transactional_id), ErrorCode.INVALID_PRODUCER_ID_MAPPING, about)

    def _checked(self, transactional_id: str, identity: Identity) -> Transaction:
        found = self._known(transactional_id)
        self._match(found, identity)
        self._not_prepared(found)
        return found

    def _match(self, found: Transaction, identity: Identity) -> None:
        if identity.producer_id != found.producer_id:
            about = f"{found.transactional_id!r} has {found.producer_id}, not {identity.producer_id}"
            raise BrokerError(ErrorCode.INVALID_PRODUCER_ID_MAPPING, about)
        if identity.epoch != found.epoch:
            raise self._fenced(found, identity)

    def _fenced(self, found: Transaction, identity: Identity) -> BrokerError:
        about = f"{found.transactional_id!r} is at epoch {found.epoch}, not {identity.epoch}"
        return BrokerError(ErrorCode.PRODUCER_FENCED, about)

    def _not_prepared(self, found: Transaction) -> None:
        if found.state in PREPARED:
            raise BrokerError(ErrorCode.CONCURRENT_TRANSACTIONS, f"{found.transactional_id!r} is {found.state}")


def _wrong_state(found: Transaction, commits: bool) -> BrokerError:
    what = "be committed" if commits else "be aborted"
    return BrokerError(ErrorCode.INVALID_TXN_STATE, f"{found.transactional_id!r} is {found.state} and cannot {what}")
