"""Compatibility modes, as in Confluent's schema registry."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import msgspec

from broker_core.limits import MAX_CHECK_STEPS, MAX_COMPARISON_STEPS
from broker_core.schemas.json_text import read_schema_text, write_json
from broker_core.schemas.problem import Problem, Steps, TooComplexError, distinct

# The languages take long to load, and most brokers have no schema: they are imported where one is read.
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


class Compatibility(enum.StrEnum):
    """Backward: the new schema reads data of the old one; forward: the old one reads data of the new one; full: both.

    Transitive: compared with all versions, otherwise with the last.
    """

    NONE = "NONE"
    BACKWARD = "BACKWARD"
    BACKWARD_TRANSITIVE = "BACKWARD_TRANSITIVE"
    FORWARD = "FORWARD"
    FORWARD_TRANSITIVE = "FORWARD_TRANSITIVE"
    FULL = "FULL"
    FULL_TRANSITIVE = "FULL_TRANSITIVE"


class SchemaProblem(msgspec.Struct, frozen=True):
    """A reason why a schema cannot become a new version.

    `version` is the incompatible version, None if the text itself is invalid. `direction` is "backward" (the new schema
    is the reader), "forward" (`version` is the reader) or "". `pointer` is a JSON pointer into the reader's text.
    """

    pointer: str
    message: str
    version: int | None = None
    direction: str = ""

    def __str__(self) -> str:
        where = f"{self.pointer}: {self.message}" if self.pointer else self.message
        if self.direction == "backward":
            return f"it cannot read everything that version {self.version} wrote: {where}"
        if self.direction == "forward":
            return f"version {self.version} cannot read everything that it writes: {where}"
        return where


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


def incompatibilities(mode: Compatibility, new: AnySchema, versions: dict[int, AnySchema]) -> list[SchemaProblem]:
    """The problems of `new` as the next version after `versions` (in order) under `mode`."""
    against = list(versions.items()) if mode.endswith("TRANSITIVE") else list(versions.items())[-1:]
    found: list[SchemaProblem] = []
    left = MAX_CHECK_STEPS
    for number, old in against:
        for direction, wanted, reader, writer in (
            ("backward", mode.startswith(("BACKWARD", "FULL")), new, old),
            ("forward", mode.startswith(("FORWARD", "FULL")), old, new),
        ):
            if wanted and left > 0:
                problems, steps = cannot_read(reader, writer, left)
                left -= steps
                found += [SchemaProblem(problem.pointer, problem.message, number, direction) for problem in problems]
        if left <= 0 and not found:
            found.append(SchemaProblem("", "its versions are too many or too complex to be compared with all of them"))
    return found
