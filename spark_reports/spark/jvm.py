"""The Java process that Spark's driver runs in: started directly, and gone with us whatever happens."""

from __future__ import annotations

import contextlib
import os
import struct
import subprocess
import sys
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import resources
from spark_reports.errors import ReportError, java_cause

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

START_TIMEOUT_S = 120  # a cold start takes 10 to 20 s on a slow machine
DRIVER_MEMORY = "1500m"
MASTER = "local[*]"  # all processors of this machine

_JAVA = resources.table("report", "java.toml")
MODULE_OPTIONS = [
    "-XX:+IgnoreUnrecognizedVMOptions",
    *(f"--add-opens={package}=ALL-UNNAMED" for package in _JAVA["opened"]),
    *_JAVA["options"],
]
_OWN_OPTIONS = [
    "-XX:-UsePerfData",  # a file of statistics in /tmp, which a JVM that is killed leaves there
    "-XX:MetaspaceSize=256m",  # what Spark loads: with less to begin with, the whole heap is collected four times
]

FIRST: Sequence[str] = _JAVA["first_jars"]
_UNUSED = "spark-mllib_"  # adds functions to each session, for which Scala's reflection is loaded: a second


def spark_home() -> Path:
    """The folder of the pyspark package. Raises `ReportError` if it is not installed."""
    spec = find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise ReportError("PySpark is not installed: run 'pip install \"pyspark>=4.3,<4.4\"'.")
    return Path(spec.origin).parent


def jars(home: Path) -> list[Path]:
    """The jars of the Spark in `home`, in the order in which Java looks for classes."""

    def place(jar: Path) -> int:
        return next((number for number, name in enumerate(FIRST) if jar.name.startswith(name)), len(FIRST))

    found = sorted((home / "jars").glob("*.jar"))
    return sorted((jar for jar in found if not jar.name.startswith(_UNUSED)), key=place)


def class_path(home: Path, work: Path) -> Path:
    """A file in `work` with Java's argument: 280 paths may be longer than one argument of a process can be."""
    path = os.pathsep.join(map(str, (home / "conf", *jars(home))))
    file = work / "class-path"
    file.write_bytes(b'-cp "%s"' % os.fsencode(path.replace("\\", "\\\\").replace('"', '\\"')))
    return file


class Jvm:
    """A JVM with Spark's gateway. It ends when its standard input closes, so it never outlives us."""

    def __init__(self, java: Path, work: Path, log: Path, options: Sequence[str] = ()) -> None:
        """Start it; its files go to `work`, all it says to `log`. Returns before it is ready: see `connect`."""
        home = spark_home()
        self._connection = work / "gateway"
        self._port = 0  # of the gateway; 0 until it is known
        self._log = log
        logging = work / "log4j2.properties"
        logging.write_bytes(resources.path("report", "log4j2.properties").read_bytes())
        environment = {
            **os.environ,
            "SPARK_HOME": str(home),
            "SPARK_SCALA_VERSION": "2.13",
            "SPARK_CONNECT_MODE": "0",
            "SPARK_LOCAL_IP": "127.0.0.1",
            "_PYSPARK_DRIVER_CONN_INFO_PATH": str(self._connection),
            "PYSPARK_PYTHON": sys.executable,
        }
        command = [
            str(java),
            *MODULE_OPTIONS,
            *_OWN_OPTIONS,
            *options,
            f"-Xmx{DRIVER_MEMORY}",
            f"-Djava.io.tmpdir={work}",
            f"-Dlog4j2.configurationFile={logging.as_uri()}",
            f"@{class_path(home, work)}",
            "org.apache.spark.deploy.SparkSubmit",
            *("--master", MASTER, "pyspark-shell"),
        ]
        with log.open("ab") as output:
            self._log_start = output.tell()  # an earlier JVM may have written to it
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=output,
                env=environment,
                cwd=work,
                process_group=0,  # Ctrl+C is ours to handle
            )

    def connect(self) -> None:
        """Wait until it is ready, and tell PySpark where it is. Raises `ReportError` if it does not start."""
        deadline = time.monotonic() + START_TIMEOUT_S
        while not self._connection.exists():
            if self.process.poll() is not None:
                raise ReportError(f"Java ended with code {self.process.returncode} before Spark was up{self._said()}.")
            if time.monotonic() > deadline:
                raise ReportError(f"Spark was not up after {START_TIMEOUT_S} s{self._said()}.")
            time.sleep(0.05)
        with self._connection.open("rb") as file:
            self._port, length = struct.unpack(">ii", file.read(8))
            secret = file.read(length).decode()
        self._connection.unlink()
        os.environ["PYSPARK_GATEWAY_PORT"] = str(self._port)
        os.environ["PYSPARK_GATEWAY_SECRET"] = secret

    def _said(self) -> str:
        """The reason of its end: the error, or else the last line that is no part of a stack trace."""
        log = self._log.read_bytes()[self._log_start :].decode(errors="replace")
        told = [line for line in map(str.strip, log.splitlines()) if line and not line.startswith(("at ", "... "))]
        said = java_cause(log) or (told or [""])[-1]
        return f" ({said[:200].rstrip('.')})" if said else ""

    def close(self) -> None:
        """End it and wait until it is gone. Its files are in `work`: it has nothing to put away."""
        self._forget()
        self.process.kill()
        self.process.wait()
        if self.process.stdin is not None:
            self.process.stdin.close()

    def _forget(self) -> None:
        """PySpark connects once in the life of a process: its next session would ask a JVM that is gone."""
        for name in ("PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET"):
            os.environ.pop(name, None)
        if not self._port:
            return
        from pyspark import SparkContext

        gateway = SparkContext._gateway
        if gateway is not None and gateway.gateway_parameters.port == self._port:
            with contextlib.suppress(Exception):  # the JVM may have ended by itself
                gateway.shutdown()
            SparkContext._gateway = SparkContext._jvm = None


def spark_session(work: Path) -> SparkSession:
    """A session on this machine whose files are in `work`."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.appName("brokerscope report").master(MASTER)
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.local.dir": str(work),
        "spark.sql.warehouse.dir": str(work / "warehouse"),
        "spark.sql.session.timeZone": "UTC",
        # A report compiles 240 pieces of code: with the 100 that are kept by default, the next one compiles all again.
        "spark.sql.codegen.cache.maxEntries": "2000",
        # Telling Java the line of ours behind each column takes as long as the rest of making a query.
        "spark.python.sql.dataFrameDebugging.enabled": "false",
        # Files are found by the driver, however many: that is sooner than tasks would have begun.
        "spark.sql.sources.parallelPartitionDiscovery.threshold": "1000000",
        **{"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"},
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


#: What the code that Spark generates is made of.
_SOURCE = """
public Object generate(Object[] references) { return new Rows(references); }
static class Rows {
  private Object[] references;
  private long[] sums = new long[2];
  public Rows(Object[] references) { this.references = references; }
  public void next(int count) throws java.io.IOException {
    for (int i = 0; i < count; i++) {
      boolean isNull = references[i] == null;
      long value = isNull ? -1L : ((Long) references[i]).longValue();
      if (!isNull && value >= 0) { sums[i % 2] = sums[i % 2] + value; } else { continue; }
      do { if (value > 3) { break; } value++; } while (true);
    }
  }
}
"""


def use_libraries(spark: SparkSession, files: Sequence[str]) -> None:
    """Use Parquet, Janino, a task and Arrow once, while Spark plans: the first two passes would wait for their classes,
    both at once, for a second. A report does not depend on it.
    """
    jvm, context = spark._jvm, spark.sparkContext._jsc
    assert jvm is not None
    for file in files[:1]:
        parquet = jvm.org.apache.parquet.hadoop
        path = jvm.org.apache.hadoop.fs.Path(file)
        reader = parquet.ParquetFileReader.open(
            parquet.util.HadoopInputFile.fromPath(path, context.hadoopConfiguration())
        )
        reader.readNextRowGroup()
        reader.close()
    jvm.org.codehaus.janino.ClassBodyEvaluator().cook("", jvm.java.io.StringReader(_SOURCE))
    numbers = jvm.java.util.ArrayList()
    numbers.add(1)
    context.parallelize(numbers, 1).count()
    allocator = jvm.org.apache.arrow.memory.RootAllocator()
    vector = jvm.org.apache.arrow.vector.BigIntVector("number", allocator)
    vector.allocateNew()
    vector.close()
    allocator.close()
