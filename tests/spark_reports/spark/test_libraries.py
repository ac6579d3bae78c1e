"""Java's libraries, used once before the first pass needs them."""

from __future__ import annotations

from pathlib import Path

import pytest
from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
from pyspark.sql import SparkSession

from broker_core.recording.schema import MESSAGES
from spark_reports.sessions.session import inspect
from spark_reports.spark.jvm import use_libraries

pytestmark = pytest.mark.spark


def test_all_of_them_are_there_under_the_names_by_which_they_are_asked(spark: SparkSession, recorded: Path) -> None:
    use_libraries(spark, inspect(str(recorded)).parts[MESSAGES])


def test_without_a_file_the_others_are_used(spark: SparkSession) -> None:
    use_libraries(spark, [])


def test_the_file_is_read(spark: SparkSession, tmp_path: Path) -> None:
    damaged = tmp_path / "0.parquet"
    damaged.write_bytes(b"no Parquet")
    with pytest.raises(Py4JJavaError, match="not a Parquet file"):
        use_libraries(spark, [damaged.as_uri()])
