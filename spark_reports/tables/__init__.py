"""Every table of the report: its name, its columns, and how it is made.

One file per question: pure functions from what the passes brought home (`spark_reports.passes`) to the rows of a
table, each with the schema of its answer as DDL. Times are nanoseconds of session time; `start_ns` is the beginning
of a time bucket.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from spark_reports.tables import (
    audit,
    audit_list,
    backpressure,
    blockers,
    consumers,
    cost,
    dead_letters,
    deleted,
    effects,
    groups,
    hues,
    keys,
    lag,
    latency,
    leases,
    markers,
    ownership,
    queues,
    rebalances,
    recording,
    redeliveries,
    refusals,
    share_groups,
    throughput,
    totals,
    transactions,
    unserved,
    utilisation,
)

if TYPE_CHECKING:
    import polars as pl

    from spark_reports.frames import Frames


class Table(NamedTuple):
    """One table: `schema` is DDL, `build` says how."""

    name: str
    schema: str
    build: Callable[[Frames], pl.DataFrame]


def _over(key: str, columns: str) -> str:
    return f"measure STRING, {key}, {columns}" if key else f"measure STRING, {columns}"


_LATENCY = latency.SCHEMA_COLUMNS
TABLES = (
    Table("totals", totals.SCHEMA, lambda f: f.totals),
    Table("reconciliation", totals.RECONCILIATION_SCHEMA, lambda f: totals.reconciliation(f.totals, f.summary)),
    Table("recording", recording.SCHEMA, lambda f: recording.recording(f.broken_numbers)),
    Table("audit", audit.SCHEMA, lambda f: audit.audit(f.audited)),
    Table("audit_list", audit_list.SCHEMA, lambda f: audit_list.audit_list(audit.suspects(f.audited), f.happened)),
    Table("deleted_unread", deleted.SCHEMA, lambda f: deleted.deleted(f.audited, f.control)),
    Table("throughput", throughput.SCHEMA, lambda f: f.throughput),
    Table("throughput_series", throughput.SERIES_SCHEMA, lambda f: throughput.throughput_series(f.throughput, f.scale)),
    Table("latency", _over("", _LATENCY), lambda f: latency.latency(f.latency_buckets)),
    Table(
        "latency_by_group",
        _over("topic STRING, `group` STRING", _LATENCY),
        lambda f: latency.latency(f.latency_buckets, "topic", "group"),
    ),
    Table(
        "latency_over_time",
        _over("start_ns BIGINT", _LATENCY),
        lambda f: latency.latency(f.latency_buckets, "start_ns"),
    ),
    Table("latency_curve", latency.CURVE_SCHEMA, lambda f: latency.latency_curve(f.latency_buckets)),
    Table("latency_heat", latency.HEAT_SCHEMA, lambda f: latency.latency_heat(f.latency_buckets)),
    Table("lag", lag.SCHEMA, lambda f: f.lag),
    Table("lag_series", lag.SERIES_SCHEMA, lambda f: lag.lag_series(f.lag, f.control, f.scale)),
    Table(
        "groups",
        groups.SCHEMA,
        lambda f: groups.groups(
            f.counted, latency.latency(f.latency_buckets, "group"), f.behind, f.rebalances, f.pauses, f.consumers
        ),
    ),
    Table("consumers", consumers.SCHEMA, lambda f: f.consumers),
    Table(
        "consumers_over_time", utilisation.TIME_SCHEMA, lambda f: utilisation.in_hand_over_time(f.spans_there, f.scale)
    ),
    Table("queues", queues.SCHEMA, lambda f: f.queues),
    Table("leases", leases.SCHEMA, lambda f: leases.leases(f.counted, f.detailed, f.spans, f.scale)),
    Table("rebalances", rebalances.SCHEMA, lambda f: f.rebalances),
    Table("unserved", unserved.SCHEMA, lambda f: unserved.unserved(f.pauses, f.published_in_pauses)),
    Table("hues", hues.SCHEMA, lambda f: hues.hues(f.control)),
    Table("ownership", ownership.SCHEMA, lambda f: f.ownership),
    Table("share_groups", share_groups.SCHEMA, lambda f: share_groups.share_groups(f.counted, f.control, f.queues)),
    Table("transactions", transactions.SCHEMA, lambda f: transactions.transactions(f.transactions)),
    Table("transaction_list", transactions.LIST_SCHEMA, lambda f: transactions.transaction_list(f.transactions)),
    Table("stable_waits", transactions.WAITS_SCHEMA, lambda f: f.stable_waits),
    Table("redeliveries", redeliveries.SCHEMA, lambda f: redeliveries.redeliveries(f.counted)),
    Table("dead_letters", dead_letters.SCHEMA, lambda f: dead_letters.dead_letters(f.dead_letters)),
    Table("dead_letter_keys", dead_letters.KEYS_SCHEMA, lambda f: dead_letters.dead_letter_keys(f.dead_letters)),
    Table("dead_letter_list", dead_letters.LIST_SCHEMA, lambda f: dead_letters.dead_letter_list(f.dead_letters)),
    Table("dead_letters_over_time", dead_letters.TIME_SCHEMA, lambda f: dead_letters.dead_letters_over_time(f.counted)),
    Table("backpressure", backpressure.SCHEMA, lambda f: f.blocks),
    Table(
        "backpressure_series",
        backpressure.SERIES_SCHEMA,
        lambda f: backpressure.backpressure_series(f.blocks, f.counted),
    ),
    Table(
        "backpressure_over_time",
        backpressure.TIME_SCHEMA,
        lambda f: backpressure.backpressure_over_time(f.blocks, f.counted, f.scale),
    ),
    Table("blockers", blockers.SCHEMA, lambda f: blockers.blockers(f.blocks, f.counted)),
    Table("refusals", refusals.SCHEMA, lambda f: refusals.refusals(f.counted)),
    Table("partitions", keys.PARTITIONS_SCHEMA, lambda f: f.partitions),
    Table("hot_keys", keys.SCHEMA, lambda f: keys.hot_keys(f.hot_keys, f.partitions)),
    Table("markers", markers.SCHEMA, lambda f: markers.markers(f.happening)),
    Table("cost", cost.SCHEMA, lambda f: cost.cost(f.noted, *f.recorded)),
    Table(
        "effects",
        effects.SCHEMA,
        lambda f: effects.effects(markers.markers(f.happening), f.counted, f.latency_buckets, f.behind, f.scale),
    ),
)
