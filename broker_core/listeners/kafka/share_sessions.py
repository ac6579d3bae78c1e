"""Messages acquired by members of share groups, and their acknowledgements (KIP-932).

A session is what a member has opened with its first ShareFetch; it ends with its last. A record that was acquired is
known by its delivery, so that an acknowledgement that comes too late is refused.
"""

from __future__ import annotations

import contextlib
import itertools
from collections import OrderedDict
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import msgspec

from broker_core.broker.broker import Broker
from broker_core.broker.share_groups import REJECTED
from broker_core.errors import BrokerError, ErrorCode, must
from broker_core.log.client_batch import MAX_RECORDS
from broker_core.messages import TopicPartition
from broker_core.queues.lease import Lease

_MAX_SESSIONS = 1_000
OPENING, CLOSING = 0, -1
_GAP, _ACCEPT, _RELEASE, _REJECT, _RENEW = range(5)
_KINDS = frozenset(range(5))


def check_acknowledgements(topics: Iterable[Any]) -> None:
    """Raises INVALID_REQUEST if a request acknowledges more records in all than one may."""
    batches = (each for topic in topics for at in topic.partitions for each in at.acknowledgement_batches)
    count = sum(max(0, each.last_offset - each.first_offset + 1) for each in batches)
    if count > MAX_RECORDS:
        raise BrokerError(
            ErrorCode.INVALID_REQUEST, f"acknowledgements of {count} records, where {MAX_RECORDS} are most"
        )


class ShareSession(msgspec.Struct):
    """`places` are the (topic, partition) that are fetched, `missing` those of unknown topics, by id, `acquired` the
    leases by (topic, partition, offset).

    What is acquired is released where the session is closed or its `connection` is lost, and not when the member leaves
    its group: its last acknowledgements may come behind that.
    """

    group: str
    connection: int = 0
    epoch: int = 1
    places: dict[TopicPartition, Any] = {}
    missing: set[tuple[Any, int]] = set()
    acquired: dict[tuple[str, int, int], Lease] = {}

    def acknowledge(
        self, broker: Broker, now_ns: int, place: TopicPartition, batches: Iterable[Any]
    ) -> BrokerError | None:
        """Apply acknowledgement batches; the first error of one of them. What is below the start offset is finished,
        and passed over, as in Kafka."""
        failed: BrokerError | None = None
        position = broker.share_groups.position(self.group, *place) if place in self.places else None
        start_offset = 0 if position is None else position.start_offset
        for batch in batches:
            kinds, count = tuple(batch.acknowledge_types), batch.last_offset - batch.first_offset + 1
            if len(kinds) not in {1, count} or not {*kinds} <= _KINDS:
                told = f"acknowledgements {[*kinds[:9]]} of {count} records"
                failed = failed or BrokerError(ErrorCode.INVALID_REQUEST, told)
                continue
            if len(kinds) < count:
                kinds *= count
            for kind, group in itertools.groupby(enumerate(kinds, batch.first_offset), key=lambda pair: pair[1]):
                wrong = self._acknowledge_by(broker, now_ns, place, [offset for offset, _ in group], kind, start_offset)
                failed = failed or wrong
        return failed

    def _acknowledge_by(
        self, broker: Broker, now_ns: int, place: TopicPartition, offsets: list[int], kind: int, start_offset: int
    ) -> BrokerError | None:
        """Acknowledge the records at these `offsets` by one kind; the first error, also of a lock that has run out."""
        if kind == _RENEW and not broker.groups.configs.of(self.group).renew_enabled:
            return BrokerError(
                ErrorCode.INVALID_RECORD_STATE, f"share.renew.acknowledge.enable of {self.group} is false"
            )
        failed: BrokerError | None = None
        leases: list[Lease] = []
        for offset in offsets:
            key = (*place, offset)
            lease = self.acquired.get(key) if kind == _RENEW else self.acquired.pop(key, None)
            if offset < start_offset:
                continue
            if lease is not None:
                leases.append(lease)
            elif kind != _GAP and failed is None:
                failed = BrokerError(
                    ErrorCode.INVALID_RECORD_STATE, f"{place[0]}/{place[1]} @{offset} was not acquired"
                )
        queues = broker.queues
        actions: list[Callable[[], object]] = [partial(queues.ack_many, now_ns, leases)]
        if kind == _RENEW:
            actions = [partial(queues.extend, now_ns, lease) for lease in leases]
        elif kind in {_RELEASE, _REJECT}:
            cause = "released by its share consumer" if kind == _RELEASE else REJECTED
            actions = [partial(queues.nack, now_ns, lease, cause, requeue=kind == _RELEASE) for lease in leases]
        for act in actions:
            try:
                act()
            except BrokerError as error:
                failed = failed or error
        return failed

    def release_all(self, broker: Broker, now_ns: int) -> None:
        """Release the records that are still acquired; those whose lock has expired may belong to another member."""
        for lease in self.acquired.values():
            with contextlib.suppress(BrokerError):
                broker.queues.release(now_ns, lease)
        self.acquired.clear()


class ShareSessions:
    """The sessions of a listener, by group and member. Used under the host's lock."""

    def __init__(self) -> None:
        self._sessions: OrderedDict[tuple[str, str], ShareSession] = OrderedDict()

    def partitions_read_by_all(self, group: str, members: Iterable[str], topic: str) -> int:
        """How many partitions of `topic`, from 0 on, all of these members read."""
        found = (self._sessions.get((group, member_id)) for member_id in members)
        places = [session.places for session in found if session is not None]
        return next(number for number in itertools.count() if not all((topic, number) in each for each in places))

    def must_be_open(self, group: str, member_id: str) -> ShareSession:
        """Raises SHARE_SESSION_NOT_FOUND."""
        found = self._sessions.get((group, member_id))
        return must(found, ErrorCode.SHARE_SESSION_NOT_FOUND, f"of {member_id} in {group}")

    def is_open(self, group: str, member_id: str) -> bool:
        return (group, member_id) in self._sessions

    def lost(self, broker: Broker, now_ns: int, connection: int) -> None:
        """A connection is closed, and its sessions with it."""
        for key in [key for key, session in self._sessions.items() if session.connection == connection]:
            self._sessions.pop(key).release_all(broker, now_ns)

    def advance(self, group: str, member_id: str, epoch: int, connection: int = 0) -> ShareSession:
        """The session of a request at `epoch`, which the next request counts on. OPENING opens it, CLOSING ends it.

        Raises SHARE_SESSION_NOT_FOUND, INVALID_SHARE_SESSION_EPOCH, SHARE_SESSION_LIMIT_REACHED.
        """
        key = (group, member_id)
        if epoch == OPENING:
            if len(self._sessions) >= _MAX_SESSIONS and key not in self._sessions:
                raise BrokerError(ErrorCode.SHARE_SESSION_LIMIT_REACHED, f"there are {_MAX_SESSIONS}")
            self._sessions[key] = ShareSession(group, connection)
            return self._sessions[key]
        found = self.must_be_open(group, member_id)
        if epoch == CLOSING:
            return self._sessions.pop(key)
        if epoch != found.epoch:
            raise BrokerError(ErrorCode.INVALID_SHARE_SESSION_EPOCH, f"{epoch} instead of {found.epoch}")
        found.epoch += 1
        return found
