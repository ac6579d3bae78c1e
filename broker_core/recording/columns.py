from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Any

import msgspec
import pyarrow as pa

from broker_core.events import Event, EventKind
from broker_core.recording.schema import EVENT_SCHEMA, KINDS, MESSAGES

_MESSAGE_KINDS = KINDS[MESSAGES]
_KINDS = {kind.value: kind for kind in EventKind}
_KIND = EVENT_SCHEMA.get_field_index("kind")
_DETAIL = EVENT_SCHEMA.get_field_index("detail")
_MEMBER = EVENT_SCHEMA.get_field_index("member")
_GETTERS = {name: attrgetter(name) for name in EVENT_SCHEMA.names}
_encoder = msgspec.json.Encoder(enc_hook=str)


def is_message(event: Event) -> bool:
    return event.kind._value_ in _MESSAGE_KINDS  # hash of an enum member is slow, of its value fast


def batch_of(events: Sequence[Event]) -> pa.RecordBatch:
    """One record batch with a row an event. Raises pa.ArrowException if a field has the wrong type."""
    # A list a column: a tuple an event costs three times as much, and has Python look for garbage meanwhile.
    columns: dict[str, list[Any]] = {name: list(map(get, events)) for name, get in _GETTERS.items()}
    columns["detail"] = [None if told is None else _encoder.encode(told).decode() for told in columns["detail"]]
    arrays = [pa.array(columns[field.name], field.type) for field in EVENT_SCHEMA]
    return pa.RecordBatch.from_arrays(arrays, schema=EVENT_SCHEMA)


def events_of(batch: pa.RecordBatch) -> Iterator[Event]:
    """The events of a record batch, in its order. Raises KeyError for a kind that this program does not know."""
    columns = [column.to_pylist() for column in batch.columns]
    if batch.columns[_MEMBER].null_count:  # Arrow's datasets fill in a column that an older part has not
        columns[_MEMBER] = [each or "" for each in columns[_MEMBER]]
    for row in zip(*columns, strict=True):
        fields = list(row)
        fields[_KIND] = _KINDS[fields[_KIND]]
        fields[_DETAIL] = fields[_DETAIL] and msgspec.json.decode(fields[_DETAIL])
        yield Event(*fields)
