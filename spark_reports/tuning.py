"""How Spark is set up for the size of a session.

Measured on 2 cores with a session of 31,000 events, whole report, CPU seconds of the JVM: 40 as Spark comes, 22 with
the quick compiler and the serial collector, 20 without adaptive execution as well. With the thorough compiler a report
of a million events took 28 s where the quick one took 24, one of three million 30 and 27, one of ten million 34 and 40.
(2026-11-21; an AppCDS archive saved another 5 s, cost 13 s once and 187 MB of the user's cache, and was left out: a
warm process for the next report saves more.)
"""

from __future__ import annotations

from typing import NamedTuple

SMALL_EVENTS = 300_000
MANY_EVENTS = 6_000_000
LARGE_EVENTS = 20_000_000


class Tuning(NamedTuple):
    """Options of the JVM and settings of Spark SQL."""

    jvm_options: tuple[str, ...]
    settings: dict[str, str]


_SERIAL = "-XX:+UseSerialGC"
_QUICK = ("-XX:TieredStopAtLevel=1", _SERIAL)
_FEW = {"spark.sql.adaptive.enabled": "false", "spark.sql.shuffle.partitions": "2"}

#: For a few rows, compiling a query costs more than running it as it is.
SMALL = Tuning(_QUICK, _FEW | {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"})
MEDIUM = Tuning(_QUICK, _FEW)
MANY = Tuning((_SERIAL,), _FEW)
LARGE = Tuning((), {"spark.sql.adaptive.enabled": "true", "spark.sql.shuffle.partitions": "16"})


def tuning(events: object) -> Tuning:
    """The one for a session with so many events; anything but a count means that nobody knows."""
    if not isinstance(events, int) or events >= LARGE_EVENTS:
        return LARGE
    if events < SMALL_EVENTS:
        return SMALL
    return MEDIUM if events < MANY_EVENTS else MANY
