"""An adaptive interval between messages, which grows with refusals."""

from __future__ import annotations

from broker_core.settings import AtLeastOne, Settings, TimeMsAboveZero


class AdaptiveConfig(Settings, frozen=True, kw_only=True):
    """One message each `base_ms`; the interval is multiplied on a refusal, and divided on a success."""

    base_ms: TimeMsAboveZero
    on_refusal_times: AtLeastOne = 2.0
    on_success_divide: AtLeastOne = 1.5


class AdaptiveInterval:
    """The interval in seconds: multiplied after a refusal, divided after a success, at least `base_s`."""

    def __init__(self, base_s: float, on_refusal_times: float = 2.0, on_success_divide: float = 1.5) -> None:
        """The interval is above 0, both factors are at least 1, as in `AdaptiveConfig`."""
        self.base_s = base_s
        self.interval_s = base_s
        self._times = on_refusal_times
        self._divide = on_success_divide

    def refused(self) -> float:
        self.interval_s *= self._times
        return self.interval_s

    def accepted(self) -> float:
        """Shorten the interval, down to the base. Returns it, in seconds."""
        self.interval_s = max(self.base_s, self.interval_s / self._divide)
        return self.interval_s
