"""An error of Spark in one sentence: what lies at its bottom, and not what it is wrapped in."""

from __future__ import annotations

import pytest

from spark_reports.errors import reason

DAMAGED = """An error occurred while calling o169.count.
: org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 1.0 failed 1 times, most recent
failure: org.apache.spark.SparkException: [FAILED_READ_FILE.NO_HINT] Encountered error while reading file
Caused by: org.apache.spark.SparkException: [FAILED_READ_FILE.NO_HINT] Encountered error while reading file \
file:///sessions/a/messages/part-00000.parquet. SQLSTATE: KD001
\tat org.apache.spark.sql.errors.QueryExecutionErrors$.cannotReadFilesError(QueryExecutionErrors.scala:856)
Caused by: java.io.IOException: Required field was not present
\tat org.apache.parquet.format.Util.read(Util.java:452)
""".replace("\\\n", "")
FULL = """An error occurred while calling o99.toArrow.
: java.lang.IllegalStateException: wrapped
\tat org.apache.spark.executor.Executor$TaskRunner.run(Executor.scala:906)
Caused by: java.io.IOException: No space left on device
\tat java.base/sun.nio.ch.UnixFileDispatcherImpl.write0(Native Method)
"""
MEMORY = (
    "An error occurred while calling o1.count.\n: java.lang.OutOfMemoryError: Java heap space\n\tat a.b(C.java:1)\n"
)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            DAMAGED,
            "/sessions/a/messages/part-00000.parquet cannot be read; it is damaged or was written by another program",
        ),
        (FULL, "No space left on device"),
        (MEMORY, "OutOfMemoryError: Java heap space"),
        ("[UNRESOLVED_COLUMN] A column cannot be resolved.\nmore", "[UNRESOLVED_COLUMN] A column cannot be resolved"),
        ("x\n: java.lang.OutOfMemoryError\n\tat a.b(C.java:1)", "OutOfMemoryError"),
        ("x\n: java.nio.file.NoSuchFileException: /tmp/a", "NoSuchFileException: /tmp/a"),
        ("x\nCaused by: java.nio.file.AccessDeniedException: /tmp/a", "AccessDeniedException: /tmp/a"),
        ("", "RuntimeError"),
    ],
)
def test_the_bottom_of_an_error_is_told(said: str, told: str) -> None:
    assert reason(RuntimeError(said)) == told
