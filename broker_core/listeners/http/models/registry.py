"""Requests of Confluent's schema registry; what is not known in them is passed over, as there."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from broker_core.listeners.http.models.schemas import Mode

SchemaType = Literal["AVRO", "JSON", "PROTOBUF"]
RegistryMode = Literal["READWRITE", "READONLY", "READONLY_OVERRIDE", "IMPORT", "FORWARD"]
SubjectName = Annotated[str, Meta(max_length=249)]


class Candidate(msgspec.Struct, frozen=True, rename="camel"):
    """A schema, as a text."""

    schema: str
    schema_type: SchemaType = "AVRO"
    references: list[Any] = []


class CompatibilityLevel(msgspec.Struct, frozen=True):
    """The mode of a subject, or of all that have none."""

    compatibility: Mode


class ModeChange(msgspec.Struct, frozen=True):
    """Whether schemas can be registered."""

    mode: RegistryMode
