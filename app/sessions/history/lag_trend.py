"""Whether a reader catches up: the slope of its lag over the last seconds, for every place that tells of it."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

from app.sessions.history.series import SessionSeries, lag
from broker_core.clock import NS_PER_S

RISING, FALLING, STEADY = "rising", "falling", "steady"
_FEWEST, _LEAST_DRIFT, _SWINGS = 4, 2.0, 3.0  # looks; messages; standard deviations around the line


class LagTrend(NamedTuple):
    """A word and messages/s, below 0 if the lag falls and 0.0 if it is steady, over `over_ns`; and in how many
    seconds nothing is left at this pace, None if the lag does not fall.
    """

    word: str
    per_s: float
    over_ns: int
    drains_s: int | None


def lag_trend(series: SessionSeries, time_ns: int, group: str, topic: str = "", partition: int = 0) -> LagTrend:
    return trend_of(series.levels(lag(group, topic, partition), time_ns))


def trend_of(lags: Sequence[tuple[int, float]]) -> LagTrend:
    """The line of least squares through (ns, lag), oldest first.

    Steady where it moves by less than two messages in all, or by no more than three times what the lag swings around
    it: a reader that commits every second goes up and down without a trend.
    """
    looks, drains_s = len(lags), None if not lags or lags[-1][1] else 0
    over_ns = lags[-1][0] - lags[0][0] if lags else 0
    if looks < _FEWEST:
        return LagTrend(STEADY, 0.0, over_ns, drains_s)
    middle_ns, middle = sum(at for at, _ in lags) / looks, sum(level for _, level in lags) / looks
    away = [((at - middle_ns) / NS_PER_S, level - middle) for at, level in lags]
    per_s = sum(at * level for at, level in away) / sum(at * at for at, _ in away)
    swing = sqrt(sum((level - per_s * at) ** 2 for at, level in away) / looks)
    drift = abs(per_s) * over_ns / NS_PER_S
    if drift < max(_LEAST_DRIFT, _SWINGS * swing):
        return LagTrend(STEADY, 0.0, over_ns, drains_s)
    if per_s > 0:
        return LagTrend(RISING, per_s, over_ns, drains_s)
    return LagTrend(FALLING, per_s, over_ns, max(1, round(lags[-1][1] / -per_s)) if lags[-1][1] else 0)
