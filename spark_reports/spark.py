"""The Spark session of a report: small, quiet, on the loopback address, and without litter."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SHUFFLE_PARTITIONS = 8  # what is shuffled is already rolled up; adaptive execution joins the small ones


def spark_session(master: str, work: Path) -> SparkSession:
    """A session on `master` whose local files are in `work`."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.local.dir": str(work),
        "spark.sql.warehouse.dir": str(work / "warehouse"),
        "spark.sql.shuffle.partitions": str(SHUFFLE_PARTITIONS),
        "spark.sql.adaptive.enabled": "true",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.parquet.enableVectorizedReader": "true",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.autoBroadcastJoinThreshold": "32m",
        "spark.sql.codegen.cache.maxEntries": "1000",
        "spark.python.worker.reuse": "false",
    }
    if master.startswith("local"):
        settings |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    builder = SparkSession.builder.appName("brokerscope report").master(master)
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()
