"""The table of all requests that a connection may send after its hello, and how each is served."""

from __future__ import annotations

from broker_core.listeners.wire.handlers import dead_letters, fetch, groups, produce, queues, schemas, topics, watch
from broker_core.listeners.wire.rows import Row
from broker_core.wire.body import Body

ROWS: tuple[Row, ...] = (
    *topics.ROWS,
    *produce.ROWS,
    *fetch.ROWS,
    *groups.ROWS,
    *queues.ROWS,
    *dead_letters.ROWS,
    *schemas.ROWS,
    *watch.ROWS,
)
TABLE: dict[type[Body], Row] = {row.request: row for row in ROWS}
