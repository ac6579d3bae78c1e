"""One rule for the edges of time buckets: what happens on one belongs to the bucket that begins there, and what
happens at the very end to the last."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from broker_core.events import EventKind as K
from broker_core.events import EventStream
from broker_core.recording.recorder import Recorder
from spark_reports.pipeline.collect import Made, make_tables
from spark_reports.scale import Scale, scale_of
from spark_reports.sessions.session import inspect
from tests.spark_reports.test_wrong import Silent

pytestmark = pytest.mark.spark

S = 10**9
END = 24 * S


@pytest.mark.parametrize(
    "scale",
    [
        *(Scale(begin, end, S) for begin, end in ((0, 4 * S), (0, 4 * S + 1), (0, 4 * S - 1), (S, 3 * S), (0, 1))),
        scale_of(7 * 10**17 + 3, 5, None),  # 22 years: more nanoseconds than a float can tell apart
    ],
)
def test_spark_and_python_have_the_same_edges(spark: SparkSession, scale: Scale) -> None:
    width, last = scale.width_ns, scale.from_ns + (scale.buckets - 1) * scale.width_ns
    edges = {scale.from_ns, scale.from_ns + width, last, scale.to_ns}
    times = sorted(edge + step for edge in edges for step in (-1, 0, 1) if scale.from_ns <= edge + step <= scale.to_ns)
    rows = spark.range(1).selectExpr(f"explode(array({', '.join(f'{at}L' for at in times)})) AS time_ns")
    found = {
        row.time_ns: row.start_ns
        for row in rows.select("time_ns", scale.spark_bucket_start("time_ns").alias("start_ns")).collect()
    }
    assert found == {at: scale.from_ns + scale.bucket(at) * width for at in times}
    assert all(start <= at and (at < start + width or at == scale.to_ns) for at, start in found.items())
    assert all(start < scale.to_ns for start in found.values()), "no bucket of zero length"


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A message each second from 0 to 24, published, delivered and committed at once: the last one at the end."""
    folder = tmp_path_factory.mktemp("edges") / "session"
    stream = EventStream()
    recorder = Recorder(folder, scenario_name="edges", scenario_text="", seed=1)
    stream.attach(recorder)
    for second in range(25):
        place = {"topic": "t", "partition": 0, "offset": second, "count": 1, "size_bytes": 10}
        at = second * S
        stream.emit(at, K.PUBLISHED, client="p", **place)
        queue = {**place, "topic": "q", "group": "q"}
        stream.emit(at, K.PUBLISHED, client="p", **{**queue, "group": ""})
        reader = {"client": "c", "attempt": 1, "published_ns": at}
        stream.emit(at, K.DELIVERED, group="g", **reader, **place)
        stream.emit(at, K.DELIVERED, **reader, **queue)
        if second != 23:  # what is acknowledged at the end is acknowledged
            stream.emit(at, K.ACKNOWLEDGED, group="g", **reader, **place)
            stream.emit(at, K.ACKNOWLEDGED, **reader, **queue)
    recorder.close(totals={}, time_ns=END)
    return folder


def _made(spark: SparkSession, session: Path, from_ns: int | None = None, to_ns: int | None = None) -> Made:
    parts = frozenset({"throughput", "latency", "lag", "queues"})
    return make_tables(spark, inspect(str(session)), Silent(), from_ns, to_ns, parts=parts)


def _rows(made: Made, name: str) -> list[dict[str, object]]:
    return made.tables[name].to_pylist()


def test_what_happens_at_the_end_belongs_to_the_session(spark: SparkSession, session: Path) -> None:
    made = _made(spark, session)
    assert made.scale == (0, END, made.scale.width_ns) and END % made.scale.width_ns == 0
    assert [row["last_lag"] for row in _rows(made, "lag_series")] == [0]
    last = max(_rows(made, "queues"), key=lambda row: row["start_ns"])  # type: ignore[arg-type,return-value]
    assert (last["waiting"], last["in_flight"]) == (0, 1)
    for name in ("throughput", "latency_over_time", "lag", "queues"):
        starts = {row["start_ns"] for row in _rows(made, name)}
        assert max(starts) == END - made.scale.width_ns, name  # type: ignore[type-var]
    series = [row["messages"] for row in _rows(made, "throughput_series") if row["dimension"] == "topic"]
    assert series == [25, 25]


@pytest.mark.parametrize(("from_s", "to_s", "messages"), [(5, 10, 5), (None, 24, 24), (5, None, 20)])
def test_a_part_has_its_beginning_and_not_its_end(
    spark: SparkSession, session: Path, from_s: int | None, to_s: int | None, messages: int
) -> None:
    made = _made(spark, session, *(None if at is None else at * S for at in (from_s, to_s)))
    series = [row["messages"] for row in _rows(made, "throughput_series") if row["dimension"] == "topic"]
    assert series == [messages, messages]
    starts = {row["start_ns"] for row in _rows(made, "throughput")}
    assert min(starts) >= made.scale.from_ns and max(starts) < made.scale.to_ns  # type: ignore[type-var,operator]
