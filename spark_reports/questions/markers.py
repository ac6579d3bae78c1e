"""What happened beside the messages: faults, user actions, and clients coming and going?"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

SCHEMA = "time_ns BIGINT, kind STRING, `group` STRING, client STRING, topic STRING, cause STRING"
KINDS = ("fault", "user_action", "damage", "offsets_reset", "client_stopped", "member_left")
LISTED = 1_000


def markers(control: DataFrame, limit: int = LISTED) -> DataFrame:
    """The first `limit` of them, in order."""
    chosen = control.where(F.col("kind").isin(*KINDS)).orderBy("seq").limit(limit)
    return chosen.select("time_ns", "kind", "group", "client", "topic", "cause")
