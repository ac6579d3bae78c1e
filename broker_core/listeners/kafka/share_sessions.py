"""What members of share groups have acquired, and the acknowledgements that they send (KIP-932).

A session is what a member has opened with its first ShareFetch; it ends with its last. A record that was acquired is
known by its delivery, so that an acknowledgement that comes too late is refused.
"""

from __future__ import annotations

import contextlib
from collections import OrderedDict
from collections.abc import Iterable
from typing import Any

import msgspec

from broker_core.broker.broker import Broker
from broker_core.errors import BrokerError, ErrorCode
from broker_core.queues.lease import Lease

MOST = 1_000
OPENING, CLOSING = 0, -1
_GAP, _ACCEPT, _RELEASE, _REJECT, _RENEW = range(5)
Place = tuple[str, int]


class ShareSession(msgspec.Struct):
    """`places` are the (topic, partition) that are fetched, `acquired` the leases by (topic, partition, offset)."""

    epoch: int = 1
    places: dict[Place, Any] = {}
    acquired: dict[tuple[str, int, int], Lease] = {}

    def acknowledge(self, broker: Broker, now_ns: int, topic: str, partition: int, batches: Iterable[Any]) -> None:
        """Apply acknowledgement batches. Raises the first error, when all are applied."""
        failed: BrokerError | None = None
        for batch in batches:
            kinds = tuple(batch.acknowledge_types)
            for place, offset in enumerate(range(batch.first_offset, batch.last_offset + 1)):
                kind = kinds[place] if len(kinds) > 1 else kinds[0]
                try:
                    self._one(broker, now_ns, (topic, partition, offset), kind)
                except BrokerError as error:
                    failed = failed or error
        if failed is not None:
            raise failed

    def _one(self, broker: Broker, now_ns: int, key: tuple[str, int, int], kind: int) -> None:
        lease = self.acquired.get(key) if kind == _RENEW else self.acquired.pop(key, None)
        if kind == _GAP and lease is None:
            return
        if lease is None:
            raise BrokerError(ErrorCode.INVALID_RECORD_STATE, f"{key[0]}/{key[1]} @{key[2]} was not acquired")
        if kind in {_ACCEPT, _GAP}:
            broker.queues.ack(now_ns, lease)
        elif kind in {_RELEASE, _REJECT}:
            cause = "released by its share consumer" if kind == _RELEASE else "rejected by its share consumer"
            broker.queues.nack(now_ns, lease, cause, requeue=kind == _RELEASE)
        elif kind == _RENEW:
            queue = broker.queues.queue(lease.queue)
            queue.extend(now_ns, lease.partition, lease.offset, lease.holder, attempt=lease.attempt)
        else:
            raise BrokerError(ErrorCode.INVALID_REQUEST, f"acknowledge type {kind}")

    def release_all(self, broker: Broker, now_ns: int) -> None:
        """Release the records that are still acquired; those whose lock has expired may belong to another member."""
        for lease in self.acquired.values():
            with contextlib.suppress(BrokerError):
                broker.queues.queue(lease.queue).release(
                    now_ns, lease.partition, lease.offset, lease.holder, attempt=lease.attempt
                )
        self.acquired.clear()


class ShareSessions:
    """The sessions of a listener, by group and member. Used under the host's lock."""

    def __init__(self) -> None:
        self._sessions: OrderedDict[tuple[str, str], ShareSession] = OrderedDict()

    def at(self, group: str, member_id: str, epoch: int) -> ShareSession:
        """The session at `epoch`, which is opened by OPENING, and is forgotten by CLOSING.

        Raises SHARE_SESSION_NOT_FOUND, INVALID_SHARE_SESSION_EPOCH, SHARE_SESSION_LIMIT_REACHED.
        """
        key = (group, member_id)
        if epoch == OPENING:
            if len(self._sessions) >= MOST and key not in self._sessions:
                raise BrokerError(ErrorCode.SHARE_SESSION_LIMIT_REACHED, f"there are {MOST}")
            self._sessions[key] = ShareSession()
            return self._sessions[key]
        found = self._sessions.get(key)
        if found is None:
            raise BrokerError(ErrorCode.SHARE_SESSION_NOT_FOUND, f"of {member_id} in {group}")
        if epoch == CLOSING:
            return self._sessions.pop(key)
        if epoch != found.epoch:
            raise BrokerError(ErrorCode.INVALID_SHARE_SESSION_EPOCH, f"{epoch} instead of {found.epoch}")
        found.epoch += 1
        return found
