"""Every table of the report: its name, its columns, and how it is made."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import polars as pl

from spark_reports.pipeline.session_data import SessionData
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
    build: Callable[[SessionData], pl.DataFrame]


TABLES = (
    Table("totals", recording.TOTALS_SCHEMA, lambda d: d.totals),
    Table("reconciliation", recording.RECONCILIATION_SCHEMA, lambda d: recording.reconciliation(d.totals, d.summary)),
    Table("recording", recording.SCHEMA, lambda d: d.broken),
    Table("account", audit.ACCOUNT_SCHEMA, lambda d: audit.account(d.judged)),
    Table("verdicts", audit.VERDICTS_SCHEMA, lambda d: audit.verdicts(d.judged)),
    Table("again", audit.AGAIN_SCHEMA, lambda d: audit.again(d.judged)),
    Table("audit", audit.SCHEMA, lambda d: audit.audit(d.judged)),
    Table("deleted_unread", audit.DELETED_SCHEMA, lambda d: audit.deleted(d.judged, d.control, d.rollup)),
    Table("throughput", throughput.SCHEMA, lambda d: d.throughput),
    Table("throughput_series", throughput.SERIES_SCHEMA, lambda d: throughput.throughput_series(d.throughput, d.scale)),
    Table("latency", latency.SCHEMA, lambda d: latency.latency(d.latency_buckets)),
    Table("latency_by_group", latency.GROUP_SCHEMA, lambda d: latency.latency(d.latency_buckets, "topic", "group")),
    Table("latency_over_time", latency.TIME_SCHEMA, lambda d: latency.latency(d.latency_buckets, "start_ns")),
    Table("latency_curve", latency.CURVE_SCHEMA, lambda d: latency.latency_curve(d.latency_buckets)),
    Table("latency_heat", latency.HEAT_SCHEMA, lambda d: latency.latency_heat(d.latency_buckets)),
    Table("lag", lag.SCHEMA, lambda d: d.lag),
    Table("lag_series", lag.SERIES_SCHEMA, lambda d: lag.lag_series(d.lag, d.control, d.scale)),
    Table(
        "groups",
        groups.SCHEMA,
        lambda d: groups.groups(
            d.counted, latency.latency(d.latency_buckets, "group"), d.behind, d.rebalances, d.pauses, d.consumers
        ),
    ),
    Table("consumers", consumers.SCHEMA, lambda d: d.consumers),
    Table(
        "consumers_over_time",
        consumers.TIME_SCHEMA,
        lambda d: consumers.over_time(d.folded_events.in_flight_time, d.presence, d.scale),
    ),
    Table("queues", queues.SCHEMA, lambda d: d.queues),
    Table(
        "leases",
        queues.LEASES_SCHEMA,
        lambda d: queues.leases(d.counted, d.detailed, d.folded_events.in_flight_time, d.scale),
    ),
    Table("rebalances", groups.REBALANCES_SCHEMA, lambda d: d.rebalances),
    Table("unserved", ownership.UNSERVED_SCHEMA, lambda d: ownership.unserved(d.pauses, d.published_in_pauses)),
    Table("hues", markers.HUES_SCHEMA, lambda d: markers.hues(d.control)),
    Table("ownership", ownership.SCHEMA, lambda d: d.ownership),
    Table("share_groups", queues.SHARE_GROUPS_SCHEMA, lambda d: queues.share_groups(d.counted, d.control, d.queues)),
    Table("transactions", transactions.SCHEMA, lambda d: transactions.transactions(d.transactions)),
    Table("transaction_list", transactions.LIST_SCHEMA, lambda d: transactions.transaction_list(d.transactions)),
    Table("stable_waits", transactions.WAITS_SCHEMA, lambda d: d.stable_waits),
    Table("redeliveries", dead_letters.REDELIVERIES_SCHEMA, lambda d: dead_letters.redeliveries(d.counted)),
    Table("dead_letters", dead_letters.SCHEMA, lambda d: dead_letters.dead_letters(d.dead_letters)),
    Table("dead_letter_keys", dead_letters.KEYS_SCHEMA, lambda d: dead_letters.dead_letter_keys(d.dead_letters)),
    Table("dead_letter_list", dead_letters.LIST_SCHEMA, lambda d: dead_letters.dead_letter_list(d.dead_letters)),
    Table("dead_letters_over_time", dead_letters.TIME_SCHEMA, lambda d: dead_letters.dead_letters_over_time(d.counted)),
    Table("backpressure", backpressure.SCHEMA, lambda d: d.blocks),
    Table("backpressure_series", backpressure.SERIES_SCHEMA, lambda d: backpressure.series(d.blocks, d.counted)),
    Table(
        "backpressure_over_time",
        backpressure.TIME_SCHEMA,
        lambda d: backpressure.over_time(d.blocks, d.counted, d.scale),
    ),
    Table("blockers", backpressure.BLOCKERS_SCHEMA, lambda d: backpressure.blockers(d.blocks, d.counted)),
    Table("refusals", backpressure.REFUSALS_SCHEMA, lambda d: backpressure.refusals(d.counted)),
    Table("partitions", throughput.PARTITIONS_SCHEMA, lambda d: d.partitions),
    Table("hot_keys", throughput.HOT_KEYS_SCHEMA, lambda d: throughput.hot_keys(d.hot_keys, d.partitions)),
    Table("markers", markers.SCHEMA, lambda d: markers.markers(d.happening)),
    Table("cluster", markers.CLUSTER_SCHEMA, lambda d: markers.cluster(d.happening)),
    Table("cost", recording.COST_SCHEMA, lambda d: recording.cost(d.program_cost, d.all_events, d.all_ns)),
)
