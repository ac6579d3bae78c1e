"""What producers, consumers and workers of a scenario have in common: a state, counters, and a rate that fades."""

from __future__ import annotations

import math
import random

from broker_core.broker import Broker
from broker_core.clock import NS_PER_S, s_from_ns
from broker_core.engine.loop import Loop, Task
from broker_core.snapshots import ActorView

# Long enough to read, short enough to see a stop.
RATE_WINDOW_S = 3.0


class Actor:
    """One actor. A subclass gives `role`, `run`, and says what it is doing by `enter`."""

    role = ""

    def __init__(self, name: str, broker: Broker, loop: Loop, seed: int) -> None:
        self.name = name
        self.broker = broker
        self.loop = loop
        # Seeded by name, so that one more actor does not change what the others draw.
        self.numbers = random.Random(f"{seed}/{name}")
        self.state = "waiting"
        self.since_ns = 0
        self.processed = 0
        self.failed = 0
        self._rate_per_s = 0.0
        self._rate_ns = 0
        self._task: Task | None = None

    def start(self) -> None:
        """Begin to work at the loop's present time."""
        self._task = self.loop.spawn(self.run(), self.name)

    def stop(self) -> None:
        """Drop the work at hand."""
        if self._task is not None:
            self._task.cancel()
            self._task = None

    async def run(self) -> None:
        """The actor's life; it ends when this returns."""
        raise TypeError(f"{type(self).__name__} has no run method.")

    def enter(self, state: str) -> None:
        """Say what it is doing from now on."""
        if state != self.state:
            self.state = state
            self.since_ns = self.loop.now_ns

    def count(self, messages: int = 1) -> None:
        """Add to `processed` and to the rate."""
        self.processed += messages
        self._rate_per_s = self._faded_rate() + messages / RATE_WINDOW_S
        self._rate_ns = self.loop.now_ns

    def _faded_rate(self) -> float:
        age_s = s_from_ns(self.loop.now_ns - self._rate_ns)
        return self._rate_per_s * math.exp(-age_s / RATE_WINDOW_S)

    @property
    def target(self) -> str:
        """The topic, group or queue it works with."""
        return ""

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics or queues it touches."""
        return ()

    def view(self) -> ActorView:
        """As it is now."""
        rate_per_s = self._faded_rate()
        return ActorView(
            name=self.name,
            role=self.role,
            state=self.state,
            target=self.target,
            topics=self.topics,
            processed=self.processed,
            failed=self.failed,
            rate_per_s=rate_per_s if rate_per_s > 1 / NS_PER_S else 0.0,
            since_ns=self.since_ns,
        )
