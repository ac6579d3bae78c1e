"""What the report knows of a session before Spark has read it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from broker_core.recording.metadata import Metadata
from broker_core.recording.schema import EVENT_SCHEMA
from spark_reports.errors import reason
from spark_reports.scale import MAX_BUCKETS, bucket_width_ns
from spark_reports.sessions.events import EVENTS_SCHEMA, read_events
from spark_reports.sessions.session import SessionInfo, inspect
from tests.broker_core.recording.corruption import flip_unnoticed


@given(st.integers(min_value=0, max_value=10**16))
def test_a_session_is_cut_into_a_readable_number_of_buckets(duration_ns: int) -> None:
    width = bucket_width_ns(duration_ns)
    buckets = -(-max(duration_ns, 1) // width)
    assert buckets <= MAX_BUCKETS
    assert buckets >= 96 or width == 1
    assert str(width).rstrip("0") in ("1", "2", "5")


def test_the_columns_are_those_that_the_recorder_writes() -> None:
    assert [part.split("`")[1] for part in EVENTS_SCHEMA.split(", ")] == EVENT_SCHEMA.names


def test_a_damaged_segment_is_left_out_and_named(recorded: Path, tmp_path: Path) -> None:
    folder = tmp_path / "session"
    shutil.copytree(recorded, folder)
    part = folder / "messages" / "part-00000.parquet"
    part.write_bytes(b"PAR1" + part.read_bytes()[4:-1])
    found = inspect(str(folder))
    assert found.parts["messages"] == [] and len(found.parts["control"]) == 1
    assert found.problems == ("messages/part-00000.parquet is truncated or damaged; its events are missing.",)
    assert inspect(str(recorded)).problems == ()


def test_flipped_bytes_in_the_middle_of_a_segment_leave_it_out_and_name_it(recorded: Path, tmp_path: Path) -> None:
    folder = tmp_path / "session"
    shutil.copytree(recorded, folder)
    flip_unnoticed(folder / "messages" / "part-00000.parquet")
    text = (folder / "session.json").read_text(encoding="utf-8")
    (folder / "session.json").write_text(text.replace('"seed": 7', '"seed": 5'), encoding="utf-8")
    found = inspect(str(folder))
    assert found.parts["messages"] == [] and len(found.parts["control"]) == 1
    assert found.problems == (
        "session.json is damaged: its title, seed, times and totals may be wrong.",
        "messages/part-00000.parquet is truncated or damaged; its events are missing.",
    )


@pytest.mark.spark
def test_spark_refuses_a_damaged_page_where_nobody_else_can_look(
    spark: SparkSession, recorded: Path, tmp_path: Path
) -> None:
    part = tmp_path / "part-00000.parquet"
    shutil.copy(recorded / "messages" / part.name, part)
    info = SessionInfo(str(tmp_path), Metadata(), parts={"messages": [f"file://{part}"]})
    assert read_events(spark, info, "messages").collect()
    flip_unnoticed(part)
    with pytest.raises(Exception, match="CRC checksum verification failed") as caught:
        read_events(spark, info, "messages").collect()
    assert reason(caught.value) == f"{part} cannot be read; it is damaged or was written by another program"
