"""The Spark session of a report: small, quiet, on the loopback address, and without litter."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def spark_session(master: str, work: Path, settings: Mapping[str, str] | None = None) -> SparkSession:
    """A session on `master` whose local files are in `work`; `settings` come on top, and stay for all its reports."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    fixed = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.local.dir": str(work),
        "spark.sql.warehouse.dir": str(work / "warehouse"),
        "spark.sql.session.timeZone": "UTC",
        # A report compiles 240 pieces of code: with the 100 that are kept by default, the next one compiles all again.
        "spark.sql.codegen.cache.maxEntries": "2000",
        # Telling Java the line of ours behind each column takes as long as the rest of making a query.
        "spark.python.sql.dataFrameDebugging.enabled": "false",
    }
    if master.startswith("local"):
        fixed |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    builder = SparkSession.builder.appName("brokerscope report").master(master)
    for name, value in {**fixed, **(settings or {})}.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()
