"""What happened beside the messages, event by event: it is few, and most of it is a row of some table."""

from __future__ import annotations

from pyspark.sql import DataFrame

COLUMNS = (
    *("seq", "time_ns", "kind", "topic", "partition", "offset", "count", "client", "group", "generation", "cause"),
    *("to_topic", "detail"),
)
MOST = 500_000


def control(control: DataFrame, most: int = MOST) -> DataFrame:
    """The events themselves, in no order. Bound: the first `most` of them, and one that says that there are more."""
    return control.select(*COLUMNS).limit(most + 1)
