"""The report on a cluster: the script that `spark-submit` runs.

    spark-submit --master URL spark_reports/submit.py SESSION... --out OUT [--compare | --history] [--from S] [--to S]
        [--parts throughput,latency] [--format html,csv,parquet]

Sessions and OUT are any paths that the cluster's Spark reads and writes: folders that all machines see, hdfs://, s3a://.
The driver needs Python with this project and pyspark, the executors only Java. The last line of output is where the
report is.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

if __name__ == "__main__":  # spark-submit puts the folder of the script first, where the project should be
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from spark_reports.errors import ReportError
from spark_reports.jobs.cancellation import Cancellation
from spark_reports.jobs.making import Making
from spark_reports.jobs.outcome import Outcome
from spark_reports.request.request import Request, add_arguments, request_of
from spark_reports.spark.progress import Progress


def main(argv: Sequence[str] | None = None) -> int:
    """Make one report on the Spark that runs us. The exit code is that of `spark_reports.jobs.job`."""
    parser = argparse.ArgumentParser(prog="spark-submit spark_reports/submit.py", description=__doc__.splitlines()[0])
    add_arguments(parser, with_master=False)
    options = parser.parse_args(argv)
    try:
        request = request_of(options)
        request.check()
        with tempfile.TemporaryDirectory(prefix="brokerscope-report-") as work:
            report, outcome = _run(request, Path(work))
    except (ReportError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    print(*outcome.lines(), sep="\n", file=sys.stderr)
    print(report)
    return outcome.code


def _run(request: Request, work: Path) -> tuple[str, Outcome]:
    from pyspark.sql import SparkSession

    cancellation = Cancellation()
    making = Making(request, work, work / "log", Progress(sys.stderr, False, {}, cancellation.request), cancellation)
    spark = SparkSession.builder.appName("brokerscope report").getOrCreate()
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    try:
        return making.make(lambda: spark)
    finally:
        spark.stop()


if __name__ == "__main__":
    sys.exit(main())
