from __future__ import annotations

from collections.abc import Collection
from typing import Final, NamedTuple


class Part(NamedTuple):
    """`title` is for people. `tables` are made of `passes` and written; `asks` are made for plots and findings, not
    written.
    """

    title: str
    tables: tuple[str, ...]
    passes: tuple[str, ...] = ()
    asks: tuple[str, ...] = ()


#: Why a group or queue was behind: what came, who was there, what its members did, and what else was going on.
_CAUSES = (
    *("consumers", "consumers_over_time", "deleted_unread", "hot_keys", "lag", "leases", "markers", "ownership"),
    *("queues", "rebalances", "redeliveries", "stable_waits", "throughput", "unserved"),
)
_OF_CAUSES = ("control", "rollup", "held", "hot_keys", "published_in_pauses", "folded")

#: By name, in the order of the page; a name is also the id of the section there.
PARTS: Final = {
    "throughput": Part(
        "Throughput", ("totals", "throughput", "throughput_series"), ("control", "rollup"), asks=("hues",)
    ),
    "latency": Part(
        "Latency",
        ("latency", "latency_by_group", "latency_over_time", "latency_curve", "latency_heat"),
        ("control", "rollup", "latency_buckets"),
    ),
    "lag": Part("Lag", ("lag", "lag_series"), _OF_CAUSES, asks=_CAUSES),
    "rebalances": Part(
        "Rebalances",
        ("rebalances", "unserved", "ownership"),
        ("control", "rollup", "folded", "published_in_pauses"),
        asks=("hues",),
    ),
    "consumers": Part(
        "Consumers",
        ("groups", "consumers", "consumers_over_time"),
        ("control", "rollup", "latency_buckets", "folded"),
        asks=("recording",),
    ),
    "queues": Part("Queues", ("queues", "leases", "redeliveries"), _OF_CAUSES, asks=(*_CAUSES, "hues")),
    "share-groups": Part("Share groups", ("share_groups", "leases"), ("control", "rollup", "folded")),
    "transactions": Part(
        "Transactions", ("transactions", "transaction_list", "stable_waits"), ("control", "rollup", "held")
    ),
    "dead-letters": Part(
        "Dead letters",
        ("dead_letters", "dead_letter_keys", "dead_letter_list", "dead_letters_over_time"),
        ("rollup", "dead_letters"),
    ),
    "backpressure": Part(
        "Backpressure",
        ("backpressure", "backpressure_series", "backpressure_over_time", "blockers"),
        _OF_CAUSES,
        asks=(*_CAUSES, "hues", "throughput_series"),
    ),
    "schemas": Part("Schemas", ("refusals",), ("rollup",)),
    "keys": Part("Keys", ("partitions", "hot_keys"), ("rollup", "hot_keys")),
    "events": Part("Events", ("markers",), ("control", "rollup"), asks=("throughput",)),
    "cluster": Part("Cluster", ("cluster",), ("control", "rollup")),
    "audit": Part(
        "Audit", ("account", "verdicts", "again", "audit", "deleted_unread"), ("control", "rollup", "folded")
    ),
    "recording": Part("Recording", ("recording",), ("control", "rollup", "folded")),
    "totals": Part("Totals", ("totals", "reconciliation", "cost"), ("control", "rollup")),
}
EVERY: Final = frozenset(PARTS)
#: The others need to know who was given what, or what the broker counted: nobody does who has observed a cluster.
KNOWN_WITHOUT_DELIVERIES: Final = frozenset({"throughput", "lag", "rebalances", "cluster", "recording"})
_WEIGHTS = {"rollup": 4.0, "folded": 6.0, "latency_buckets": 2.0}  # others 1


def in_order(names: Collection[str]) -> list[str]:
    return [name for name in PARTS if name in names]


def titles(names: Collection[str]) -> list[str]:
    return [PARTS[name].title for name in in_order(names)]


def tables_of(names: Collection[str]) -> frozenset[str]:
    return frozenset(table for name in names for table in PARTS[name].tables)


def made_for(names: Collection[str]) -> frozenset[str]:
    """The tables that are made for these parts, those included that only their findings ask for."""
    return tables_of(names) | {table for name in names for table in PARTS[name].asks}


def passes_of(names: Collection[str]) -> frozenset[str]:
    return frozenset(each for name in names for each in PARTS[name].passes)


def weights(names: Collection[str]) -> dict[str, float]:
    """The weight of each step of making these parts."""
    return {name: _WEIGHTS.get(name, 1.0) for name in (*passes_of(names), "tables")}
