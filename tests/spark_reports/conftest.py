"""One Spark for all tests of the report, and sessions recorded by the real recorder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from broker_core.events import EventStream
from broker_core.recording.checksums import stamp_part
from broker_core.recording.recorder import Recorder
from spark_reports.pipeline.session_data import SessionData, read_session_data
from spark_reports.sessions.session import inspect
from spark_reports.spark.bounds import local
from spark_reports.spark.java import find_java
from spark_reports.spark.jvm import Jvm, spark_session
from spark_reports.spark.tuning import SMALL
from tests.broker_core.recording.fake_stream import FakeBroker
from tests.spark_reports.tables.rows import events as written


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A small Spark, started and stopped as the job does it."""
    work = tmp_path_factory.mktemp("spark")
    jvm = Jvm(find_java(), work, work / "spark.log", SMALL.jvm_options)
    jvm.connect()
    session = spark_session(work)
    # Hundreds of queries of a handful of rows: compiling them costs more than running them.
    uncompiled = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
    for name, value in {**SMALL.settings, **uncompiled}.items():
        session.conf.set(name, value)
    yield session
    session.stop()
    jvm.close()
    assert jvm.process.poll() is not None
    os.environ.pop("PYSPARK_GATEWAY_PORT", None)


def record(folder: Path, seconds: int = 20, rate: int = 40, seed: int = 7) -> dict[str, int]:
    """Record a session of the fake broker into `folder`; its true totals."""
    stream = EventStream()
    recorder = Recorder(folder, scenario_name="A minute of <b>commits</b>", scenario_text="name: fake\n", seed=seed)
    stream.attach(recorder)
    totals = FakeBroker(stream, seconds=seconds, rate=rate, seed=seed).run()
    recorder.close(totals=totals)
    return totals


def spoil(part: Path) -> None:
    """Damage a segment as if after it was judged: only who reads its pages notices."""
    data = bytearray(part.read_bytes())
    for at in range(500, len(data) * 3 // 4, 7):
        data[at] ^= 0x5A
    part.write_bytes(data)
    stamp_part(part)


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a session with everything in it."""
    folder = tmp_path_factory.mktemp("sessions") / "fake"
    record(folder)
    return folder


@pytest.fixture(scope="session")
def data(spark: SparkSession, recorded: Path) -> SessionData:
    """The DataFrames of `recorded`."""
    return read_session_data(spark, inspect(str(recorded)))


class Events:
    """Writes small event tables by hand: only the fields that matter, the rest as the recorder would leave them."""

    def __init__(self, spark: SparkSession) -> None:
        self.spark = spark

    def __call__(self, *rows: dict):
        """A DataFrame with one event a dict; `seq` is the place in the list where it is not given."""
        return local(self.spark, written(*rows))


@pytest.fixture(scope="session")
def events(spark: SparkSession) -> Events:
    """Makes small event tables."""
    return Events(spark)
