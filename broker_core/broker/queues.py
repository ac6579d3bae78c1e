"""The part of the broker that hands out the messages of queues, and takes them back."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

import msgspec

from broker_core.broker.state import BrokerState
from broker_core.errors import BrokerError, ErrorCode
from broker_core.queues.dead_letters import Redriven
from broker_core.queues.lease import Lease, lease_runs
from broker_core.replies import Reply


class BrokerQueues(BrokerState):
    """What holders do: each call goes to the queue of its lease."""

    def take(
        self,
        now_ns: int,
        queue: str,
        holder: str,
        *,
        max_messages: int = 1,
        deadline_ns: int | None = None,
        weight: int = 1,
    ) -> Reply[list[Lease]]:
        """See `Queue.take`. Raises READ_ONLY where it could not be remembered who holds what."""
        found = self.queue(queue)
        if self.read_only:
            raise BrokerError(ErrorCode.READ_ONLY, self.read_only)
        return found.take(now_ns, holder, max_messages=max_messages, deadline_ns=deadline_ns, weight=weight)

    def cancel_take(self, queue: str, reply: Reply[list[Lease]]) -> None:
        """A parked take is no longer wanted."""
        self.queue(queue).cancel_take(reply)

    def ack(self, now_ns: int, lease: Lease, *, durable: bool | None = None) -> Reply[None]:
        """The holder has finished with the message, and `durable` as `Queue.ack` says. Raises INVALID_LEASE too."""
        written = self.queue(lease.queue).ack(
            now_ns, lease.partition, lease.offset, lease.holder, attempt=lease.attempt, durable=durable
        )
        self._make_room(now_ns, lease.queue)
        return written

    def ack_many(self, now_ns: int, leases: Sequence[Lease], *, durable: bool | None = None) -> Reply[None]:
        """`ack` all of these, neighbours in one step; where some are held no longer, INVALID_LEASE after the others."""
        late: BrokerError | None = None
        written: Reply[None] = Reply.of(None)
        for lease, count in lease_runs(leases):
            # What is written later is durable later.
            try:
                written = self._ack_run(now_ns, lease, count, durable)
            except BrokerError as error:
                late = late or error
                for offset in range(lease.offset, lease.offset + count if count > 1 else lease.offset):
                    with contextlib.suppress(BrokerError):
                        written = self._ack_run(now_ns, msgspec.structs.replace(lease, offset=offset), 1, durable)
        for name in {lease.queue: None for lease in leases}:
            self._make_room(now_ns, name)
        if late is None:
            return written
        failed, first = Reply[None](), late
        written.then(lambda done: failed.fail(done.error or first))
        if failed.done:
            raise first
        return failed

    def _ack_run(self, now_ns: int, first: Lease, count: int, durable: bool | None) -> Reply[None]:
        queue = self.queue(first.queue)
        return queue.ack(
            now_ns, first.partition, first.offset, first.holder, count=count, attempt=first.attempt, durable=durable
        )

    def nack(self, now_ns: int, lease: Lease, cause: str, *, requeue: bool = True) -> None:
        """The holder has failed: the message is tried again, or dead-lettered. Raises INVALID_LEASE."""
        self.queue(lease.queue).nack(
            now_ns, lease.partition, lease.offset, lease.holder, cause, requeue=requeue, attempt=lease.attempt
        )
        self._make_room(now_ns, lease.queue)

    def release(self, now_ns: int, lease: Lease) -> None:
        """The holder gives the message back as if it had never been handed out. Raises INVALID_LEASE."""
        self.queue(lease.queue).release(now_ns, lease.partition, lease.offset, lease.holder, attempt=lease.attempt)

    def undo_redrive(self, now_ns: int, queue: str, *, client: str) -> Reply[tuple[Redriven, ...]]:
        """Take back the last redrive of `queue`, unless that is too long ago: what nobody has taken yet is dead again.

        Where it is not on the disk yet, that is waited for. Raises INVALID_REQUEST where it went back to a topic: of a
        subscription, and of a topic whose schema dead-letters.
        """
        if queue in self._bins or queue in self._subscriptions:
            why = f"the dead letters of {queue} go back to a topic, whose log keeps them for every reader"
            raise BrokerError(ErrorCode.INVALID_REQUEST, f"{why}; a redrive of them cannot be taken back")
        found = self.queue(queue)

        ends = {place.to_partition: place.to_offset + 1 for place in found.dead_letters.last_redriven(now_ns)}
        waits = [self.syncs.durable(self._partition(queue, partition), end) for partition, end in ends.items()]
        reply: Reply[tuple[Redriven, ...]] = Reply()

        def take_back(_synced: Reply[None]) -> None:
            failed = next((each.error for each in waits if each.done and each.error is not None), None)
            if failed is not None:
                reply.fail(failed)
            elif not reply.done and all(each.done for each in waits):
                at_ns = max(now_ns, self._synced_ns)

                def withdraw(topic: str, partition: int, offset: int) -> bool:
                    return topic == queue and found.withdraw(at_ns, partition, offset, client)

                reply.resolve(found.dead_letters.undo_redrive(at_ns, withdraw=withdraw, client=client))

        for each in waits or [Reply.of(None)]:
            each.then(take_back)
        return reply

    def extend(self, now_ns: int, lease: Lease, lease_ms: float | None = None) -> Lease:
        """The lease with its new end, `lease_ms` from now, a week at most. Raises INVALID_LEASE, INVALID_REQUEST."""
        deadline_ns = self.queue(lease.queue).extend(
            now_ns, lease.partition, lease.offset, lease.holder, lease_ms, attempt=lease.attempt
        )
        return msgspec.structs.replace(lease, deadline_ns=deadline_ns)
