"""The tables of a stormy session against the plain recount that holds the window's figures."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from pyspark.sql import SparkSession

from spark_reports.frames import Frames, read_frames
from spark_reports.session import inspect
from spark_reports.tables import audit, dead_letters
from tests.figures.recount.reading import rows_of, scenario_of
from tests.figures.recount.session import Recount

pytestmark = pytest.mark.spark

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def stormy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a session in which whatever can go wrong does."""
    folder = tmp_path_factory.mktemp("stormy") / "session"
    scenario = ROOT / "tests" / "figures" / "upheaval.yaml"
    command = [sys.executable, str(ROOT / "main.py"), "run", str(scenario), "--session", str(folder), "--speed", "max"]
    subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    return folder


@pytest.fixture(scope="module")
def recount(stormy: Path) -> Recount:
    """All of its events, counted again."""
    counted = Recount(scenario_of(stormy))
    for row in rows_of(stormy):
        counted.add(row)
    return counted


@pytest.fixture(scope="module")
def told(spark: SparkSession, stormy: Path) -> Frames:
    """What the report knows of it."""
    return read_frames(spark, inspect(str(stormy)))


def test_totals_and_the_audit(told: Frames, recount: Recount) -> None:
    found = dict(told.totals.rows())
    names = found.keys() & recount.totals.keys()
    assert len(names) >= 10
    assert {name: found[name] for name in names} == {name: recount.totals[name] for name in names}
    assert found["events"] == recount.events
    assert audit.audit(told.audited)["ok"].all()


def test_owners(told: Frames, recount: Recount) -> None:
    end_ns = 90 * 10**9
    spans = Counter(
        (name, *place, span.owner, span.start_ns, end_ns if span.end_ns is None else span.end_ns)
        for name, group in recount.groups.items()
        for place, spans in group.spans.items()
        for span in spans
    )
    columns = ("group", "topic", "partition", "client", "from_ns", "to_ns")
    assert Counter(told.ownership.select(columns).rows()) == spans


def test_what_blocked_producers(told: Frames, recount: Recount) -> None:
    sums = dict(told.blocks.group_by("topic").agg(pl.col("blocked_ns").sum()).rows())
    assert sums == {
        name: gate.blocked_ns(90 * 10**9) for name, gate in recount.gates.items() if gate.ended_ns or gate.blocked
    }


def test_dead_letters(told: Frames, recount: Recount) -> None:
    listed = dead_letters.dead_letter_list(told.dead_letters)
    letters = Counter(
        (name, letter.row["offset"], letter.row["cause"], letter.row["time_ns"], offset)
        for name, queue in recount.queues.items()
        for offset, letter in {**queue.gone, **queue.letters}.items()
    )
    assert Counter(listed.select("group", "offset", "cause", "time_ns", "bin_offset").rows()) == letters


def test_clients(told: Frames, recount: Recount) -> None:
    found = told.consumers.group_by("client").agg(pl.col("delivered").sum(), pl.col("acknowledged").sum())
    for client, delivered, acknowledged in found.rows():
        assert delivered == recount.counts["delivered to", client], client
        assert acknowledged == recount.counts["acknowledged by", client], client
    assert found.height >= 15


def test_how_long_nobody_read(told: Frames, recount: Recount) -> None:
    end_ns = 90 * 10**9
    gaps = Counter(
        (name, *gap.place, gap.start_ns, end_ns if gap.read_ns is None else gap.read_ns)
        for name in recount.groups
        for started_ns in {card.started_ns for card in recount.rebalances if card.group == name}
        for gap in recount.gaps(name, started_ns)
    )
    found = told.pauses.select("group", "topic", "partition", "from_ns", "to_ns").rows()
    assert Counter(found) == gaps
