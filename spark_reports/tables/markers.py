from __future__ import annotations

import polars as pl

SCHEMA = "time_ns BIGINT, kind STRING, `group` STRING, client STRING, topic STRING, cause STRING"
KINDS = (
    *("fault", "user_action", "damage", "gap", "offsets_reset", "client_stopped", "member_left"),
    *("alert_raised", "alert_over"),
)
LISTED = 1_000


def markers(control: pl.DataFrame, limit: int = LISTED) -> pl.DataFrame:
    """The first `limit` of them, in order."""
    return control.filter(pl.col("kind").is_in(KINDS)).sort("seq").head(limit)
