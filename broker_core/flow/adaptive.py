"""An adaptive interval between messages, which grows with refusals."""

from __future__ import annotations

from broker_core.errors import ConfigError
from broker_core.settings import AtLeastOne, Settings, TimeMsAboveZero


class AdaptiveConfig(Settings, frozen=True, kw_only=True):
    """One message each `base_ms`; the interval is multiplied on a refusal, and divided on a success."""

    base_ms: TimeMsAboveZero
    on_refusal_times: AtLeastOne = 2.0
    on_success_divide: AtLeastOne = 1.5


class AdaptiveInterval:
    """The interval in seconds: multiplied after a refusal, divided after a success, at least `base_s`."""

    def __init__(self, base_s: float, on_refusal_times: float = 2.0, on_success_divide: float = 1.5) -> None:
        """Raises INVALID_CONFIG for an interval of 0 or less, and for factors below 1."""
        if not 0 < base_s < float("inf"):
            raise ConfigError(f"base interval {base_s} s must be more than 0")
        if not on_refusal_times >= 1 or not on_success_divide >= 1:
            raise ConfigError(
                f"adaptive factors {on_refusal_times} and {on_success_divide} must be at least 1",
            )
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
