from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import pyarrow as pa

from broker_core.events import Event, EventKind
from broker_core.recording.schema import EVENT_SCHEMA, KINDS, MESSAGES

_MESSAGE_KINDS = KINDS[MESSAGES]
_KINDS = {kind.value: kind for kind in EventKind}
_KIND = EVENT_SCHEMA.get_field_index("kind")
_DETAIL = EVENT_SCHEMA.get_field_index("detail")
_AT_ONCE = 256  # more tuples than that have Python look for garbage
_encoder = msgspec.json.Encoder(enc_hook=str)


def is_message(event: Event) -> bool:
    return event.kind._value_ in _MESSAGE_KINDS  # hash of an enum member is slow, of its value fast


def batch_of(events: Sequence[Event]) -> pa.RecordBatch:
    """One record batch with a row an event. Raises pa.ArrowException if a field has the wrong type."""
    columns: list[list[Any]] = [[] for _ in EVENT_SCHEMA]
    for start in range(0, len(events), _AT_ONCE):
        rows = map(msgspec.structs.astuple, events[start : start + _AT_ONCE])
        for column, part in zip(columns, zip(*rows, strict=True), strict=True):
            column.extend(part)
    columns[_DETAIL] = [None if told is None else _encoder.encode(told).decode() for told in columns[_DETAIL]]
    arrays = [pa.array(column, field.type) for column, field in zip(columns, EVENT_SCHEMA, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=EVENT_SCHEMA)


def events_of(batch: pa.RecordBatch) -> Iterator[Event]:
    """The events of a record batch, in its order. Raises KeyError for a kind that this program does not know."""
    columns = [column.to_pylist() for column in batch.columns]
    for row in zip(*columns, strict=True):
        fields = list(row)
        fields[_KIND] = _KINDS[fields[_KIND]]
        fields[_DETAIL] = fields[_DETAIL] and msgspec.json.decode(fields[_DETAIL])
        yield Event(*fields)
