"""The tables of sessions in which much goes wrong against the plain recount that holds the window's figures."""

from __future__ import annotations

import random
import sys
from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from confluent_kafka import Consumer, Message, TopicPartition
from pyspark.sql import SparkSession

import resources
from broker_core.clock import NS_PER_S
from broker_core.recording.judged import audited
from broker_core.recording.schema import EVENT_SCHEMA
from broker_core.recording.verdicts import as_json
from broker_core.testing.embedded_broker import EmbeddedBroker
from spark_reports.passes import series
from spark_reports.passes.fold import FoldedEvents
from spark_reports.passes.series import Series
from spark_reports.pipeline.session_data import SessionData, read_session_data
from spark_reports.scale import scale_of
from spark_reports.sessions.session import inspect
from spark_reports.tables import audit, dead_letters, queues
from spark_reports.tables.audit import JudgedAccount
from tests.figures.accounts import differences
from tests.figures.recount.account import Account
from tests.figures.recount.reading import rows_of, scenario_of
from tests.figures.recount.session import Recount
from tests.long_form import some
from tests.processes import run

pytestmark = pytest.mark.spark

ROOT = Path(__file__).parents[2]
FIGURES = ROOT / "tests" / "figures"
BY_HAND = FIGURES / "shapes" / "assigned-by-hand"  # made by clients
REAL_CLIENTS = ROOT / "tests" / "app" / "questions" / "recordings" / "real_clients"
SCENARIOS = sorted(path.stem for path in resources.path("scenarios").glob("*.yaml"))
MOMENTS = 20
SESSIONS = [FIGURES / "upheaval.yaml", BY_HAND, REAL_CLIENTS, *sorted((FIGURES / "shapes").glob("*.yaml"))]


def by_hand(folder: Path) -> None:
    """Readers that assign their partitions themselves: one reads to the end, one goes back, one only commits."""
    with EmbeddedBroker() as broker:
        broker.create_topic("orders", partitions=2)
        for number in range(60):
            broker.publish("orders", str(number), key=str(number % 7), partition=number % 2)
        for group, commits in (("whole", 30), ("part", 10)):
            config = {"bootstrap.servers": broker.bootstrap_servers, "group.id": group, "client.id": group}
            reader = Consumer({**config, "auto.offset.reset": "earliest", "enable.auto.commit": False})
            reader.assign([TopicPartition("orders", partition, 0) for partition in (0, 1)])
            found: list[Message] = []
            while len(found) < 60:
                found += reader.consume(60 - len(found), 5)
            if group == "part":
                reader.seek(TopicPartition("orders", 1, 5))
                assert reader.poll(5) is not None
            for partition in (0, 1):
                reader.commit(offsets=[TopicPartition("orders", partition, commits)], asynchronous=False)
            reader.close()
        broker.save(folder)


@pytest.fixture(scope="module", params=some(SESSIONS, {"upheaval"}))
def session(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a recorded session."""
    if request.param == REAL_CLIENTS:
        return REAL_CLIENTS
    folder = tmp_path_factory.mktemp("recounted") / "session"
    if request.param == BY_HAND:
        by_hand(folder)
        return folder
    command = [sys.executable, str(ROOT / "main.py"), "run", str(request.param)]
    run([*command, "--session", str(folder), "--speed", "max"], capture_output=True, check=True, cwd=ROOT)
    return folder


@pytest.fixture(scope="module")
def recount(session: Path) -> Recount:
    """All of its events, counted again."""
    counted = Recount(scenario_of(session))
    for row in rows_of(session):
        counted.add(row)
    return counted


@pytest.fixture(scope="module")
def told(spark: SparkSession, session: Path) -> SessionData:
    """What the report knows of it."""
    return read_session_data(spark, inspect(str(session)))


def test_totals_and_the_audit(told: SessionData, recount: Recount) -> None:
    found = dict(told.totals.rows())
    assert recount.totals.keys() <= found.keys()
    assert found == {name: recount.totals.get(name, 0) for name in found} | {"events": recount.events}
    lost, unsound = audit.audit(told.judged)["messages"]
    assert lost >= sum(recount.totals.get(name, 0) for name in ("dropped", "evicted", "expired"))
    assert unsound == 0


def test_owners(told: SessionData, recount: Recount) -> None:
    spans = Counter(
        (name, *place, span.owner, span.start_ns, told.scale.to_ns if span.end_ns is None else span.end_ns)
        for name, group in recount.groups.items()
        for place, spans in group.spans.items()
        for span in spans
    )
    columns = ("group", "topic", "partition", "client", "from_ns", "to_ns")
    assert Counter(told.ownership.select(columns).rows()) == spans


def test_what_blocked_producers(told: SessionData, recount: Recount) -> None:
    sums = dict(told.blocks.group_by("topic").agg(pl.col("blocked_ns").sum()).rows())
    assert sums == {
        name: gate.blocked_ns(told.scale.to_ns) for name, gate in recount.gates.items() if gate.ended_ns or gate.blocked
    }


def test_dead_letters(told: SessionData, recount: Recount) -> None:
    listed = dead_letters.dead_letter_list(told.dead_letters)
    letters = Counter(
        (name, letter.row["offset"], letter.row["cause"], letter.row["time_ns"], offset)
        for name, queue in recount.queues.items()
        for offset, letter in {**queue.gone, **queue.letters}.items()
    )
    assert Counter(listed.select("group", "offset", "cause", "time_ns", "bin_offset").rows()) == letters


def test_clients(told: SessionData, recount: Recount) -> None:
    found = told.consumers.group_by("client").agg(pl.col("delivered").sum(), pl.col("acknowledged").sum())
    for client, delivered, acknowledged in found.rows():
        assert delivered == recount.counts["delivered to", client], client
        assert acknowledged == recount.counts["acknowledged by", client], client


def test_how_long_nobody_read(told: SessionData, recount: Recount) -> None:
    gaps = Counter(
        (name, *gap.place, gap.start_ns, told.scale.to_ns if gap.read_ns is None else gap.read_ns)
        for name in recount.groups
        for gap in recount.all_gaps(name)
    )
    found = told.pauses.select("group", "topic", "partition", "from_ns", "to_ns").rows()
    assert Counter(found) == gaps


def test_what_is_behind_at_the_end(told: SessionData, recount: Recount) -> None:
    lags = {
        (name, *place): recount.lag(name, *place)
        for name in recount.groups
        for place in recount.read_by(name)
        if recount.goes_on(name, *place) is not None
    }
    last = told.lag.sort("start_ns").group_by("group", "topic", "partition").agg(pl.col("lag").last())
    found = {tuple(row[:3]): row[3] for row in last.rows()}
    assert {place: lags.get(place) for place in found} == found
    assert all(behind == 0 for place, behind in lags.items() if place not in found)


def test_what_was_deleted_before_a_group_had_done_it(told: SessionData, session: Path) -> None:
    counted = Account(scenario_of(session))
    for row in rows_of(session):
        counted.add(row)
    states = Counter(
        (reader, topic, partition)
        for (topic, reader), parts in counted.readings.items()
        for partition in parts
        for offset in counted.logs[topic, partition].messages
        if counted.state(topic, reader, partition, offset) == "deleted"
    )
    found = (
        audit.deleted(told.judged, told.control, told.rollup).select("group", "topic", "partition", "messages").rows()
    )
    assert {tuple(row[:3]): row[3] for row in found if row[0]} == states


def test_how_transactions_ended(told: SessionData, recount: Recount) -> None:
    ends = Counter(told.transactions["outcome"].to_list())
    assert ends["open"] == len(recount.transactions)
    assert sum(ends.values()) == recount.kinds["transaction_started"]
    assert sum(ends.values()) - ends["open"] == recount.kinds["transaction_ended"]


def test_share_groups(told: SessionData, recount: Recount) -> None:
    found = queues.share_groups(told.rollup, told.control, told.queues)
    for group, acknowledged, dead, left in found.select(
        "group", "acknowledged", "dead_lettered", "last_unfinished"
    ).rows():
        queue = recount.queues[group]
        assert (acknowledged, dead, left) == (queue.acknowledged, queue.dead_lettered, len(queue.open)), group


def test_whose_keys_were_not_read(told: SessionData, recount: Recount) -> None:
    found = {(row[0], row[1]): row[2] for row in told.partitions.select("topic", "partition", "keys_not_read").rows()}
    assert found == {place: recount.topics[place[0]].at(place[1]).unnamed for place in found}


@pytest.mark.promise("44")
def test_the_account_of_every_message(told: SessionData, session: Path) -> None:
    """As window, test kit and `brokerscope audit` are held to the same recount."""
    counted = Account(scenario_of(session))
    for row in rows_of(session):
        counted.add(row)
    found = as_json(told.folded_events.account, told.folded_events.order, [])
    assert differences(found, counted) == []
    judged = audit.account(told.judged)
    sums = Counter((row["source"], row["reader"], row["published"], row["lost"]) for row in judged.to_dicts())
    readers = counted.readers()
    assert sums == Counter((row["source"], row["reader"], row["published"], row["lost"]) for row in readers)
    holds = {row["verdict"]: row["holds"] for row in audit.verdicts(told.judged).to_dicts()}
    assert holds == counted.verdicts() | {name: None for name, known in told.judged.known.items() if not known}


@pytest.mark.long
@pytest.mark.promise("44")
@pytest.mark.parametrize("name", SCENARIOS)
def test_at_any_moment_the_report_says_what_a_recount_says(spark: SparkSession, tmp_path: Path, name: str) -> None:
    """The events are read once; what the report folds of them up to each moment is held to the recount, and word
    for word to what `brokerscope audit` says.
    """
    folder = tmp_path / "session"
    command = [sys.executable, str(ROOT / "main.py"), "run", str(resources.path("scenarios", f"{name}.yaml"))]
    # It exits with 1 if the schedule has something that is refused, as in `schema-evolution`.
    run([*command, "--session", str(folder), "--speed", "max"], capture_output=True, cwd=ROOT)
    info, rows, counted = inspect(str(folder)), rows_of(folder), Account(scenario_of(folder))
    told = read_session_data(spark, info)
    of_messages, of_control = told._lazy_tables
    messages = of_messages.select(*series.TEXTS, *series.MESSAGES, "key").collect()
    control = of_control.select(EVENT_SCHEMA.names).collect()
    numbers = random.Random(name)
    duration_ns = info.metadata.duration_ns or 0
    for to_ns in sorted(numbers.randrange(1, duration_ns) for _ in range(MOMENTS)):
        for row in rows[counted.events :]:
            if row["time_ns"] >= to_ns:
                break
            counted.add(row)
        made = FoldedEvents(Series(), told.lost_in_flight, scale_of(duration_ns, None, to_ns))
        before = pl.col("time_ns") < to_ns
        made.add(messages.filter(before), control.filter(before))
        found = as_json(made.account, made.order, [])
        assert differences(found, counted) == []
        assert audited(folder, (to_ns - 1) / NS_PER_S) == (found, True)
        judged = JudgedAccount(made.account, made.order, ())
        holds = {row["verdict"]: row["holds"] for row in audit.verdicts(judged).to_dicts()}
        assert holds == counted.verdicts()
