from __future__ import annotations

import math
from collections import Counter

from broker_core.clock import NS_PER_S
from broker_core.events import Event, EventKind

BINS_MAX = 600
FIRST_BIN_NS = NS_PER_S
# Sixteen buckets for each doubling of a latency: 4.4 % wide, so a percentile is off by 2.2 % at most.
BUCKETS_PER_DOUBLING = 16
LEAST_LATENCY_NS = 1_000

#: How many first deliveries fell into each bucket.
Bin = Counter[int]


def bucket_of(latency_ns: int) -> int:
    return int(math.log2(max(latency_ns, LEAST_LATENCY_NS)) * BUCKETS_PER_DOUBLING)


def latency_ns_of(bucket: int) -> float:
    return float(2 ** ((bucket + 0.5) / BUCKETS_PER_DOUBLING))


def percentile_ns(latencies: Bin, share: float) -> float | None:
    """The latency that `share` (0..1) of the messages stayed below; None without messages."""
    left = share * latencies.total()
    for bucket in sorted(latencies):
        left -= latencies[bucket]
        if left <= 0:
            return latency_ns_of(bucket)
    return latency_ns_of(max(latencies)) if latencies else None


class LatencyCollector:
    """A sink of the event stream. The engine's thread calls it, the window's reads it; it only grows."""

    def __init__(self) -> None:
        # Both change at once, for a reader in another thread.
        self._series: tuple[int, list[Bin]] = (FIRST_BIN_NS, [])

    kinds = frozenset({EventKind.DELIVERED})

    def __call__(self, event: Event) -> None:
        if event.attempt == 1 and event.published_ns is not None:
            bucket = bucket_of(event.time_ns - event.published_ns)
            self._bin(event.time_ns)[bucket] += event.count

    def _bin(self, time_ns: int) -> Bin:
        bin_ns, bins = self._series
        while time_ns // bin_ns >= BINS_MAX:
            bin_ns, bins = self._series = (bin_ns * 2, [sum(bins[at : at + 2], Bin()) for at in range(0, len(bins), 2)])
        place = time_ns // bin_ns
        while place >= len(bins):
            bins.append(Bin())
        return bins[place]

    def copy(self) -> tuple[int, list[Bin]]:
        """(ns of a bin, the bins), safe to walk through while events come in; the newest bin may still grow."""
        bin_ns, bins = self._series
        return bin_ns, [one.copy() for one in list(bins)]
