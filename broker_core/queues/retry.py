"""How long a message that was refused waits before it is handed out again."""

from __future__ import annotations

from typing import Annotated, Literal

from broker_core.clock import NS_PER_MS
from broker_core.kinds import Range
from broker_core.settings import Positive, Settings, WaitMsNumber, checked

RetryKind = Literal["none", "fixed", "exponential", "exponential_jitter"]


class RetryPolicy(Settings, frozen=True, forbid_unknown_fields=True):
    """The delay after attempt n, in milliseconds.

    `none` waits nothing, `fixed` waits `base_ms`, `exponential` waits `base_ms * factor ** (n - 1)`, and
    `exponential_jitter` a random part of that, from nothing to the whole ("full jitter"). Never more than `max_ms`,
    which is a week at most.
    """

    kind: RetryKind = "none"
    base_ms: WaitMsNumber = 1_000.0
    max_ms: WaitMsNumber = 60_000.0
    factor: Annotated[float, Range(1)] = 2.0

    @checked
    def delay_ns(self, attempt: Positive, unit_interval: float) -> int:
        """Nanoseconds to wait after delivery number `attempt` (from 1) has failed.

        `unit_interval` is the randomness, from 0 up to 1; only `exponential_jitter` looks at it.
        """
        if self.kind == "none":
            return 0
        most_ns = int(self.max_ms * NS_PER_MS)
        if self.kind == "fixed":
            return min(int(self.base_ms * NS_PER_MS), most_ns)
        try:
            grown_ms = self.base_ms * self.factor ** (attempt - 1)
        except OverflowError:
            grown_ms = self.max_ms
        grown_ns = int(min(grown_ms, self.max_ms) * NS_PER_MS)
        if self.kind == "exponential_jitter":
            grown_ns = int(grown_ns * min(max(unit_interval, 0.0), 1.0))
        return min(grown_ns, most_ns)
