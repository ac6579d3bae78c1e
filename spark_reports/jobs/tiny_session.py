"""A session of a few events that takes every pass of a report: Spark loads and compiles with it what a report needs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa

from broker_core.recording import schema
from broker_core.recording.metadata import Metadata
from spark_reports.sessions.session import SessionInfo

_S = 1_000_000_000
_EMPTY: dict[str, Any] = {
    **dict.fromkeys(schema.EVENT_SCHEMA.names),
    **dict.fromkeys(("topic", "client", "group", "cause", "to_topic", "member"), ""),
    "size_bytes": 0,
}
_AT = {"topic": "t", "partition": 0, "offset": 0, "count": 1, "group": "g", "client": "c", "published_ns": 0}
_MESSAGES: tuple[dict[str, Any], ...] = (
    {"kind": "published", **_AT, "group": "", "key": b"key"},
    {"kind": "delivered", **_AT, "attempt": 1},
    {"kind": "acknowledged", **_AT},
    {"kind": "dead_lettered", **_AT, "to_topic": "t.dlq", "to_partition": 0, "to_offset": 0},
)
_CONTROL: tuple[dict[str, Any], ...] = (
    {"kind": "member_joined", "group": "g", "client": "c", "count": 0},
    {"kind": "fault", "client": "c", "count": 0},
)


def tiny_session(work: Path) -> SessionInfo:
    """That session, written into `work`. Raises OSError."""
    parts = {}
    for folder, rows, first in ((schema.MESSAGES, _MESSAGES, 0), (schema.CONTROL, _CONTROL, len(_MESSAGES))):
        events = [
            {**_EMPTY, "seq": first + number, "time_ns": (first + number) * _S, **event}
            for number, event in enumerate(rows)
        ]
        path = work / f"tiny-{schema.part_name(0)}-{folder}"
        with schema.parquet_writer(path) as writer:
            writer.write_table(pa.Table.from_pylist(events, schema.EVENT_SCHEMA))
        parts[folder] = [f"file://{path.resolve().as_posix()}"]
    count = len(_MESSAGES) + len(_CONTROL)
    return SessionInfo(str(work), Metadata(events=count, duration_ns=count * _S), (), parts)
