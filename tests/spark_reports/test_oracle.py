"""The tables of a whole session against a second engine: DuckDB, asked in plain SQL over the same files."""

from __future__ import annotations

from pathlib import Path

import duckdb
import polars as pl
import pytest

from spark_reports.pipeline.session_data import SessionData
from spark_reports.tables import audit, backpressure, dead_letters, lag, latency, throughput

pytestmark = pytest.mark.spark

WIDTH = 100_000_000


@pytest.fixture(scope="module")
def duck(recorded: Path) -> duckdb.DuckDBPyConnection:
    """DuckDB with the views `messages` and `control`."""
    connection = duckdb.connect()
    for name in ("messages", "control"):
        connection.execute(f"CREATE VIEW {name} AS SELECT * FROM read_parquet('{recorded / name}/*.parquet')")
    return connection


def rows(frame: pl.DataFrame, *columns: str) -> list[tuple]:
    """The chosen columns of every row, sorted."""
    return sorted(frame.select(columns or frame.columns).rows())


def answer(duck: duckdb.DuckDBPyConnection, query: str) -> list[tuple]:
    """The rows of DuckDB's answer, sorted."""
    found = sorted(duck.execute(query).fetchall())
    assert found, "an oracle that says nothing proves nothing"
    return found


def test_the_buckets_are_as_the_queries_below_assume(data: SessionData) -> None:
    assert data.scale.width_ns == WIDTH


def test_totals(data: SessionData, duck: duckdb.DuckDBPyConnection) -> None:
    found = dict(rows(data.totals))
    counted = dict(answer(duck, "SELECT kind, sum(count)::BIGINT FROM messages GROUP BY kind"))
    for kind in ("published", "delivered", "acknowledged", "dead_lettered", "redriven", "rejected"):
        assert found[kind] == counted[kind] > 0, kind
    events = answer(duck, "SELECT (SELECT count(*) FROM messages) + (SELECT count(*) FROM control)")
    assert found["events"] == events[0][0]


def test_throughput_of_partitions(data: SessionData, duck: duckdb.DuckDBPyConnection) -> None:
    found = data.throughput.filter(pl.col("dimension") == "partition")
    assert rows(found, "topic", "name", "start_ns", "messages", "bytes") == answer(
        duck,
        f"""SELECT topic, partition::VARCHAR, time_ns // {WIDTH} * {WIDTH}, sum(count)::BIGINT, sum(size_bytes)::BIGINT
            FROM messages WHERE kind = 'published' GROUP BY ALL""",
    )


def test_throughput_of_consumers(data: SessionData, duck: duckdb.DuckDBPyConnection) -> None:
    series = throughput.throughput_series(data.throughput, data.scale).filter(pl.col("dimension") == "consumer")
    assert rows(series, "name", "topic", "messages") == answer(
        duck, "SELECT client, topic, sum(count)::BIGINT FROM messages WHERE kind = 'delivered' GROUP BY ALL"
    )


def test_latency_percentiles(data: SessionData, duck: duckdb.DuckDBPyConnection) -> None:
    exact = answer(
        duck,
        """WITH each AS (
               SELECT kind, "group" AS who, topic, time_ns - published_ns AS late, unnest(range(count))
               FROM messages WHERE kind = 'acknowledged' OR kind = 'delivered' AND attempt = 1)
           SELECT kind, topic, who, count(*), quantile_disc(late, 0.5), quantile_disc(late, 0.9),
               quantile_disc(late, 0.99), quantile_disc(late, 0.999), max(late) FROM each GROUP BY ALL""",
    )
    columns = ("measure", "topic", "group", "messages", "p50_ns", "p90_ns", "p99_ns", "p999_ns", "max_ns")
    found = rows(latency.latency(data.latency_buckets, "topic", "group"), *columns)
    assert [row[:4] for row in found] == [row[:4] for row in exact]
    for mine, true in zip(found, exact, strict=True):
        assert mine[4:8] == pytest.approx(true[4:8], rel=0.0051)
        assert mine[8] == true[8]


def test_lag_at_the_end_of_every_bucket(data: SessionData, duck: duckdb.DuckDBPyConnection) -> None:
    expected = answer(
        duck,
        f"""WITH grid AS (
                SELECT DISTINCT m."group" AS who, m.topic, m.partition, b.range * {WIDTH} AS start
                FROM messages m, range({-(-data.scale.duration_ns // WIDTH)}) b
                WHERE m.kind = 'acknowledged' AND m."group" <> m.topic)
            SELECT who, g.topic, g.partition, start,
                coalesce((SELECT max("offset" + count) FROM messages p WHERE kind = 'published' AND p.topic = g.topic
                    AND p.partition = g.partition AND p.time_ns < start + {WIDTH}), 0),
                (SELECT max("offset" + count) FROM messages a WHERE kind = 'acknowledged' AND a."group" = who
                    AND a.topic = g.topic AND a.partition = g.partition AND a.time_ns < start + {WIDTH})
            FROM grid g""",
    )
    found = rows(data.lag, "group", "topic", "partition", "start_ns", "end_offset", "committed")
    none_last = [tuple(-1 if value is None else value for value in row) for row in expected]
    assert [tuple(-1 if value is None else value for value in row) for row in found] == sorted(none_last)
    for row in lag.lag_series(data.lag, data.control, data.scale).rows(named=True):
        assert row["max_lag"] >= row["last_lag"] >= 0


def test_queues_end_with_what_nobody_finished(data: SessionData, duck: duckdb.DuckDBPyConnection) -> None:
    last = data.queues.group_by("queue").agg(pl.col("waiting", "in_flight").last()).rows_by_key("queue")
    left = answer(
        duck,
        """SELECT sum(CASE WHEN kind = 'published' AND topic = 'orders' OR kind = 'redriven' THEN count
                           WHEN kind IN ('acknowledged', 'dead_lettered') AND topic = 'orders' THEN -count
                           ELSE 0 END)::BIGINT
           FROM messages""",
    )
    assert sum(last["orders"][0]) == left[0][0]


def test_redeliveries(data: SessionData, duck: duckdb.DuckDBPyConnection) -> None:
    found = dead_letters.redeliveries(data.rollup).filter(pl.col("delivered") > 0)
    assert rows(found, "group", "attempt", "delivered") == answer(
        duck, """SELECT "group", attempt, sum(count)::BIGINT FROM messages WHERE kind = 'delivered' GROUP BY ALL"""
    )


def test_dead_letters(data: SessionData, duck: duckdb.DuckDBPyConnection) -> None:
    assert rows(dead_letters.dead_letters(data.dead_letters), "group", "cause", "dead_lettered", "redriven") == answer(
        duck,
        """SELECT d."group", d.cause, count(*), count(r.seq) FROM messages d LEFT JOIN messages r
           ON r.kind = 'redriven' AND r.topic = d.to_topic AND r."offset" = d.to_offset
           WHERE d.kind = 'dead_lettered' GROUP BY ALL""",
    )


def test_keys(data: SessionData, duck: duckdb.DuckDBPyConnection) -> None:
    found = throughput.hot_keys(data.hot_keys, data.partitions)
    found = found.filter((pl.col("topic") == "commits") & (pl.col("rank") <= 3))
    assert rows(found, "messages", "bytes") == answer(
        duck,
        """SELECT count(*), sum(size_bytes)::BIGINT FROM messages
           WHERE kind = 'published' AND key IS NOT NULL AND topic = 'commits'
           GROUP BY key, partition ORDER BY 1 DESC, key LIMIT 3""",
    )


def test_backpressure(data: SessionData, duck: duckdb.DuckDBPyConnection) -> None:
    blocked = answer(
        duck,
        f"""SELECT topic, sum(until - time_ns)::BIGINT FROM (
                SELECT *, lead(time_ns, 1, {data.scale.duration_ns})
                    OVER (PARTITION BY topic, client ORDER BY seq) AS until
                FROM control WHERE kind LIKE 'producer_%') WHERE kind = 'producer_blocked' GROUP BY ALL""",
    )
    assert rows(backpressure.series(data.blocks, data.rollup), "topic", "blocked_ns") == blocked
    over_time = backpressure.over_time(data.blocks, data.rollup, data.scale)
    assert over_time["blocked_ns"].sum() == blocked[0][1]


def test_rebalances(data: SessionData, duck: duckdb.DuckDBPyConnection) -> None:
    expected = answer(
        duck,
        """SELECT "group", (detail->>'started_ns')::BIGINT, time_ns, cause, generation FROM control
           WHERE kind = 'rebalance_completed'""",
    )
    found = data.rebalances
    assert rows(found, "group", "started_ns", "ended_ns", "cause", "generation_after") == expected


def test_a_sound_session_passes_the_audit(data: SessionData) -> None:
    assert audit.audit(data.judged)["messages"].to_list() == [0] * len(audit.CHECKS)
