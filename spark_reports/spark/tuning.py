"""Configures Spark for the size of a session.

Measured on 2 cores with sixty small queries a report: CPU seconds of the JVM for 31,000 events 40 as Spark comes, 22
with the quick compiler and the serial collector. With the thorough compiler a report of a million events took 28 s
where the quick one took 24, one of three million 30 and 27, one of ten million 34 and 40. Since a report is a few
passes, compiling each costs no more than running it uncompiled, and a second report has it compiled already: 6.5 CPU
seconds either way, then 2.4 instead of 2.9.
"""

from __future__ import annotations

from typing import NamedTuple

SMALL_EVENTS = 300_000
MANY_EVENTS = 6_000_000
LARGE_EVENTS = 20_000_000


class Tuning(NamedTuple):
    """Options of the JVM, and settings of Spark SQL: every one is in all of them, so that each undoes the others."""

    jvm_options: tuple[str, ...]
    settings: dict[str, str]


def _settings(*, adaptive: bool, partitions: int) -> dict[str, str]:
    return {"spark.sql.adaptive.enabled": str(adaptive).lower(), "spark.sql.shuffle.partitions": str(partitions)}


_SERIAL = "-XX:+UseSerialGC"
_QUICK = ("-XX:TieredStopAtLevel=1", _SERIAL)

#: Few rows are one partition (see `session_data`), and what they come to is not shuffled.
SMALL = Tuning(_QUICK, _settings(adaptive=False, partitions=1))
MEDIUM = Tuning(_QUICK, _settings(adaptive=False, partitions=2))
MANY = Tuning((_SERIAL,), _settings(adaptive=False, partitions=2))
LARGE = Tuning((), _settings(adaptive=True, partitions=16))


def is_small(events: int) -> bool:
    """Whether one task reads so many events soonest."""
    return events < SMALL_EVENTS


def serves(running: Tuning, wanted: Tuning) -> bool:
    """Whether a JVM that was started for one does for the other: its settings can be changed, its options cannot."""
    order = [SMALL.jvm_options, MANY.jvm_options, LARGE.jvm_options]
    return order.index(running.jvm_options) >= order.index(wanted.jvm_options)


def tuning(events: int) -> Tuning:
    """The one for a session with so many events."""
    if is_small(events):
        return SMALL
    if events < MANY_EVENTS:
        return MEDIUM
    return MANY if events < LARGE_EVENTS else LARGE
