"""Whether a reader catches up: its lag of now against that of two seconds before."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from app.presenters.rates import Rates
from app.sessions.history.series import lag
from broker_core.clock import NS_PER_S

RISING, FALLING, STEADY = "rising", "falling", "steady"
_FEW_LOOKS, _LEAST_DRIFT = 4, 10  # of each half; messages


class LagTrend(NamedTuple):
    """In a word, and in how many seconds nothing is left at this pace; None where the lag does not fall."""

    word: str
    drains_s: int | None


def lag_trend(rates: Rates, time_ns: int, group: str, topic: str = "", partition: int = 0) -> LagTrend:
    """The trend of a group at a moment, or of one partition of it."""
    return trend_of(rates.levels(lag(group, topic, partition), time_ns))


def trend_of(lags: Sequence[tuple[int, float]]) -> LagTrend:
    """Of (ns, lag), oldest first. Steady without any, and where it moved by no more than a tenth or two messages.

    A large lag moves by less than a tenth for long: it counts, too, when it moves by more than it swings.
    """
    if not lags:
        return LagTrend(STEADY, None)
    (first_ns, before), (last_ns, now) = lags[0], lags[-1]
    moved = now - before
    if abs(moved) <= max(2, before // 10):
        moved = _drift([level for _ns, level in lags])
    word = STEADY if not moved else RISING if moved > 0 else FALLING
    if not now:
        return LagTrend(word, 0)
    if word != FALLING or now >= before:
        return LagTrend(word, None)
    return LagTrend(word, max(1, round(now * (last_ns - first_ns) / (before - now) / NS_PER_S)))


def _drift(lags: Sequence[float]) -> float:
    """How far the later half lies from the earlier one; 0 where no further than it swings."""
    half = len(lags) // 2
    if half < _FEW_LOOKS:
        return 0
    drift = sum(lags[-half:]) / half - sum(lags[:half]) / half
    swing = sum(abs(b - a) for a, b in pairwise(lags)) / (len(lags) - 1)
    return drift if abs(drift) > max(_LEAST_DRIFT, 2 * swing) else 0
