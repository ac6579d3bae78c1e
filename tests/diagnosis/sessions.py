"""A case, simulated in virtual time, and the tables of its report, without Spark: a few hundred sessions in minutes."""

from __future__ import annotations

import hashlib
import json
import pickle
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from broker_core.clock import ns_from_s
from broker_core.events import MESSAGE_KINDS, Event
from broker_core.simulation.scenario import parse_scenario
from broker_core.simulation.simulation import Simulation
from spark_reports.pipeline.collect import Made, _tables
from spark_reports.pipeline.session_data import SessionData
from spark_reports.request.parts import EVERY, made_for
from spark_reports.scale import scale_of
from tests.diagnosis.scenarios import Case
from tests.spark_reports.tables.passes import InMemory
from tests.spark_reports.tables.rows import EVENT

MOST_EVENTS = 1_000_000
Events = tuple[pl.DataFrame, int, dict[str, int]]  # with how long they lasted, and what the broker counted


def simulated(case: Case) -> Events:
    """The events of the case, as a recording has them."""
    simulation = Simulation(parse_scenario(case.text))
    found: list[Event] = []
    simulation.events.attach(found.append)
    simulation.start()
    until_s = case.scenario["until_s"]
    simulation.run(until_s)
    totals = {**msgspec.to_builtins(simulation.totals()), "events": len(found)}
    simulation.close()
    assert len(found) < MOST_EVENTS, (case.seed, case.cause, len(found))
    columns: dict[str, list[Any]] = {name: [getattr(event, name) for event in found] for name in EVENT}
    columns["kind"] = [event.kind.value for event in found]
    columns["detail"] = [None if event.detail is None else json.dumps(event.detail) for event in found]
    return pl.DataFrame(columns, EVENT), ns_from_s(until_s), totals


def events_of(case: Case, folder: Path | None = None) -> Events:
    """The events of the case; from `folder`, if they are kept there."""
    if folder is None:
        return simulated(case)
    kept = folder / f"{case.seed}-{hashlib.sha1(case.text.encode()).hexdigest()[:12]}.events"
    if not kept.exists():
        kept.write_bytes(pickle.dumps(simulated(case)))
    found: Events = pickle.loads(kept.read_bytes())
    return found


def made(events: pl.DataFrame, duration_ns: int, totals: dict[str, int]) -> Made:
    """What the report of a session with these events has."""
    scale = scale_of(duration_ns)
    control = ~pl.col("kind").is_in([kind.value for kind in MESSAGE_KINDS])
    data: SessionData = InMemory(events.filter(~control), events.filter(control), scale, totals)
    tables, failed = _tables(data, made_for(EVERY))
    assert not failed, failed
    return Made(tables, scale)
