"""Avro encoding and decoding by fastavro, with limits on depth and size."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import Any

import fastavro

from broker_core.limits import MAX_VALUE_DEPTH, MAX_VALUES
from broker_core.schemas.avro_binary import binary_problems
from broker_core.schemas.avro_types import read_avro
from broker_core.schemas.avro_unions import labelled
from broker_core.schemas.problem import InvalidDataError, Problem, shortened


class AvroSchema:
    """A parsed and checked schema. Immutable and thread-safe."""

    def __init__(self, text: str, referenced: Iterable[str] = ()) -> None:
        """`referenced` are the texts of schemas whose types it may name. Raises InvalidSchemaError."""
        self.text = text
        self.type, plain, before = read_avro(text, referenced)
        named: dict[str, Any] = {}
        for each in (*before, plain):
            self._parsed = fastavro.parse_schema(each, named, _ignore_default_error=True)  # checked by read_avro

    def encode(self, value: Any) -> bytes:
        """The binary encoding of `value`. Raises InvalidDataError."""
        _check_depth(value)
        value = labelled(self.type, value)
        out = io.BytesIO()
        try:
            fastavro.schemaless_writer(out, self._parsed, value, strict_allow_default=True)
        except Exception as error:  # fastavro raises many types
            raise InvalidDataError([Problem("", _reason(error))]) from None
        data = out.getvalue()
        # fastavro writes integers of any size; the result must be readable.
        problems = binary_problems(self.type, data)
        if problems:
            raise InvalidDataError(problems)
        return data

    def problems_of_binary(self, data: bytes, at: int = 0) -> list[Problem]:
        """The problems of the value in `data` from `at` on."""
        try:
            self.decode(data, at)
        except InvalidDataError as error:
            return error.problems
        return []

    def decode(self, data: bytes, at: int = 0, reader: AvroSchema | None = None) -> Any:
        """The value in `data` from `at` on, written with this schema, resolved to `reader`. Raises InvalidDataError."""
        problems = binary_problems(self.type, data, at)
        if problems:
            raise InvalidDataError(problems)
        source = io.BytesIO(data)
        source.seek(at)
        try:
            return fastavro.schemaless_reader(source, self._parsed, None if reader is None else reader._parsed)
        except Exception as error:  # a date after the year 9999, an invalid UUID, schemas that do not resolve
            raise InvalidDataError([Problem("", _reason(error))]) from None


def _reason(error: Exception) -> str:
    return shortened(f"{type(error).__name__}: {error}")


def _check_depth(value: Any) -> None:
    """Limit the depth and size, because fastavro's compiled writer recurses without a limit."""
    level, depth, count = [value], 0, 0
    while level:
        count += len(level)
        if count > MAX_VALUES:
            raise InvalidDataError([Problem("", f"there are more than {MAX_VALUES:,} values")])
        if depth > MAX_VALUE_DEPTH:
            raise InvalidDataError([Problem("", f"it is nested deeper than {MAX_VALUE_DEPTH} levels")])
        inner: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                inner.extend(item.values())
            elif isinstance(item, list | tuple):
                inner.extend(item)
        level, depth = inner, depth + 1
