"""Sessions of any size, made in seconds: what the recorder would write of a busy minute, without a broker."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import msgspec
import pyarrow as pa

# ruff: noqa: E501 (the query is easier to read in long lines)
from broker_core.events import Event, EventStream
from broker_core.recording import schema
from broker_core.recording.columns import batch_of
from tests.broker_core.recording.fake_stream import FakeBroker

DURATION_NS = 600_000_000_000
PARTITIONS = 6

#: A topic of six partitions that a group reads, with one hot key; every message is published, delivered and
#: acknowledged, in order: who is slow holds up what comes behind. A twentieth go through a queue where one in fifty is
#: refused once, and some of those die. A session is made in parts that follow each other, each of the same messages
#: with later times and offsets: the windows of one part fit in memory.
_MESSAGES = f"""
WITH base AS (
    SELECT i, i % 20 = 19 AS queued, ($part + i * 0.9 / $messages) * {DURATION_NS} / $parts AS born, hash(i) AS h FROM range($messages) t(i)
), keyed AS (
    SELECT *, CASE WHEN h % 100 < 30 THEN 'hot' ELSE 'key-' || (h // 128 % 5000) END AS name FROM base
), placed AS (
    SELECT *, CASE WHEN queued THEN 0 ELSE hash(name) % {PARTITIONS} END::INT AS p,
        500000 * (1 + h % 97) * CASE WHEN i % 1000 < 10 THEN 30 ELSE 1 END AS slow FROM keyed
), numbered AS (
    SELECT *, row_number() OVER (PARTITION BY queued, p ORDER BY i) - 1 + $part * count(*) OVER (PARTITION BY queued, p) AS o,
        max(born + slow) OVER (PARTITION BY queued, p ORDER BY i) - born AS late FROM placed
), told AS (
    SELECT *, CASE WHEN queued THEN 'jobs' ELSE 'events' END AS topic,
        CASE WHEN queued THEN 'jobs' ELSE 'readers' END AS grp,
        (CASE WHEN queued THEN 'worker-' ELSE 'reader-' END) || (p % 3 + 1) AS who FROM numbered
), rows AS (
    SELECT born::BIGINT AS time_ns, 'published' AS kind, topic, p, o, 'producer-' || (i % 4) AS client, '' AS grp,
        NULL::INT AS attempt, NULL::BIGINT AS published_ns, name AS key, '' AS cause, '' AS to_topic, NULL::BIGINT AS to_o
        FROM told
    UNION ALL SELECT (born + late)::BIGINT, 'delivered', topic, p, o, who, grp, 1, born::BIGINT, name, '', '', NULL FROM told
    UNION ALL SELECT (born + late * 1.5)::BIGINT, CASE WHEN queued AND h % 50 = 0 THEN 'nacked' ELSE 'acknowledged' END,
        topic, p, o, who, grp, CASE WHEN queued THEN 1 END, born::BIGINT, NULL, CASE WHEN queued AND h % 50 = 0 THEN 'no luck' ELSE '' END,
        '', NULL FROM told
    UNION ALL SELECT (born + late * 2)::BIGINT, 'delivered', topic, p, o, who, grp, 2, born::BIGINT, name, '', '', NULL
        FROM told WHERE queued AND h % 50 = 0
    UNION ALL SELECT (born + late * 2.5)::BIGINT, CASE WHEN h % 500 = 0 THEN 'nacked' ELSE 'acknowledged' END, topic, p, o,
        who, grp, 2, born::BIGINT, NULL, '', '', NULL FROM told WHERE queued AND h % 50 = 0
    UNION ALL SELECT (born + late * 2.5)::BIGINT + 1, 'dead_lettered', topic, p, o, who, grp, 2, born::BIGINT, name,
        'no luck ' || (h % 3), 'jobs.dlq', row_number() OVER (ORDER BY born + late * 2.5) - 1 + $part * count(*) OVER ()
        FROM told WHERE queued AND h % 500 = 0
)
SELECT row_number() OVER (ORDER BY time_ns, o) - 1 + $first AS seq, time_ns, kind, topic, p AS partition, o AS offset,
    1::BIGINT AS count, 100::BIGINT AS size_bytes, client, grp AS "group", NULL::INT AS generation, attempt, published_ns,
    encode(key) AS key, cause, to_topic, CASE WHEN to_topic <> '' THEN 0 END::INT AS to_partition, to_o AS to_offset,
    NULL::VARCHAR AS detail, CASE WHEN grp = 'readers' THEN client ELSE '' END AS member
FROM rows ORDER BY seq
"""
_EVENTS_PER_MESSAGE = 3.0021
_MOST_IN_PART = 25_000_000


def make_session(folder: Path, events: int, *, threads: int = 2) -> dict[str, int]:
    """Write a session of about `events` events into `folder`; what `session.json` says of it."""
    control = _control()
    connection = duckdb.connect(config={"threads": threads})
    connection.execute("SET enable_progress_bar = false")
    counted = 0
    for name in schema.FOLDERS:
        (folder / name).mkdir(parents=True)
    with schema.parquet_writer(folder / schema.CONTROL / schema.part_name(0)) as writer:
        writer.write_batch(control)
    number, parts = 0, -(-events // _MOST_IN_PART)
    for part in range(parts):
        asked = {"messages": int(events / parts / _EVENTS_PER_MESSAGE), "part": part, "parts": parts}
        found = connection.sql(_MESSAGES, params={**asked, "first": control.num_rows + counted})
        waiting: list[pa.RecordBatch] = []
        for batch in found.to_arrow_reader(schema.ROW_GROUP_EVENTS):
            waiting.append(batch)
            counted += batch.num_rows
            if sum(each.num_rows for each in waiting) >= schema.SEGMENT_EVENTS:
                number, waiting = _seal(folder, number, waiting), []
        number = _seal(folder, number, waiting)
    totals = connection.execute(
        f"SELECT kind, count(*)::BIGINT FROM read_parquet('{folder}/messages/*.parquet') GROUP BY kind"
    ).fetchall()
    about = {
        "format": schema.FORMAT, "format_version": schema.FORMAT_VERSION, "session_id": "bench", "scenario": "Bench",
        "seed": 1, "clock": "virtual", "ended": "finished", "duration_ns": DURATION_NS,
        "events": counted + control.num_rows,
        "totals": {kind: count for kind, count in totals if kind in ("published", "delivered", "acknowledged")},
    }  # fmt: skip
    (folder / schema.SESSION_FILE).write_text(json.dumps(about), encoding="utf-8")
    return {"events": counted + control.num_rows, **dict(totals)}


def _control() -> pa.RecordBatch:
    """Control events of ten minutes: rebalances, blocked producers, a fault, a user's action."""
    found: list[Event] = []
    stream = EventStream()
    stream.attach(found.append)
    FakeBroker(stream, seconds=600).run()
    control = [event for event in found if event.topic != "orders" and event.kind.value not in _TOLD]
    kept = [event for event in control if event.published_ns is None and event.count == 0]
    return batch_of([msgspec.structs.replace(event, seq=number) for number, event in enumerate(kept)])


_TOLD = ("published", "rejected")


def _seal(folder: Path, number: int, batches: list[pa.RecordBatch]) -> int:
    if not batches:
        return number
    table = pa.Table.from_batches(batches).cast(schema.EVENT_SCHEMA)
    with schema.parquet_writer(folder / schema.MESSAGES / schema.part_name(number)) as writer:
        writer.write_table(table, row_group_size=schema.ROW_GROUP_EVENTS)
    return number + 1
