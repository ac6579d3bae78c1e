"""A producer: publishes what arrives, and waits where the broker makes it wait."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from broker_core.clock import NS_PER_S
from broker_core.errors import BrokerError, ErrorCode
from broker_core.flow.adaptive import AdaptiveInterval
from broker_core.flow.token_bucket import TokenBucket
from broker_core.lab.actor import Actor
from broker_core.lab.arrivals import Arrival
from broker_core.lab.specs import GroupSpec, ProducerSpec
from broker_core.messages import Message

# A disk that refuses is asked again after this long; nothing is given up for it.
STORAGE_RETRY_S = 0.5


class ProducerActor(Actor):
    """Publishes each arrival at its time, or as soon after as backpressure and its own rate limit let it."""

    role = "producer"

    def __init__(self, spec: ProducerSpec) -> None:
        super().__init__(spec.name)
        self.spec = spec
        self.rate_per_s: float | None = None  # in place of the arrivals' own times, as a person has set it
        self._next_ns = 0
        self._shift_ns = 0
        self._anchored = True
        self._arrivals: Iterator[Arrival] = iter(())
        self._at_hand: Arrival | None = None
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
            self.stop()
            self.start()

    def come_back(self, groups: Mapping[str, GroupSpec]) -> None:
        # What would have come meanwhile has not come.
        self._anchored = False
        self._next_ns = self.loop.now_ns
        super().come_back(groups)

    def _due_ns(self, arrival_ns: int) -> int:
        if self.rate_per_s is not None:
            return self._next_ns
        if not self._anchored:
            self._anchored = True
            self._shift_ns = self.loop.now_ns - arrival_ns
        return arrival_ns + self._shift_ns

    @property
    def target(self) -> str:
        return self.spec.to

    @property
    def topics(self) -> tuple[str, ...]:
        return (self.spec.to,)

    async def run(self) -> None:
        # What was at hand in a crash was not published, or nobody knows: it is offered again.
        while (arrival := self._at_hand or next(self._arrivals, None)) is not None:
            self._at_hand = arrival
            arrival_ns, message = arrival
            due_ns = self._due_ns(arrival_ns)
            paced = self.pace is not None and self.rate_per_s is None
            if due_ns > self.loop.now_ns and (not paced or not self._started):
                self.enter("running")
                await self.loop.wait_until_ns(due_ns)
            accepted = await self._offer(message)
            self._at_hand = None
            if self.rate_per_s is not None:
                self._next_ns = max(self.loop.now_ns, due_ns) + round(NS_PER_S / self.rate_per_s)
            elif self.pace is not None:
                self.enter("running")
                await self.sleep(self.pace.accepted() if accepted else self.pace.refused())

    @property
    def _started(self) -> bool:
        return self.processed + self.failed > 0

    async def _offer(self, message: Message) -> bool:
        """Publish `message`, or give it up: False."""
        while True:
            await self._wait_for_token()
            try:
                reply = self.broker.publish(self.loop.now_ns, self.spec.to, message, client=self.name)
                if not reply.done:
                    self.enter("blocked")
                published = await reply
            except BrokerError as error:
                if error.code is ErrorCode.STORAGE_ERROR:
                    self.enter("waiting")
                    await self.sleep(STORAGE_RETRY_S)
                    continue
                if error.code is ErrorCode.INVALID_RECORD:
                    self.failed += 1
                    return False
                if error.code is not ErrorCode.THROTTLED:
                    raise
            else:
                if published is not None and published.topic != self.spec.to:
                    # Its schema has sent it to the dead letters.
                    self.failed += 1
                    return False
                if published is not None:
                    self.count()
                    return not published.missed_by
            self.failed += 1
            if self.spec.retry_ms is None:
                return False
            self.enter("waiting")
            await self.sleep(self.spec.retry_ms / 1_000)

    async def _wait_for_token(self) -> None:
        while self._bucket is not None and self.rate_per_s is None and (wait_ns := self._bucket.take(self.loop.now_ns)):
            self.enter("waiting")
            await self.loop.wait_ns(wait_ns)
