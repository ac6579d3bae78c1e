"""Every table of the report: its name, its columns, and how it is made."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import polars as pl

from spark_reports.pipeline.frames import Frames
from spark_reports.tables import (
    audit,
    backpressure,
    consumers,
    dead_letters,
    groups,
    lag,
    latency,
    markers,
    ownership,
    queues,
    recording,
    throughput,
    transactions,
)


class Table(NamedTuple):
    """One table: `schema` is DDL, `build` says how."""

    name: str
    schema: str
    build: Callable[[Frames], pl.DataFrame]


TABLES = (
    Table("totals", recording.TOTALS_SCHEMA, lambda f: f.totals),
    Table("reconciliation", recording.RECONCILIATION_SCHEMA, lambda f: recording.reconciliation(f.totals, f.summary)),
    Table("recording", recording.SCHEMA, lambda f: f.broken),
    Table("account", audit.ACCOUNT_SCHEMA, lambda f: audit.account(f.judged)),
    Table("verdicts", audit.VERDICTS_SCHEMA, lambda f: audit.verdicts(f.judged)),
    Table("again", audit.AGAIN_SCHEMA, lambda f: audit.again(f.judged)),
    Table("audit", audit.SCHEMA, lambda f: audit.audit(f.judged)),
    Table("deleted_unread", audit.DELETED_SCHEMA, lambda f: audit.deleted(f.judged, f.control, f.rollup)),
    Table("throughput", throughput.SCHEMA, lambda f: f.throughput),
    Table("throughput_series", throughput.SERIES_SCHEMA, lambda f: throughput.throughput_series(f.throughput, f.scale)),
    Table("latency", latency.SCHEMA, lambda f: latency.latency(f.latency_buckets)),
    Table("latency_by_group", latency.GROUP_SCHEMA, lambda f: latency.latency(f.latency_buckets, "topic", "group")),
    Table("latency_over_time", latency.TIME_SCHEMA, lambda f: latency.latency(f.latency_buckets, "start_ns")),
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
        "consumers_over_time", consumers.TIME_SCHEMA, lambda f: consumers.over_time(f.folded.hands, f.lives, f.scale)
    ),
    Table("queues", queues.SCHEMA, lambda f: f.queues),
    Table("leases", queues.LEASES_SCHEMA, lambda f: queues.leases(f.counted, f.detailed, f.folded.hands, f.scale)),
    Table("rebalances", groups.REBALANCES_SCHEMA, lambda f: f.rebalances),
    Table("unserved", ownership.UNSERVED_SCHEMA, lambda f: ownership.unserved(f.pauses, f.published_in_pauses)),
    Table("hues", markers.HUES_SCHEMA, lambda f: markers.hues(f.control)),
    Table("ownership", ownership.SCHEMA, lambda f: f.ownership),
    Table("share_groups", queues.SHARE_GROUPS_SCHEMA, lambda f: queues.share_groups(f.counted, f.control, f.queues)),
    Table("transactions", transactions.SCHEMA, lambda f: transactions.transactions(f.transactions)),
    Table("transaction_list", transactions.LIST_SCHEMA, lambda f: transactions.transaction_list(f.transactions)),
    Table("stable_waits", transactions.WAITS_SCHEMA, lambda f: f.stable_waits),
    Table("redeliveries", dead_letters.REDELIVERIES_SCHEMA, lambda f: dead_letters.redeliveries(f.counted)),
    Table("dead_letters", dead_letters.SCHEMA, lambda f: dead_letters.dead_letters(f.dead_letters)),
    Table("dead_letter_keys", dead_letters.KEYS_SCHEMA, lambda f: dead_letters.dead_letter_keys(f.dead_letters)),
    Table("dead_letter_list", dead_letters.LIST_SCHEMA, lambda f: dead_letters.dead_letter_list(f.dead_letters)),
    Table("dead_letters_over_time", dead_letters.TIME_SCHEMA, lambda f: dead_letters.dead_letters_over_time(f.counted)),
    Table("backpressure", backpressure.SCHEMA, lambda f: f.blocks),
    Table("backpressure_series", backpressure.SERIES_SCHEMA, lambda f: backpressure.series(f.blocks, f.counted)),
    Table(
        "backpressure_over_time",
        backpressure.TIME_SCHEMA,
        lambda f: backpressure.over_time(f.blocks, f.counted, f.scale),
    ),
    Table("blockers", backpressure.BLOCKERS_SCHEMA, lambda f: backpressure.blockers(f.blocks, f.counted)),
    Table("refusals", backpressure.REFUSALS_SCHEMA, lambda f: backpressure.refusals(f.counted)),
    Table("partitions", throughput.PARTITIONS_SCHEMA, lambda f: f.partitions),
    Table("hot_keys", throughput.HOT_KEYS_SCHEMA, lambda f: throughput.hot_keys(f.hot_keys, f.partitions)),
    Table("markers", markers.SCHEMA, lambda f: markers.markers(f.happening)),
    Table("cluster", markers.CLUSTER_SCHEMA, lambda f: markers.cluster(f.happening)),
    Table("cost", recording.COST_SCHEMA, lambda f: recording.cost(f.noted, *f.recorded)),
)
