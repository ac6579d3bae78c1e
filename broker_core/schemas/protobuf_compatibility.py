"""Whether one Protobuf file reads the data of another, by the rules of Confluent's registry."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum

from google.protobuf.descriptor_pb2 import DescriptorProto, FeatureSet, FieldDescriptorProto

from broker_core.messages import grouped
from broker_core.schemas.problem import Problem, Steps, pointer_to
from broker_core.schemas.protobuf_schema import FILE, ProtobufSchema

Path = tuple[object, ...]
_F = FieldDescriptorProto


class _Kind(Enum):
    NUMBER = "an integer"
    SIGNED = "a zigzag integer"
    FIXED32 = "four bytes"
    FIXED64 = "eight bytes"
    FLOAT = "a float"
    DOUBLE = "a double"
    TEXT = "text or bytes"
    MESSAGE = "a message"
    MAP = "a map"


_KINDS = {
    **dict.fromkeys((_F.TYPE_INT32, _F.TYPE_INT64, _F.TYPE_UINT32, _F.TYPE_UINT64), _Kind.NUMBER),
    **dict.fromkeys((_F.TYPE_BOOL, _F.TYPE_ENUM), _Kind.NUMBER),
    **dict.fromkeys((_F.TYPE_SINT32, _F.TYPE_SINT64), _Kind.SIGNED),
    **dict.fromkeys((_F.TYPE_FIXED32, _F.TYPE_SFIXED32), _Kind.FIXED32),
    **dict.fromkeys((_F.TYPE_FIXED64, _F.TYPE_SFIXED64), _Kind.FIXED64),
    **dict.fromkeys((_F.TYPE_STRING, _F.TYPE_BYTES), _Kind.TEXT),
    **dict.fromkeys((_F.TYPE_MESSAGE, _F.TYPE_GROUP), _Kind.MESSAGE),
    _F.TYPE_FLOAT: _Kind.FLOAT,
    _F.TYPE_DOUBLE: _Kind.DOUBLE,
}
_NUMBERS = frozenset(_Kind) - {_Kind.TEXT, _Kind.MESSAGE, _Kind.MAP}


class ProtobufComparison:
    """The reasons why `reader` may misread data of `writer`, with the messages and field numbers as pointers."""

    def __init__(self, reader: ProtobufSchema, writer: ProtobufSchema, steps: Steps) -> None:
        self._reader, self._writer = reader, writer
        self._steps = steps
        self._compared: set[str] = set()  # messages of imported files

    def problems(self) -> Iterator[Problem]:
        new, old = self._reader.file, self._writer.file
        if new.package != old.package:
            yield Problem("", f"the package {old.package or 'without a name'} is {new.package or 'without a name'}")
        yield from self._messages(old.message_type, new.message_type, (), (FILE, FILE))

    def _messages(
        self, old: Sequence[DescriptorProto], new: Sequence[DescriptorProto], path: Path, files: tuple[str, str]
    ) -> Iterator[Problem]:
        there = {each.name: each for each in new}
        for each in old:
            if each.options.map_entry:
                continue
            if each.name not in there:
                yield Problem(pointer_to(*path, each.name), "the message is gone")
            else:
                yield from self._message(each, there[each.name], (*path, each.name), files)

    def _message(
        self, old: DescriptorProto, new: DescriptorProto, path: Path, files: tuple[str, str]
    ) -> Iterator[Problem]:
        before = _Fields(old, self._writer.is_implicit(files[0]))
        after = _Fields(new, self._reader.is_implicit(files[1]))
        yield from self._oneofs(before, after, path)
        for number in sorted(before.fields.keys() | after.fields.keys()):
            self._steps.take()
            was, now = before.fields.get(number), after.fields.get(number)
            where = pointer_to(*path, number)
            if was is None:
                if now is not None and _is_required(now):
                    yield Problem(where, "a required field is new")
            elif now is None:
                oneof = before.oneof_of.get(number)
                if _is_required(was):
                    yield Problem(where, "a required field is gone")
                elif oneof is not None and not before.is_gone_whole(oneof, after):
                    yield Problem(where, f"a field of the oneof {oneof} is gone")
            else:
                yield from self._field(was, now, (before, after), where)
        yield from self._messages(old.nested_type, new.nested_type, path, files)

    def _oneofs(self, before: _Fields, after: _Fields, path: Path) -> Iterator[Problem]:
        """Fields that could be set together exclude each other now."""
        for name, numbers in after.oneofs.items():
            origins = {before.oneof_of.get(number, number) for number in numbers if number in before.fields}
            if len(origins) > 1:
                yield Problem(pointer_to(*path, name), "fields that were not in one oneof exclude each other now")

    def _field(
        self, was: FieldDescriptorProto, now: FieldDescriptorProto, of: tuple[_Fields, _Fields], where: str
    ) -> Iterator[Problem]:
        old, new = of[0].kind(was), of[1].kind(now)
        if _is_required(now) and not _is_required(was):
            yield Problem(where, "a field that may be missing is required")
        elif old is not new:
            yield Problem(where, f"{old.value} is {new.value}")
        elif old is _Kind.MAP:
            entries = of[0].entries[_local(was)].field, of[1].entries[_local(now)].field
            for key_or_value in zip(*entries, strict=True):
                yield from self._field(*key_or_value, of, where)
        elif old is _Kind.MESSAGE:
            yield from self._types(was.type_name[1:], now.type_name[1:], where)
        elif old in _NUMBERS:
            # Where no label is written, one value is read from where several were written, and they are lost.
            labels = of[0].label(was), of[1].label(now)
            if labels[0] != labels[1] and (None not in labels or was.label == _F.LABEL_REPEATED):
                yield Problem(where, "a number is repeated, optional or required where it was not")

    def _types(self, was: str, now: str, where: str) -> Iterator[Problem]:
        old, new = self._writer.message(was), self._reader.message(now)
        names = [each.full_name[len(each.file.package) + bool(each.file.package) :] for each in (old, new)]
        if names[0] != names[1]:
            yield Problem(where, f"the message {names[0]} is {names[1]}")
            return
        if old.file.name == new.file.name == FILE or now in self._compared:
            return  # messages of the file itself are compared anyway
        self._compared.add(now)
        found = DescriptorProto(), DescriptorProto()
        for each, proto in zip((old, new), found, strict=True):
            each.CopyToProto(proto)
        for problem in self._message(*found, (), (old.file.name, new.file.name)):
            yield Problem(where, f"the message {names[0]} has changed: {problem}")


class _Fields:
    """The fields of a message by number, and the oneofs that are written as such."""

    def __init__(self, message: DescriptorProto, implicit: bool) -> None:
        self._implicit = implicit
        self.fields = {field.number: field for field in message.field}
        self.entries = {entry.name: entry for entry in message.nested_type if entry.options.map_entry}
        self.oneof_of = {
            field.number: message.oneof_decl[field.oneof_index].name
            for field in message.field
            if field.HasField("oneof_index") and not field.proto3_optional
        }
        self.oneofs = grouped((name, number) for number, name in self.oneof_of.items())

    def is_gone_whole(self, oneof: str, after: _Fields) -> bool:
        """Whether a oneof is gone with all of its fields, which is no loss."""
        return oneof not in after.oneofs and not any(number in after.fields for number in self.oneofs[oneof])

    def kind(self, field: FieldDescriptorProto) -> _Kind:
        return _Kind.MAP if _local(field) in self.entries else _KINDS[field.type]

    def label(self, field: FieldDescriptorProto) -> int | None:
        """None if none is written, which counts as any."""
        is_written = field.label != _F.LABEL_OPTIONAL or field.proto3_optional or not self._implicit
        return field.label if is_written and field.number not in self.oneof_of else None


def _is_required(field: FieldDescriptorProto) -> bool:
    presence: int = field.options.features.field_presence
    return bool(field.label == _F.LABEL_REQUIRED) or presence == FeatureSet.LEGACY_REQUIRED


def _local(field: FieldDescriptorProto) -> str:
    return str(field.type_name).rpartition(".")[2]
