"""A report of an observed cluster has no figure that takes what nobody knows from outside, and says so."""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from pyspark.sql import SparkSession

from app.cli.main import main
from broker_core import BrokerHost
from broker_core.clock import NS_PER_S
from broker_core.events import EventKind, EventStream
from broker_core.listeners.between import peer
from broker_core.listeners.kafka.listener import KafkaListener
from broker_core.recording.metadata import KNOWS, OBSERVED
from broker_core.recording.recorder import Recorder
from broker_core.snapshots import PartitionView, Snapshot, TopicView
from spark_reports.errors import ReportError
from spark_reports.findings.find import find
from spark_reports.jobs.report import Report
from spark_reports.output.delivery import JUNIT
from spark_reports.page.figures import key_figures
from spark_reports.pipeline.collect import Made, make_tables
from spark_reports.request.assertions import judge
from spark_reports.request.parts import KNOWN_WITHOUT_DELIVERIES
from spark_reports.request.request import Request
from spark_reports.sessions.session import inspect
from tests.spark_reports.test_wrong import Silent

pytestmark = pytest.mark.spark
SHOP = """
import os
from confluent_kafka import Consumer, Producer
servers = {"bootstrap.servers": os.environ["KAFKA_BOOTSTRAP_SERVERS"], "log_level": 0}
producer = Producer({**servers, "client.id": "shop"})
for number in range(3):
    producer.produce("orders", b"x")
assert producer.flush(30) == 0
more = {"group.id": "billing", "auto.offset.reset": "earliest", "enable.auto.commit": False}
consumer = Consumer({**servers, "client.id": "biller", **more})
consumer.subscribe(["orders"])
message, left = None, 2
while left:
    found = consumer.poll(0.1)
    if found is not None and not found.error():
        message, left = found, left - 1
consumer.commit(message, asynchronous=False)
consumer.close()
"""


@pytest.fixture
def observed(tmp_path: Path) -> str:
    """Sixty looks, a second apart, at a group that falls behind and rebalances."""
    stream = EventStream()
    before = Snapshot(0, 0, (TopicView("orders", (PartitionView(0, 0, 5, 0),), 0, 0, None),))
    extra = {KNOWS: [], "address": "kafka:9092"}
    recorder = Recorder(tmp_path / "seen", scenario_name="kafka:9092", clock=OBSERVED, before=before, extra=extra)
    stream.attach(recorder)
    of_group = {"group": "billing", "generation": -1}
    rows = [["orders", 0, "one"]]
    for second in range(1, 61):
        now_ns = second * NS_PER_S
        where = {"topic": "orders", "partition": 0}
        stream.emit(
            now_ns, EventKind.PUBLISHED, **where, offset=second * 10 - 5, count=10, published_ns=now_ns - NS_PER_S
        )
        if second == 1:
            changes = [["orders", 0, None, 5]]
            stream.emit(now_ns, EventKind.OFFSETS_RESET, group="billing", count=1, detail={"changes": changes})
        else:
            stream.emit(now_ns, EventKind.ACKNOWLEDGED, **where, group="billing", offset=second * 2 + 1, count=2)
        if second == 5:
            stream.emit(now_ns, EventKind.REBALANCE_STARTED, **of_group, cause="seen late", detail={"before": rows})
            detail = {"before": rows, "after": [["orders", 0, "two"]], "started_ns": now_ns}
            stream.emit(now_ns, EventKind.REBALANCE_COMPLETED, **of_group, cause="seen late", detail=detail)
    recorder.close(totals={"published": 600, "acknowledged": 118, "rebalances": 1}, time_ns=60 * NS_PER_S)
    return str(tmp_path / "seen")


def test_what_is_not_known_is_left_out_and_named(spark: SparkSession, observed: str) -> None:
    made = make_tables(spark, inspect(observed), Silent())
    rows = made.rows()
    assert made.parts == KNOWN_WITHOUT_DELIVERIES
    assert any(note.startswith("Not known from outside, and left out: Latency, Consumers") for note in made.notes)
    assert not made.failed
    assert {row["name"] for row in rows["totals"]} == {"published", "acknowledged", "rebalances", "events"}
    series = rows["throughput_series"]
    assert {row["dimension"] for row in series} == {"topic", "partition"}
    assert {row["bytes"] for row in series} == {None}
    assert [row["peak_messages_per_s"] for row in series] == [10.0, 10.0], "no higher for all that a look has found"
    (rebalance,) = rows["rebalances"]
    unknown = ("pause_ns", "stopped", "generation_before", "generation_after")
    assert {rebalance[name] for name in unknown} == {None}
    assert rebalance["moved"] == 1
    assert rows["unserved"] == []


def test_neither_figures_nor_findings_tell_of_it(spark: SparkSession, observed: str) -> None:
    made: Made = make_tables(spark, inspect(observed), Silent())
    tables = made.rows()
    tiles = {tile.label: (tile.value, tile.note) for tile in key_figures(tables, made.scale)}
    assert tiles.keys() == {"Published", "Highest lag", "Rebalances"}
    assert tiles["Published"] == ("600", "10.0/s")
    assert "not known" in tiles["Rebalances"][1]
    told = [f"{one.headline} {one.detail} {one.why}" for one in find(tables, made.scale, parts=made.parts)]
    assert any("still growing" in one for one in told), told
    assert not any("obody read" in one or "did nothing" in one for one in told)
    held = {one.assertion: (one.holds, one.found) for one in judge(["delivered < 5", "unread < 5 s"], tables)}
    assert held == {"delivered < 5": (False, "delivered is n/a"), "unread < 5 s": (False, "unread is n/a")}


def test_a_part_that_is_not_known_cannot_be_asked_for_alone(spark: SparkSession, observed: str) -> None:
    with pytest.raises(ReportError, match="Latency"):
        make_tables(spark, inspect(observed), Silent(), parts=frozenset({"latency"}))


def test_what_was_asserted_of_a_program_that_went_through_to_a_cluster_is_in_junit(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`brokerscope with --cluster ... --session DIR -- ...`, then `brokerscope report DIR --assert ...`."""
    monkeypatch.setattr(peer, "_OFTEN_S", 0.5)  # what the program did last is looked at after it has ended
    with BrokerHost() as host, KafkaListener(host, port=0) as cluster:
        options = ["--cluster", cluster.bootstrap_servers, "--topic", "orders", "--session", str(tmp_path / "seen")]
        assert main(["with", *options, "--", sys.executable, "-c", SHOP]) == 0
    asserted = ("published = 3", "acknowledged = 2", "acknowledged = 3")
    request = Request(tmp_path / "seen", tmp_path / "out", assertions=asserted)
    (tmp_path / "tables").mkdir()
    Report.of(spark, request, inspect(str(tmp_path / "seen")), Silent()).write(tmp_path, frozenset())
    cases = {case.get("name"): case.find("failure") for case in ET.parse(tmp_path / JUNIT).iter("testcase")}
    failure = cases.pop("acknowledged = 3")
    assert failure is not None and failure.get("message") == "acknowledged is 2"
    assert cases == {"the recording is complete": None, "published = 3": None, "acknowledged = 2": None}
