from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from msgspec import structs

from broker_core.broker.publishing import Published
from broker_core.clock import NS_PER_S, ns_from_ms
from broker_core.errors import BrokerError, ErrorCode
from broker_core.flow.adaptive import AdaptiveInterval
from broker_core.flow.token_bucket import TokenBucket
from broker_core.limits import MAX_BATCH_RECORDS
from broker_core.messages import Message
from broker_core.replies import Reply
from broker_core.simulation.actor import Actor
from broker_core.simulation.arrival_files import Arrival
from broker_core.simulation.specs import GroupSpec, ProducerSpec
from broker_core.snapshots import ActorView

# A disk that refuses is asked again after this long; nothing is given up for it.
STORAGE_RETRY_S = 0.5


class ProducerActor(Actor):
    """Publishes each arrival at its time, or as soon after as backpressure and its own rate limit let it.

    With a linger it waits that long behind an arrival for others, and publishes them in one batch for each partition.
    """

    role = "producer"

    def __init__(self, spec: ProducerSpec) -> None:
        super().__init__(spec.name)
        self.spec = spec
        self.rate_per_s: float | None = None  # in place of the arrivals' own times, as a person has set it
        self._next_ns = 0
        self._shift_ns = 0
        self._anchored = True
        self._arrivals: Iterator[Arrival] = iter(())
        # What was at hand in a crash was not published, or nobody knows: it is offered again.
        self._at_hand: deque[Arrival] = deque()
        self._linger_ns = ns_from_ms(spec.linger_ms)
        self._bucket = None if spec.rate_per_s is None else TokenBucket(spec.rate_per_s, spec.burst)
        self.pace: AdaptiveInterval | None = None
        if spec.adaptive is not None:
            adaptive = spec.adaptive
            self.pace = AdaptiveInterval(adaptive.base_s, adaptive.on_refusal_times, adaptive.on_success_divide)

    def feed(self, arrivals: Iterator[Arrival]) -> None:
        """Publish `arrivals`, which may be drawn with this actor's own random numbers."""
        self._arrivals = arrivals

    def set_rate(self, rate_per_s: float | None) -> None:
        """Send so many messages a second from now on; None: at the arrivals' times, the next one now."""
        self._anchored = self._anchored and rate_per_s == self.rate_per_s
        self.rate_per_s = rate_per_s
        self._next_ns = self.loop.now_ns
        if self.state == "running" and not self.paused:
            # It waits for what is next, which may come sooner now.
            self.cancel_task()
            self.start()

    def come_back(self, groups: Mapping[str, GroupSpec]) -> None:
        # What would have come meanwhile has not come.
        self._anchored = False
        self._next_ns = self.loop.now_ns
        super().come_back(groups)

    def _due_ns(self, place: int = 0) -> int:
        arrival_ns = self._at_hand[place][0]
        if self.rate_per_s is not None:
            return self._next_ns + round(place * NS_PER_S / self.rate_per_s)
        if not self._anchored:
            self._anchored = True
            self._shift_ns = self.loop.now_ns - arrival_ns
        return arrival_ns + self._shift_ns

    @property
    def target(self) -> str:
        return self.spec.to

    def view(self) -> ActorView:
        return structs.replace(super().view(), linger_ms=self.spec.linger_ms)

    async def run(self) -> None:
        while self._draw(1):
            due_ns = self._due_ns()
            paced = self.pace is not None and self.rate_per_s is None
            lingered_ns = due_ns + self._linger_ns
            if lingered_ns > self.loop.now_ns and (not paced or not self.processed + self.failed):
                self.enter("running")
                await self.loop.wait_until_ns(lingered_ns)
            count = self._together(lingered_ns)
            last_ns = self._due_ns(count - 1)
            accepted = await self._send(count)
            if self.rate_per_s is not None:
                self._next_ns = max(self.loop.now_ns - self._linger_ns, last_ns) + round(NS_PER_S / self.rate_per_s)
            elif self.pace is not None:
                self.enter("running")
                await self.sleep(self.pace.accepted() if accepted else self.pace.refused())

    def _draw(self, count: int) -> bool:
        self._at_hand.extend(islice(self._arrivals, max(0, count - len(self._at_hand))))
        return len(self._at_hand) >= count

    def _together(self, until_ns: int) -> int:
        """How many messages to send at once: one, or with a linger all that come due by its end."""
        count = 1
        if self._linger_ns:
            while count < MAX_BATCH_RECORDS and self._draw(count + 1) and self._due_ns(count) <= until_ns:
                count += 1
        return count

    async def _send(self, count: int) -> bool:
        """Publish the first `count` of those at hand; False if one was refused."""
        accepted = True
        for partition, part in self._parts(count):
            accepted = await self._offer(partition, part) and accepted
            for _ in part:
                self._at_hand.popleft()
        return accepted

    def _parts(self, count: int) -> list[tuple[int | None, list[Message]]]:
        """The first `count` of those at hand as a batch for each partition, in which order they are at hand now."""
        batch = [message for _, message in islice(self._at_hand, count)]
        if count == 1:
            return [(None, batch)]
        parts = self.broker.logs.by_partition(self.spec.to, batch)
        first_ns = self._at_hand[0][0]
        for _ in batch:
            self._at_hand.popleft()
        self._at_hand.extendleft((first_ns, message) for part in reversed(parts.values()) for message in reversed(part))
        return list(parts.items())

    async def _offer(self, partition: int | None, messages: Sequence[Message]) -> bool:
        """Publish `messages` to a partition, None for that of the first; False if it gives them up."""
        while True:
            for _ in messages:
                await self._wait_for_token()
            try:
                reply = self._publish(partition, messages)
                if not reply.done:
                    self.enter("blocked")
                published = await reply
            except BrokerError as error:
                if error.code is ErrorCode.STORAGE_ERROR:
                    self.enter("waiting")
                    await self.sleep(STORAGE_RETRY_S)
                    continue
                if error.code is ErrorCode.INVALID_RECORD:
                    self.failed += len(messages)
                    return False
                if error.code is not ErrorCode.THROTTLED:
                    raise
            else:
                if published is not None and published.topic != self.spec.to:
                    # Its schema has sent it to the dead letters.
                    self.failed += len(messages)
                    return False
                if published is not None:
                    self.count(len(messages))
                    return not published.missed_by
            self.failed += len(messages)
            if self.spec.retry_ms is None:
                return False
            self.enter("waiting")
            await self.sleep(self.spec.retry_ms / 1_000)

    def _publish(self, partition: int | None, messages: Sequence[Message]) -> Reply[Published | None]:
        return self.broker.publishing.publish_batch(
            self.loop.now_ns, self.spec.to, partition, messages, client=self.name
        )

    async def _wait_for_token(self) -> None:
        while self._bucket is not None and self.rate_per_s is None and (wait_ns := self._bucket.take(self.loop.now_ns)):
            self.enter("waiting")
            await self.loop.wait_ns(wait_ns)
