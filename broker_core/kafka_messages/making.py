"""Messages of Kafka's protocol made of nested mappings, by the message schemas of `kio`.

A mapping has the field names of the newest version; what a version does not have is left out, what it has and is not
given gets the schema's default. Errors are numbers, times are milliseconds.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from kio.schema.errors import ErrorCode as KafkaError

from broker_core.kafka_messages.reading import types_in

Body = Mapping[str, Any]
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def maker(schema: type) -> Callable[[Body], Any]:
    parts = [(each.name, *_part(each)) for each in fields(schema)]

    def make(body: Body) -> Any:
        return schema(
            **{
                name: convert(body[name]) if name in body else default
                for name, convert, default, needed in parts
                if needed or name in body
            }
        )

    return make


def _part(field: Field[Any]) -> tuple[Callable[[Any], Any], Any, bool]:
    """How a field is converted, what it is if it is not given, and whether the schema needs it."""
    kinds = [kind for kind in types_in(field.type) if kind is not types.NoneType]
    nested = next((kind for kind in kinds if is_dataclass(kind)), None)
    many = any(typing.get_origin(kind) is tuple for kind in (field.type, *typing.get_args(field.type)))
    optional = types.NoneType in typing.get_args(field.type)
    needed = field.default is MISSING
    if nested is not None:
        make = maker(typing.cast(type, nested))
        if many:
            return lambda rows: None if rows is None else tuple(map(make, rows)), None if optional else (), needed
        return lambda row: None if row is None else make(row), None, needed
    if many:
        return lambda values: None if values is None else tuple(values), None if optional else (), needed
    kafka_type = field.metadata.get("kafka_type", "")
    convert, default = _PLAIN.get(kafka_type, (_same, 0))
    if convert is _time and not optional:
        convert, default = _always, _EPOCH
    return convert, None if optional else default, needed


def _same(value: Any) -> Any:
    return value


def _time(milliseconds: int) -> datetime | None:
    return None if milliseconds < 0 else _always(milliseconds)


def _always(milliseconds: int) -> datetime:
    """For a field that is never null: -1 is no time there, too."""
    return _EPOCH + timedelta(milliseconds=milliseconds)


def _span(milliseconds: int) -> timedelta:
    return timedelta(milliseconds=milliseconds)


_PLAIN: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "error_code": (KafkaError, KafkaError.none),
    "timedelta_i32": (_span, timedelta(0)),
    "timedelta_i64": (_span, timedelta(0)),
    "datetime_i64": (_time, None),
    "string": (_same, ""),
    "bytes": (_same, b""),
    "bool": (_same, False),
    "uuid": (_same, UUID(int=0)),
}
