"""Events with what matters, and the comparison of an answer with the rows it must have."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession
from pyspark.testing import assertDataFrameEqual

S = 1_000_000_000
MS = 1_000_000


def check(spark: SparkSession, answer: DataFrame, schema: str, rows: list[tuple]) -> None:
    """`answer` has exactly these columns, types and rows, in this order."""
    assertDataFrameEqual(answer, spark.createDataFrame(rows, schema), checkRowOrder=True, ignoreNullable=True)


def published(at: int, partition: int, offset: int, count: int = 1, **more: object) -> dict:
    return {
        "kind": "published", "time_ns": at, "topic": "t", "partition": partition, "offset": offset, "count": count,
        "size_bytes": 10 * count, "client": "p", **more,
    }  # fmt: skip


def committed(at: int, partition: int, offset: int, count: int = 1, **more: object) -> dict:
    return {
        "kind": "acknowledged", "time_ns": at, "topic": "t", "partition": partition, "offset": offset, "count": count,
        "client": "c", "group": "g", **more,
    }  # fmt: skip


def delivered(at: int, partition: int, offset: int, count: int = 1, attempt: int = 1) -> dict:
    return committed(at, partition, offset, count, kind="delivered", attempt=attempt)


def leased(kind: str, at: int, offset: int, count: int = 1, **more: object) -> dict:
    return {
        "kind": kind, "time_ns": at, "topic": "q", "partition": 0, "offset": offset, "count": count, "group": "q",
        "client": "w", "attempt": 1, **more,
    }  # fmt: skip
