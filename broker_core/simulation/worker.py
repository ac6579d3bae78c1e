from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Mapping

from broker_core.broker.share_groups import JOINING, LEAVING
from broker_core.clock import ns_from_ms, ns_from_s
from broker_core.engine.loop import first_of
from broker_core.errors import BrokerError, ErrorCode
from broker_core.messages import StoredMessage
from broker_core.queues.lease import Lease
from broker_core.replies import Reply
from broker_core.simulation.actor import Actor
from broker_core.simulation.durations import Duration
from broker_core.simulation.specs import Failure, ShareGroupSpec, SubscriberSpec, WorkerSpec
from broker_core.timers import Timer

TAKE_TIMEOUT_NS = ns_from_s(30)

Leases = Reply[list[Lease]]


class Lessee(Actor):
    """Works on one leased message after the other."""

    def __init__(self, name: str, spec: WorkerSpec | SubscriberSpec | ShareGroupSpec) -> None:
        super().__init__(name)
        self._processing: Duration = spec.processing
        self.usual_processing = spec.processing
        self._failures = spec.failures
        self._ack_before = spec.ack == "before"
        self.queues: tuple[str, ...] = ()  # and subscriptions, from which it takes messages

    def retire(self) -> None:
        super().retire()
        for queue in self.queues:
            if queue in self.broker.queues:
                self.broker.queues.queue(queue).release_holder(self.loop.now_ns, self.name, f"{self.name} was removed")

    async def _handle(self, lease: Lease) -> None:
        try:
            if self._ack_before:
                self.broker.queues.ack(self.loop.now_ns, lease)
            await self.work(self._processing)
            failure = self._drawn_failure(lease.message)
            rule = await self.fails_by_rule(lease.message)
            if rule is not None:
                failure = Failure(cause=rule.cause, rate=1, kind=rule.outcome)  # type: ignore[arg-type] # no crash
            if failure is None:
                if not self._ack_before:
                    self.broker.queues.ack(self.loop.now_ns, lease)
                self.count()
                return
            kind = "" if self._ack_before else failure.kind
            if kind == "nack":
                self.broker.queues.nack(self.loop.now_ns, lease, failure.cause)
            self.failed += 1
            if kind == "hang":
                self.enter("paused")
                await self.loop.wait_until_ns(lease.deadline_ns)
        except BrokerError as error:
            # The work took longer than the lease: another worker has the message now.
            if error.code is not ErrorCode.INVALID_LEASE:
                raise
            self.failed += 1

    def _drawn_failure(self, message: StoredMessage) -> Failure | None:
        drawn = self.numbers.random()
        for failure in self._failures:
            if failure.when is not None and not failure.when.met_by(message.value):
                continue
            if drawn < failure.rate:
                return failure
            drawn -= failure.rate
        return None

    def _cancel(self, queue: str, take: Leases) -> None:
        # A queue that was deleted has ended its takes; its error must not stand in the way of an actor's own end.
        with contextlib.suppress(BrokerError):
            self.broker.queues.cancel_take(queue, take)


class WorkerActor(Lessee):
    """A worker of a queue, whose messages all its workers share.

    It asks for more while it works, until it has as many as it may take ahead; who stands still goes on getting them,
    as the buffer of a client does.
    """

    def __init__(self, name: str, spec: WorkerSpec) -> None:
        super().__init__(name, spec)
        self.spec = spec
        self.queues = (spec.queue,)
        self._ahead: deque[Lease] = deque()
        self._asked: Leases | None = None
        self._arrival: Reply[None] = Reply.of(None)

    @property
    def target(self) -> str:
        return self.spec.queue

    async def run(self) -> None:
        self._ahead.clear()
        try:
            while True:
                self._ask()
                if self._ahead:
                    await self._handle(self._ahead[0])
                    self._ahead.popleft()
                    continue
                self.enter("waiting")
                self._arrival = Reply()
                await self._arrival
        finally:
            asked, self._asked = self._asked, None
            if asked is not None:
                self._cancel(self.spec.queue, asked)

    def _ask(self) -> None:
        now_ns, spec = self.loop.now_ns, self.spec
        room = spec.prefetch - len(self._ahead)
        if self._asked is not None or room <= 0:
            return
        self._asked = self.broker.queues.take(
            now_ns, spec.queue, self.name, max_messages=room, deadline_ns=now_ns + TAKE_TIMEOUT_NS, weight=spec.weight
        )
        self._asked.then(self._take_arrived)

    def _take_arrived(self, reply: Leases) -> None:
        if reply is not self._asked:
            return
        self._asked = None
        if reply.error is not None:
            self._arrival.fail(reply.error)
            return
        self._ahead.extend(reply.result())
        self._ask()
        self._arrival.resolve(None)


class SubscriberActor(Lessee):
    """Gets every message of its topics, each through a subscription of its own, of which the first comes first."""

    def __init__(self, spec: SubscriberSpec | ShareGroupSpec, name: str) -> None:
        super().__init__(name, spec)
        self._topics = spec.topics
        self.queues = tuple(spec.subscriptions.values())

    @property
    def target(self) -> str:
        return self.queues[0]

    @property
    def topics(self) -> tuple[str, ...]:
        return self._topics

    async def run(self) -> None:
        while True:
            self.enter("waiting")
            for lease in await self._next():
                await self._handle(lease)

    async def _next(self) -> list[Lease]:
        for queue in self.queues if len(self.queues) > 1 else ():
            if leases := self._take(queue, 0).result():
                return leases
        waits = {queue: self._take(queue, TAKE_TIMEOUT_NS) for queue in self.queues}
        # The moment one is served the others stand back, so that they lose nothing.
        for wait in waits.values():
            wait.then(lambda served: self._stand_back(waits, served))
        try:
            await first_of(*waits.values())
        finally:
            self._stand_back(waits, None)
        return [lease for wait in waits.values() for lease in wait.result()]

    def _take(self, queue: str, timeout_ns: int) -> Leases:
        now_ns = self.loop.now_ns
        deadline_ns = now_ns + timeout_ns if timeout_ns else None
        return self.broker.queues.take(now_ns, queue, self.name, deadline_ns=deadline_ns)

    def _stand_back(self, waits: Mapping[str, Leases], served: Leases | None) -> None:
        for queue, wait in waits.items():
            if wait is not served:
                self._cancel(queue, wait)


class ShareMemberActor(SubscriberActor):
    """Takes messages of all partitions of its topics, one at a time, each on a lock; and says that it is there.

    Who crashes is a member until its session times out; its message is delivered to another when the lock expires.
    """

    def __init__(self, spec: ShareGroupSpec, name: str) -> None:
        super().__init__(spec, name)
        self.share_group = spec
        self._epoch = JOINING
        self._heartbeat: Timer | None = None

    def start(self) -> None:
        self._epoch = JOINING
        self._beat(self.loop.now_ns)
        super().start()

    def crash(self) -> None:
        super().crash()
        self._stop_heartbeat()

    def retire(self) -> None:
        super().retire()
        self._stop_heartbeat()
        # Its session may have timed out.
        with contextlib.suppress(BrokerError):
            self._say(self.loop.now_ns, LEAVING)

    def _beat(self, now_ns: int) -> None:
        if not self.paused:
            try:
                self._epoch = self._say(now_ns, self._epoch)
            except BrokerError:
                # It stood still for longer than its session lasts: it joins again.
                self._epoch = self._say(now_ns, JOINING)
        due_ns = now_ns + ns_from_ms(self.share_group.heartbeat_interval_ms)
        self._heartbeat = self.loop.timers.at(due_ns, self._beat)

    def _say(self, now_ns: int, epoch: int) -> int:
        spec = self.share_group
        told = self.broker.share_groups.heartbeat(now_ns, spec.name, self.name, epoch, self.name, spec.topics)
        return told.epoch

    def _stop_heartbeat(self) -> None:
        if self._heartbeat is not None:
            self._heartbeat.cancel()
            self._heartbeat = None
