"""A gate in front of a plain queue, in virtual time."""

from __future__ import annotations

from typing import Any

from broker_core.clock import NS_PER_MS
from broker_core.events import Event, EventStream
from broker_core.flow.config import FlowConfig
from broker_core.flow.gate import Gate, OfferResult
from broker_core.replies import Reply
from broker_core.timers import Timers


class GateSetup:
    """Times are milliseconds here. `inside` holds (name, size, priority), the oldest first."""

    def __init__(self, *, slowest: str = "mailer-1", evicts: bool = True, **config: Any) -> None:
        self.events: list[Event] = []
        self.stream = EventStream()
        self.stream.attach(self.events.append)
        self.timers = Timers()
        self.now_ms = 0
        self.inside: list[tuple[str, int, int]] = []
        self.slowest = slowest
        self.error: Exception | None = None
        self.gate = Gate(
            "builds", FlowConfig(**config), self.depth, self.stream, self.timers, evict=self.evict if evicts else None
        )

    @property
    def now_ns(self) -> int:
        return self.now_ms * NS_PER_MS

    def depth(self) -> tuple[int, int, str]:
        return len(self.inside), sum(size for _, size, _ in self.inside), self.slowest

    def evict(self, now_ns: int, messages: int, size_bytes: int, than: int | None) -> bool:
        victims: list[tuple[str, int, int]] = []
        for item in self.inside:
            if messages <= 0 and size_bytes <= 0:
                break
            if than is None or item[2] > than:
                victims.append(item)
                messages -= 1
                size_bytes -= item[1]
        if messages > 0 or size_bytes > 0:
            return False
        for victim in victims:
            self.inside.remove(victim)
        return True

    def offer(
        self, name: str, client: str = "p", count: int = 1, size: int = 1, priority: int = 0
    ) -> Reply[OfferResult]:
        def admit(now_ns: int) -> None:
            if self.error is not None:
                raise self.error
            self.inside += [(name, size // count, priority)] * count

        return self.gate.offer(self.now_ns, client, count, size, admit, priority=priority)

    def consume(self, count: int = 1) -> list[str]:
        """The oldest go out, and the gate hears of it."""
        gone, self.inside = self.inside[:count], self.inside[count:]
        self.gate.room(self.now_ns)
        return [name for name, _, _ in gone]

    def until(self, time_ms: int) -> None:
        while self.timers.fire_next(time_ms * NS_PER_MS) is not None:
            pass
        self.now_ms = time_ms

    def kinds(self) -> list[tuple[str, str]]:
        return [(event.kind.value, event.client) for event in self.events]

    def names(self) -> list[str]:
        return [name for name, _, _ in self.inside]
