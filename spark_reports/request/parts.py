from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

import resources


class Part(NamedTuple):
    """A table of `resources/report/parts.toml`, which says what the fields are."""

    title: str
    heading: str
    tables: Sequence[str]
    passes: Sequence[str] = ()
    asks: Sequence[str] = ()
    has_causes: bool = False


#: Tables, and below passes, that parts with `has_causes` ask for besides their own.
_TABLES_OF_CAUSES = (
    *("consumers", "consumers_over_time", "deleted_unread", "hot_keys", "lag", "leases", "markers", "ownership"),
    *("queues", "rebalances", "redeliveries", "stable_waits", "throughput", "unserved"),
)
_PASSES_OF_CAUSES = ("control", "rollup", "held", "hot_keys", "published_in_pauses", "folded_events")

#: By name, in the order of the page.
PARTS: Final = {name: Part(**row) for name, row in resources.table("report", "parts.toml").items()}
EVERY: Final = frozenset(PARTS)
#: The others need to know who was given what, or what the broker counted: nobody does who has observed a cluster.
KNOWN_WITHOUT_DELIVERIES: Final = frozenset({"throughput", "lag", "rebalances", "cluster", "recording"})
_WEIGHTS = {"rollup": 4.0, "folded_events": 6.0, "latency_buckets": 2.0}  # others 1


def in_order(names: Collection[str]) -> list[str]:
    return [name for name in PARTS if name in names]


def titles(names: Collection[str]) -> list[str]:
    return [PARTS[name].title for name in in_order(names)]


def tables_of(names: Collection[str]) -> frozenset[str]:
    return frozenset(table for name in names for table in PARTS[name].tables)


def made_for(names: Collection[str]) -> frozenset[str]:
    """The tables that are made for these parts, those included that only their findings ask for."""
    causes = _TABLES_OF_CAUSES if any(PARTS[name].has_causes for name in names) else ()
    return tables_of(names) | {table for name in names for table in PARTS[name].asks} | set(causes)


def passes_of(names: Collection[str]) -> frozenset[str]:
    of_causes = _PASSES_OF_CAUSES if any(PARTS[name].has_causes for name in names) else ()
    return frozenset(each for name in names for each in PARTS[name].passes) | set(of_causes)


def weights(names: Collection[str]) -> dict[str, float]:
    """The weight of each step of making these parts."""
    return {name: _WEIGHTS.get(name, 1.0) for name in (*passes_of(names), "tables")}
