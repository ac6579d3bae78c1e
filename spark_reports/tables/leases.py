from __future__ import annotations

import polars as pl

from spark_reports.scale import Scale

SCHEMA = (
    "queue STRING, client STRING, leased BIGINT, acknowledged BIGINT, nacked BIGINT, released BIGINT, expired BIGINT, "
    "extended BIGINT, held_ns DOUBLE, mean_held_ns DOUBLE, in_flight DOUBLE"
)
_KINDS = {
    "delivered": "leased",
    "acknowledged": "acknowledged",
    "nacked": "nacked",
    "released": "released",
    "lease_expired": "expired",
    "lease_extended": "extended",
}


def leases(rollup: pl.DataFrame, control: pl.DataFrame, spans: pl.DataFrame, scale: Scale) -> pl.DataFrame:
    """One row per queue and holder. `held_ns` sums the time of all its leases; `in_flight` is their mean number at
    once.
    """
    kind, held = pl.col("kind"), pl.col("held_ns")
    grouped = control.filter(kind.is_in(["member_joined", "partitions_assigned"])).select("group")
    counted = (
        rollup.filter(kind.is_in(_KINDS))
        .join(grouped, on="group", how="anti")
        .group_by("group", "client")
        .agg(pl.col("messages").filter(kind == each).sum().alias(name) for each, name in _KINDS.items())
    )
    return (
        counted.join(
            spans.group_by("group", "client").agg(pl.col("held").sum().alias("held_ns")),
            on=["group", "client"],
            how="left",
        )
        .with_columns(
            mean_held_ns=pl.when(pl.col("leased") > 0).then(held / pl.col("leased")),
            in_flight=held.fill_null(0.0) / scale.duration_ns,
            held_ns=held.fill_null(0.0),
        )
        .rename({"group": "queue"})
        .sort("queue", "leased", "client", descending=[False, True, False])
    )
