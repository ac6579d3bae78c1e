from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from spark_reports.tables.schema import rows

SCHEMA = "name STRING, value DOUBLE, unit STRING"
_UNITS = ("bytes", "s", "ms", "count")


def cost(noted: Mapping[str, float], events: int, duration_ns: int) -> pl.DataFrame:
    """One row per figure: those the program noted, whose names end in their unit, and what follows from them."""
    known = [_split(name, value) for name, value in noted.items()]
    if noted.get("wall_s", 0.0) > 0:
        known.append(("session_seconds_a_second", duration_ns / 1e9 / noted["wall_s"], ""))
    if events and "process_cpu_s" in noted:
        known.append(("process_cpu_an_event", noted["process_cpu_s"] * 1e9 / events, "ns"))
    return rows(SCHEMA, list(known)).sort("name")


def _split(name: str, value: float) -> tuple[str, float, str]:
    before, _, unit = name.rpartition("_")
    return (before, value, unit) if unit in _UNITS and before else (name, value, "")
