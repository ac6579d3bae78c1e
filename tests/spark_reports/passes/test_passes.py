"""The passes on Spark: what they count is what their counterparts in `tables.rows` count, and comes home in bounds."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest
from polars.testing import assert_frame_equal
from pyspark.sql import SparkSession

from spark_reports.errors import TooMany
from spark_reports.passes import counts, redrives
from spark_reports.pipeline.session_data import SessionData
from spark_reports.scale import Scale
from spark_reports.spark import bounds
from spark_reports.spark.bounds import bring, local
from spark_reports.tables import dead_letters, throughput
from tests.spark_reports.conftest import Events
from tests.spark_reports.tables.rows import S, check, committed, in_flight_time, late, leased, published, rolled
from tests.spark_reports.tables.rows import events as written

pytestmark = pytest.mark.spark

SCALE = Scale(0, 10 * S, S)
ROLLUP = (
    "start_ns BIGINT, kind STRING, topic STRING, partition INT, client STRING, group STRING, attempt INT, "
    "cause STRING, to_topic STRING, to_partition INT, events BIGINT, messages BIGINT, bytes BIGINT, "
    "end_offset BIGINT, to_end_offset BIGINT, first_ns BIGINT, last_ns BIGINT, last_seq BIGINT, "
    "first_offset BIGINT, reached_offset BIGINT"
)


def _same(mine: pl.DataFrame, theirs: pl.DataFrame) -> None:
    assert_frame_equal(mine, theirs, check_row_order=False, check_column_order=False)


def test_the_passes_over_a_session_count_what_another_engine_counts(data: SessionData, recorded: Path) -> None:
    found = pl.from_arrow(pq.read_table(recorded / "messages"))
    assert isinstance(found, pl.DataFrame)
    mine = rolled(found, data.scale)
    assert mine["cause"].str.contains("full").any(), "some of it is about how full a topic is"
    said = pl.col("cause").str.replace(r"is full: \S+ of \S+", "is full: n of n")
    keys_ = ["start_ns", *counts.KEYS]
    summed = data.rollup.group_by(keys_).agg(pl.col("events", "messages", "bytes").sum(), pl.col("last_seq").max())
    again = mine.with_columns(cause=said).group_by(keys_)
    _same(summed, again.agg(pl.col("events", "messages", "bytes").sum(), pl.col("last_seq").max()))
    names = ("group", "client", "start_ns", "log_bucket")
    mine, theirs = in_flight_time(found, data.lost_in_flight, data.scale), data.folded_events.in_flight_time
    assert data.lost_in_flight.height, "some of what was in flight was lost"
    assert_frame_equal(theirs.sort(names), mine.select(theirs.columns).sort(names), rel_tol=1e-9)
    _same(data.latency_buckets, late(found, data.scale, data.control))


def test_more_than_fits_is_not_brought_home(spark: SparkSession) -> None:
    assert bring(spark.range(5).toDF("n"), most=5).height == 5
    with pytest.raises(TooMany, match="--from and --to"):
        bring(spark.range(6).toDF("n"), most=5)


def test_what_is_told_to_the_executors_comes_back_as_it_was(spark: SparkSession) -> None:
    frame = pl.DataFrame(
        {"name": ["a", None], "numbers": [[{"n": 1}], []], "count": pl.Series([1, 2], dtype=pl.UInt32)}
    )
    back = bring(local(spark, frame))
    assert back.rows() == frame.rows()


def test_too_many_names_are_put_together_and_the_reader_is_told(
    events: Events, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "MOST_CLIENTS", 2)
    monkeypatch.setattr(bounds, "MOST_GROUPS", 1)
    rows = [
        *(published(0, 0, at, client=f"p{at % 5}") for at in range(12)),
        *(committed(S, 0, at, group=f"g{at % 3}") for at in range(6)),
        *(leased("acknowledged", S, at) for at in range(2)),
    ]
    names = bounds.Names.of(written(*rows).lazy())
    assert names.clients == ("c", "p0") and len(names.notes) == 2
    table = bring(bounds.capped(events(*rows), names))
    assert set(table["client"]) == {"c", "p0", "(others)"} and table.height == len(rows)
    assert set(table.filter(pl.col("topic") == "q")["group"]) == {"q"}, "a queue keeps its name"
    assert len(set(table["group"])) == 4


def test_rollup_sums_ranges_and_keeps_the_last_offset(events: Events) -> None:
    table = events(
        published(0, 0, 0, 3),
        published(S - 1, 0, 3, 2),
        published(S, 0, 5),
        committed(S, 0, 2, 3),
        committed(S + 1, 0, 0, 2),
    )
    answer = bring(counts.rollup(table, SCALE)).sort("start_ns", "kind")
    check(
        answer,
        ROLLUP,
        [
            (0, "published", "t", 0, "p", "", None, "", "", None, 2, 5, 50, 5, None, 0, S - 1, 1, 0, 5),
            # The last event decides, not the highest offset: a reset goes back.
            (S, "acknowledged", "t", 0, "c", "g", None, "", "", None, 2, 5, 0, 2, None, S, S + 1, 4, 0, 5),
            (S, "published", "t", 0, "p", "", None, "", "", None, 1, 1, 10, 6, None, S, S, 2, 5, 6),
        ],
    )


def test_dead_letters_by_cause_by_key_and_each_with_what_its_redrive_came_to() -> None:
    def redriven(at: int, offset: int, to: int, count: int = 1) -> dict:
        return {
            "kind": "redriven", "time_ns": at, "topic": "q.dlq", "partition": 0, "offset": offset, "count": count,
            "group": "q", "to_topic": "q", "to_partition": 0, "to_offset": to,
        }  # fmt: skip

    table = written(
        leased("dead_lettered", S, 7, 2, cause="poison", attempt=3, to_topic="q.dlq", to_partition=0, to_offset=0,
               published_ns=5),
        leased("dead_lettered", 2 * S, 9, cause="=late", attempt=1, to_topic="q.dlq", to_partition=0, to_offset=2,
               key=b"\xff\x00"),
        redriven(2 * S, 0, 19),
        redriven(2 * S, 1, 18),
        leased("purged", 2 * S, 18, 2, cause="withdrawn"),  # both are undone
        redriven(3 * S, 1, 20),
        redriven(4 * S, 1, 30),  # the first counts
        redriven(4 * S, 2, 21),
        leased("acknowledged", 5 * S, 15, 6),  # 15 to 20
        leased("dead_lettered", 6 * S, 21, cause="poison", to_topic="q.dlq", to_partition=0, to_offset=3),
        redriven(7 * S, 3, 22),
    )  # fmt: skip
    dead = redrives.dead_letters(table.lazy(), SCALE)
    check(
        dead_letters.dead_letters(dead),
        dead_letters.SCHEMA,
        [("q", "poison", 3, 2, 1, 0, 1, S, 6 * S), ("q", "=late", 1, 1, 0, 1, 0, 2 * S, 2 * S)],
    )
    check(
        dead_letters.dead_letter_keys(dead),
        dead_letters.KEYS_SCHEMA,
        [("q", None, 3, 2, 1, 0, 1, "poison", S), ("q", "0xFF00", 1, 1, 0, 1, 0, "=late", 2 * S)],
    )
    check(
        dead_letters.dead_letter_list(dead),
        dead_letters.LIST_SCHEMA,
        [
            (S, "q", "q", 0, 7, None, "poison", 3, 5, "q.dlq", 0, None, None, None),
            (S, "q", "q", 0, 8, None, "poison", 3, 5, "q.dlq", 1, 3 * S, "acknowledged", 5 * S),
            (2 * S, "q", "q", 0, 9, "0xFF00", "=late", 1, None, "q.dlq", 2, 4 * S, "died again", 6 * S),
            (6 * S, "q", "q", 0, 21, None, "poison", 1, None, "q.dlq", 3, 7 * S, "waiting", None),
        ],
    )


def test_a_key_is_the_same_text_in_the_tables_of_both_engines(events: Events) -> None:
    keys = (b"plain", "Ž\u2028".encode(), b"", b"\xff", b"ends\n", b"ends\r\n", b"a\nb", b"ends\xc2\x85", b"\x7f")
    table = events(*(published(0, 0, number, key=key) for number, key in enumerate(keys)))
    found = bring(table.orderBy("seq").select(counts.key_text("key").alias("text")))["text"].to_list()
    assert found == list(map(redrives._key_text, keys))
    assert found[3:5] == ["0xFF", "0x656E64730A"]


def test_hot_keys_have_their_shares_and_any_bytes_are_shown(events: Events) -> None:
    rows = (
        *(published(0, 0, n, key=b"hot") for n in range(6)),
        *(published(0, 0, 6 + n, key=b"\x00\x01") for n in range(2)),
        published(0, 1, 0, key="Ž".encode()),
        published(0, 1, 1, 3),
    )
    counted = bring(counts.hot_keys(events(*rows), SCALE, top=3))
    parts = throughput.partitions(rolled(written(*rows), SCALE), counted)
    check(
        parts, throughput.PARTITIONS_SCHEMA, [("t", 0, 8, 80, 0, 8 / 12, 16 / 12), ("t", 1, 4, 40, 3, 4 / 12, 8 / 12)]
    )
    check(
        throughput.hot_keys(counted, parts),
        throughput.HOT_KEYS_SCHEMA,
        [
            ("t", 1, "hot", 0, 6, 60, 0.75, 0.5),
            ("t", 2, "0x0001", 0, 2, 20, 0.25, 2 / 12),
            ("t", 3, "Ž", 1, 1, 10, 0.25, 1 / 12),
        ],
    )
