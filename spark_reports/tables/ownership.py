from __future__ import annotations

import polars as pl

from broker_core.events import Event
from broker_core.recording.ownership import Ownership
from spark_reports.scale import Scale
from spark_reports.tables.schema import rows

SCHEMA = (
    "`group` STRING, topic STRING, partition INT, client STRING, generation INT, from_ns BIGINT, "
    "to_ns BIGINT, held_ns BIGINT"
)
_PLACE = ("group", "topic", "partition")


def ownership(owners: Ownership, events: list[Event], scale: Scale) -> pl.DataFrame:
    """One row per interval in which a client held a partition, at most to the session's end. Being assigned again what
    one holds begins no new interval; a static member that comes back does.
    """
    generations = {event.seq: event.generation for event in events}
    found: list[tuple[object, ...]] = []
    for place, span in owners.owned():
        end_ns = scale.to_ns if span.end_ns is None else span.end_ns
        begin_ns = max(span.start_ns, scale.from_ns)
        if end_ns >= scale.from_ns:
            found.append((*place, span.owner, generations[span.start_seq], begin_ns, end_ns, end_ns - begin_ns))
    return rows(SCHEMA, found).sort(*_PLACE, "from_ns")
