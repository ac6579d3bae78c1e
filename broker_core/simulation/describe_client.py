from __future__ import annotations

from broker_core.operations.request import Request, Result
from broker_core.simulation.durations import Duration


class ClientSettings(Result, frozen=True, kw_only=True):
    """`rate_per_s` is None for a producer with the rate of its scenario; `takes` for one that works on no message."""

    rate_per_s: float | None
    takes: Duration | None


class DescribeClient(Request[ClientSettings], frozen=True, kw_only=True):
    """A producer, consumer or worker of the scenario; only a simulation answers."""

    client: str
