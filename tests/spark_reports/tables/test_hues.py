"""The report numbers topics, groups and clients as the window does, so that each has one colour everywhere."""

from __future__ import annotations

import json

import polars as pl

from app.sessions.collectors.hues import HueCollector
from broker_core.events import MESSAGE_KINDS, Event
from broker_core.simulation import Simulation, parse_scenario
from broker_core.simulation.actions.clients import AddConsumer
from broker_core.simulation.actions.faults import Crash
from broker_core.simulation.actions.topics import CreateTopic
from spark_reports.page.charts import OTHERS, Numbering, chart_data
from spark_reports.tables.markers import hues
from tests.spark_reports.page.tables_by_hand import SCALE

SCENARIO = """\
title: Hues
about: Names that are made in no order of the alphabet, and some later.
until_s: 30
topics: [{name: zebras, partitions: 2}, {name: apes, partitions: 1}]
queues: [{name: jobs}]
groups: [{name: readers, topics: [zebras]}, {name: counters, topics: [apes]}]
producers: [{name: shop, to: zebras, arrivals: {kind: rate, per_s: 5}}]
consumers: [{name: reader, count: 2, group: readers}, {name: bench, count: 1}, {name: a-counter, group: counters}]
workers: [{name: worker, count: 1, queue: jobs}]
"""


def test_both_count_in_the_order_in_which_names_came() -> None:
    feed, events = HueCollector(), list[Event]()
    simulation = Simulation(parse_scenario(SCENARIO))
    for sink in (feed, events.append):
        simulation.events.attach(sink)
    simulation.start()
    simulation.run(10)
    simulation.perform(CreateTopic(name="bees"))
    simulation.perform(AddConsumer("aunt", "counters"))
    simulation.perform(Crash("reader-1"))
    simulation.run(30)
    control = pl.DataFrame(
        [
            {
                "seq": event.seq,
                "kind": str(event.kind),
                "topic": event.topic,
                "group": event.group,
                "client": event.client,
                "detail": None if event.detail is None else json.dumps(event.detail),
            }
            for event in events
            if event.kind not in MESSAGE_KINDS
        ],
        infer_schema_length=None,
    )
    rows = hues(control).to_dicts()
    numbered = {(row["kind"], row["name"]): row["number"] for row in rows}
    assert list(numbered)[:3] == [("flow", "zebras"), ("flow", "apes"), ("flow", "jobs")]
    assert {name for kind, name in numbered if kind == "reader"} >= {"reader-1", "bench-1", "aunt", "worker-1"}
    assert ("reader", "shop") not in numbered and numbered["flow", "bees"] > numbered["flow", "counters"]
    of = {"flow": feed.flows.of, "reader": feed.readers.of}
    assert {(kind, name): of[kind](name) for kind, name in numbered} == numbered


def test_plots_take_the_numbers_of_names_and_others_have_none() -> None:
    told = [{"kind": "flow", "name": "t5", "number": 7}, {"kind": "reader", "name": "r", "number": 3}]
    series = [
        {"dimension": "topic", "name": f"t{number}", "topic": "", "start_ns": 0, "messages_per_s": 99.0 - number,
         "bytes_per_s": 1.0}
        for number in range(12)
    ]  # fmt: skip
    owned = [{"group": "g", "topic": "t5", "partition": 0, "client": "r", "generation": 1, "from_ns": 0, "to_ns": 9}]
    data = chart_data({"hues": told, "throughput": series, "throughput_series": series, "ownership": owned}, SCALE)
    shown = {one["name"]: one["hue"] for one in data["throughput"]["topic"]}
    assert shown["t5"] == 7 and shown["2 others"] == OTHERS
    assert data["ownership"]["hues"] == [3]


def test_a_name_that_nobody_told_of_comes_behind_and_keeps_its_number() -> None:
    numbering = Numbering([{"kind": "flow", "name": "orders", "number": 0}])
    assert [numbering.of("flow", name) for name in ("late", "orders", "later", "late")] == [1, 0, 2, 1]
