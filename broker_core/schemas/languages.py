"""The languages of schemas: what is done with a schema whatever its language, by that of each.

They take long to load, and most brokers have no schema: each is imported where one of its schemas is read.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from broker_core.limits import MAX_COMPARISON_STEPS
from broker_core.schemas.json_text import read_schema_text, write_json
from broker_core.schemas.problem import Problem, Steps, TooComplexError, distinct

if TYPE_CHECKING:
    from broker_core.schemas.avro_schema import AvroSchema
    from broker_core.schemas.json_schema import JsonSchema
    from broker_core.schemas.protobuf_schema import ProtobufSchema

    AnySchema = JsonSchema | AvroSchema | ProtobufSchema


class SchemaKind(enum.StrEnum):
    """The language of a schema."""

    JSON = "JSON"
    AVRO = "AVRO"
    PROTOBUF = "PROTOBUF"


def read_schema(kind: SchemaKind, text: str, referenced: Mapping[str, str] = MappingProxyType({})) -> AnySchema:
    """Parse a schema; `referenced` are the texts of those that it refers to, by name. Raises InvalidSchemaError."""
    if kind is SchemaKind.PROTOBUF:
        from broker_core.schemas.protobuf_schema import ProtobufSchema

        return ProtobufSchema(text, referenced)
    from broker_core.schemas.avro_schema import AvroSchema
    from broker_core.schemas.json_schema import JsonSchema

    return JsonSchema(text, referenced) if kind is SchemaKind.JSON else AvroSchema(text, referenced.values())


def document_of(schema: AnySchema) -> Any:
    """The schema as a JSON value."""
    from broker_core.schemas.protobuf_schema import ProtobufSchema

    return schema.document if isinstance(schema, ProtobufSchema) else read_schema_text(schema.text)


def form_of(schema: AnySchema) -> str:
    """The same text for equal schemas."""
    # Only Protobuf's have a form of their own, and its library is not loaded to find out.
    return getattr(schema, "form", "") or write_json(read_schema_text(schema.text))


def cannot_read(reader: AnySchema, writer: AnySchema, most: int = MAX_COMPARISON_STEPS) -> tuple[list[Problem], int]:
    """(reasons why `reader` may refuse data of `writer`, with pointers into `reader`; steps used)."""
    allowed = min(most, MAX_COMPARISON_STEPS)
    steps = Steps(allowed)
    try:
        problems = distinct(_compared(reader, writer, steps))
    except (TooComplexError, RecursionError):
        problems = [Problem("", "the two schemas are too complex to be compared")]
    return problems, allowed - steps.left


def _compared(reader: AnySchema, writer: AnySchema, steps: Steps) -> Iterable[Problem]:
    from broker_core.schemas.avro_compatibility import Resolution
    from broker_core.schemas.avro_schema import AvroSchema
    from broker_core.schemas.json_compatibility import JsonComparison
    from broker_core.schemas.json_schema import JsonSchema

    if isinstance(reader, JsonSchema) and isinstance(writer, JsonSchema):
        return JsonComparison(reader, writer, steps).problems((writer.document,), reader.document, ())
    if isinstance(reader, AvroSchema) and isinstance(writer, AvroSchema):
        return Resolution(steps).problems(reader.type, writer.type, ())
    from broker_core.schemas.protobuf_compatibility import ProtobufComparison
    from broker_core.schemas.protobuf_schema import ProtobufSchema

    if isinstance(reader, ProtobufSchema) and isinstance(writer, ProtobufSchema):
        return ProtobufComparison(reader, writer, steps).problems()
    return [Problem("", "they are in different languages")]
