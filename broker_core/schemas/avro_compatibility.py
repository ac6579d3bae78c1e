"""Avro schema resolution (specification 1.12): whether data written with one schema can be read with another.

Rejected, 2026-11: the checker in Apache's `avro` package, which loses the path of a problem inside unions.
"""

from __future__ import annotations

from broker_core.schemas.avro_types import AvroField, AvroType
from broker_core.schemas.problem import Problem, Steps, pointer_to

Path = tuple[object, ...]

# Reader type: writer types that it can read besides its own.
_PROMOTIONS = {
    "long": ("int",),
    "float": ("int", "long"),
    "double": ("int", "long", "float"),
    "bytes": ("string",),
    "string": ("bytes",),
}


class Resolution:
    """The reasons why `reader` cannot read all data of `writer`, with pointers into the reader's text."""

    def __init__(self, steps: Steps) -> None:
        self._assumed: set[tuple[int, int]] = set()
        self._steps = steps

    def problems(self, reader: AvroType, writer: AvroType, path: Path) -> list[Problem]:
        self._steps.take()
        pair = (id(reader), id(writer))
        if pair in self._assumed:
            return []  # recursion: holds if the rest holds
        self._assumed.add(pair)
        try:
            return self._compared(reader, writer, path)
        finally:
            self._assumed.discard(pair)

    def _compared(self, reader: AvroType, writer: AvroType, path: Path) -> list[Problem]:
        if writer.kind == "union":
            return [problem for branch in writer.inner for problem in self.problems(reader, branch, path)]
        if reader.kind == "union":
            return self._any_branch(reader, writer, path)
        if reader.name:
            path = reader.path  # where the name is defined
        if not _match(reader, writer):
            return [Problem(pointer_to(*path), f"what was written as {writer} cannot be read as {reader}")]
        match reader.kind:
            case "record":
                return self._fields(reader, writer)
            case "enum":
                return _symbols(reader, writer)
            case "array" | "map":
                word = "items" if reader.kind == "array" else "values"
                return self.problems(reader.inner[0], writer.inner[0], (*path, word))
            case _:
                return _decimals(reader, writer, path)

    def _any_branch(self, reader: AvroType, writer: AvroType, path: Path) -> list[Problem]:
        """The first matching branch reads."""
        for index, branch in enumerate(reader.inner):
            if _match(branch, writer):
                return self.problems(branch, writer, (*path, index))
        return [Problem(pointer_to(*path), f"what was written as {writer} fits no branch of the union")]

    def _fields(self, reader: AvroType, writer: AvroType) -> list[Problem]:
        found: list[Problem] = []
        for index, field in enumerate(reader.fields):
            where = (*reader.path, "fields", index)
            written = _written_field(field, writer)
            if written is not None:
                found += self.problems(field.type, written.type, (*where, "type"))
            elif not field.has_default:
                message = f'the field "{field.name}" was not written, and has no default'
                found.append(Problem(pointer_to(*where), message))
        return found


def _written_field(field: AvroField, writer: AvroType) -> AvroField | None:
    by_name = {written.name: written for written in writer.fields}
    return next((by_name[name] for name in (field.name, *field.aliases) if name in by_name), None)


def _match(reader: AvroType, writer: AvroType) -> bool:
    """Whether the two types match, without their inner types."""
    if reader.kind != writer.kind:
        return writer.kind in _PROMOTIONS.get(reader.kind, ())
    if reader.kind == "fixed" and reader.size != writer.size:
        return False
    if not reader.name:
        return True
    return reader.short_name == writer.short_name or writer.name in reader.aliases


def _symbols(reader: AvroType, writer: AvroType) -> list[Problem]:
    gone = [symbol for symbol in writer.symbols if symbol not in reader.symbols]
    if not gone or reader.default is not None:
        return []
    message = f"{', '.join(gone[:5])} may have been written, and there is no default for unknown symbols"
    return [Problem(pointer_to(*reader.path, "symbols"), message)]


def _decimals(reader: AvroType, writer: AvroType, path: Path) -> list[Problem]:
    """Decimals match where precision and scale do. Other logical types do not matter."""
    logical = {kind.logical[0] for kind in (reader, writer) if kind.logical is not None}
    if "decimal" in logical and reader.logical != writer.logical:
        return [Problem(pointer_to(*path), "decimals are read with the precision and scale they were written with")]
    return []
