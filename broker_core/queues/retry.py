"""Retry policies: the delay after a failed attempt, and its random part."""

from __future__ import annotations

from typing import Annotated, Literal

from broker_core.clock import NS_PER_MS
from broker_core.kinds import Range
from broker_core.settings import Positive, Settings, WaitMsNumber, checked

RetryKind = Literal["none", "fixed", "exponential", "exponential_jitter"]


class RetryPolicy(Settings, frozen=True, forbid_unknown_fields=True):
    """The delay after attempt n, in milliseconds, at most `max_ms`.

    `none` is 0, `fixed` is `base_ms`, `exponential` is `base_ms * factor ** (n - 1)`, and `exponential_jitter` is a
    random part of that, between 0 and the whole ("full jitter"). `max_ms` is a week at most.
    """

    kind: RetryKind = "none"
    base_ms: WaitMsNumber = 1_000.0
    max_ms: WaitMsNumber = 60_000.0
    factor: Annotated[float, Range(1)] = 2.0

    @checked
    def delay_ns(self, attempt: Positive, unit_interval: float) -> int:
        """The delay in nanoseconds after attempt number `attempt`, from 1.

        `unit_interval` is a random number in [0, 1), used by `exponential_jitter` only.
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
