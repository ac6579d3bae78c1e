"""Messages of a cluster whose answers are made up here: a whole batch, then as much of the next ones as fits."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

from broker_core.broker import browsing
from broker_core.log.batch import encode_batch, encode_marker
from broker_core.messages import Message
from broker_core.observation.kafka.cluster import Call
from broker_core.observation.kafka.logs import ClusterLog
from broker_core.schemas.registry import SchemaRegistry


def test_messages_behind_a_marker_are_read_where_their_batch_does_not_fit_beside_it() -> None:
    marker, large = (
        encode_marker(0, 0, 5, 0, commits=True),
        encode_batch(1, 0, [Message(bytes(browsing.READ_BYTES))])[0],
    )

    def ask(calls: list[Call]) -> Any:
        (part,) = calls[0].body["topics"][0]["partitions"]
        records = (marker + large)[: browsing.READ_BYTES] if part["fetch_offset"] == 0 else large
        found = SimpleNamespace(error_code=0, records=bytes(records))
        yield calls[0], SimpleNamespace(responses=[SimpleNamespace(partitions=[found])])

    log = ClusterLog(Mock(ask=ask), "orders", 0, 1, 0)
    log.end_offset = 2
    page = browsing.page(log, 0, 2, SchemaRegistry())
    assert [(row.offset, row.gap) for row in page.rows] == [(0, "compacted"), (1, "")]


def test_reading_ends_where_a_cluster_answers_with_batches_before_the_offset() -> None:
    found = SimpleNamespace(error_code=0, records=bytes(encode_batch(0, 0, [Message(b"")])[0]))
    answer = SimpleNamespace(responses=[SimpleNamespace(partitions=[found])])
    log = ClusterLog(Mock(ask=lambda calls: iter([(calls[0], answer)])), "orders", 0, 1, 0)
    assert log.read(5, max_messages=1, max_bytes=100) == []
