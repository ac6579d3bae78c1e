"""Protobuf schemas: a file with its messages. A value is the place of its message in the file, and then its bytes."""

from __future__ import annotations

import base64
import hashlib
import importlib
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from google.protobuf import json_format
from google.protobuf.descriptor import Descriptor
from google.protobuf.descriptor_pb2 import DescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass

from broker_core.schemas.problem import InvalidDataError, InvalidSchemaError, Problem, shortened
from broker_core.schemas.protobuf_text import file_of, is_base64, text_of
from resources import path

FILE = "*.proto"  # no import has this name
_GOOGLES = ("google/protobuf/", "google/type/")  # in modules of Python
_CONFLUENTS = ("confluent/meta.proto", "confluent/type/decimal.proto", "confluent/type/variant.proto")
_MOST_PLACES = 64


class ProtobufSchema:
    """A parsed and checked file. Immutable and thread-safe."""

    def __init__(self, text: str, referenced: Mapping[str, str] = MappingProxyType({})) -> None:
        """`text` is in Protobuf's language, or the base64 of a FileDescriptorProto; `referenced` are the texts of the
        files that may be imported, by name. Raises InvalidSchemaError.
        """
        pool = DescriptorPool()
        self._files: dict[str, FileDescriptorProto] = {}
        self._add(pool, FILE, text, referenced, ())
        self.file = self._files[FILE]
        self._pool = pool
        self.text = text_of(file_of(text)) if is_base64(text) else text
        bare = FileDescriptorProto()
        bare.CopyFrom(self.file)
        bare.ClearField("name")
        self._descriptor = bare.SerializeToString(deterministic=True)
        self.form = hashlib.sha256(self._descriptor).hexdigest()  # equal for equal files, whatever their texts

    def _add(
        self, pool: DescriptorPool, name: str, text: str, referenced: Mapping[str, str], above: tuple[str, ...]
    ) -> None:
        if name in self._files:
            return
        parsed = FileDescriptorProto()
        if name.startswith(_GOOGLES) and name not in referenced:
            parsed.ParseFromString(_googles(name))
        else:
            parsed.CopyFrom(file_of(text))
        parsed.name = name
        if parsed.syntax == "proto2":
            parsed.ClearField("syntax")
        for each in parsed.dependency:
            if each in above or each == name:
                raise InvalidSchemaError([Problem("", f"{each} imports itself")])
            imported = referenced.get(each, "")
            if each not in referenced and each in _CONFLUENTS:
                imported = path("protobuf", *each.split("/")).read_text("utf-8")
            elif each not in referenced and not each.startswith(_GOOGLES):
                raise InvalidSchemaError([Problem("", f"it imports {each}, which is not among its references")])
            self._add(pool, each, imported, referenced, (*above, name))
        try:
            pool.AddSerializedFile(parsed.SerializeToString())
            _resolve(parsed, pool.FindFileByName(name))
        except (TypeError, KeyError) as error:
            raise InvalidSchemaError([Problem("", shortened(str(error).replace(FILE, "the schema")))]) from None
        self._files[name] = parsed

    @property
    def serialized(self) -> str:
        """The base64 of the descriptor, as Confluent's clients ask for it."""
        return base64.b64encode(self._descriptor).decode()

    @property
    def document(self) -> Any:
        """The file as a JSON value."""
        return json_format.MessageToDict(FileDescriptorProto.FromString(self._descriptor))

    def is_implicit(self, name: str) -> bool:
        """Whether fields of this file need no label."""
        return self._files[name].syntax not in ("", "proto2")

    def message(self, type_name: str) -> Descriptor:
        return self._pool.FindMessageTypeByName(type_name)

    def problems_of_binary(self, data: bytes, at: int = 0) -> list[Problem]:
        try:
            self._read(data, at)
        except InvalidDataError as error:
            return error.problems
        return []

    def decode(self, data: bytes, at: int = 0) -> Any:
        """The value in `data` from `at` on, as a JSON value. Raises InvalidDataError."""
        message = self._read(data, at)
        try:
            return json_format.MessageToDict(message, preserving_proto_field_name=True)
        except (ValueError, TypeError) as error:  # a Timestamp out of range, an Any of an unknown type
            raise InvalidDataError([Problem("", shortened(str(error)))]) from None

    def _read(self, data: bytes, at: int) -> Message:
        places, at = _places(data, at)
        messages = list(self.file.message_type)
        names = [self.file.package] if self.file.package else []
        for place in places:
            if not 0 <= place < len(messages):
                raise InvalidDataError([Problem("", f"the schema has no message at {list(places)}")])
            names.append(messages[place].name)
            # The entries of maps do not count, as for Confluent's clients in Java.
            messages = [each for each in messages[place].nested_type if not each.options.map_entry]
        message = GetMessageClass(self.message(".".join(names)))()
        try:
            message.ParseFromString(data[at:])
        except DecodeError as error:
            raise InvalidDataError([Problem("", shortened(str(error)))]) from None
        missing = message.FindInitializationErrors()
        if missing:
            raise InvalidDataError([Problem(f"/{missing[0].replace('.', '/')}", "it is required and missing")])
        return message


def _googles(name: str) -> bytes:
    try:
        module = importlib.import_module(f"{name.removesuffix('.proto').replace('/', '.')}_pb2")
    except ImportError:
        raise InvalidSchemaError([Problem("", f"there is no {name}")]) from None
    found: bytes = module.DESCRIPTOR.serialized_pb
    return found


def _resolve(proto: Any, found: Any) -> None:
    """Write full names and types into the descriptor of a file or message, as `found` has resolved them."""
    for field in (*getattr(proto, "field", ()), *proto.extension):
        known = found.extensions_by_name[field.name] if field.extendee else found.fields_by_name[field.name]
        target = known.message_type or known.enum_type
        field.type = known.type
        if target is not None:
            field.type_name = f".{target.full_name}"
        # protoc writes what follows from the name, too.
        if field.json_name == re.sub("_+(.?)", lambda found: found[1].upper(), field.name):
            field.ClearField("json_name")
        if field.extendee:
            field.extendee = f".{known.containing_type.full_name}"
    for message in proto.nested_type if isinstance(proto, DescriptorProto) else proto.message_type:
        inner = found.nested_types_by_name if isinstance(proto, DescriptorProto) else found.message_types_by_name
        _resolve(message, inner[message.name])
    for service in getattr(proto, "service", ()):
        for method in service.method:
            resolved = found.services_by_name[service.name].methods_by_name[method.name]
            method.input_type = f".{resolved.input_type.full_name}"
            method.output_type = f".{resolved.output_type.full_name}"


def _places(data: bytes, at: int) -> tuple[tuple[int, ...], int]:
    """Where in the file the message of a value is, level by level; and where its bytes begin. 0 is the first."""
    count, at = _varint(data, at)
    if not count:
        return (0,), at
    if not 0 < count <= _MOST_PLACES:
        raise InvalidDataError([Problem("", f"a message is {count} levels deep; at most {_MOST_PLACES} are allowed")])
    places = []
    for _ in range(count):
        place, at = _varint(data, at)
        places.append(place)
    return tuple(places), at


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 35, 7):
        if at >= len(data):
            break
        value |= (data[at] & 0x7F) << shift
        at += 1
        if data[at - 1] < 0x80:
            return value >> 1 ^ -(value & 1), at
    raise InvalidDataError([Problem("", "it does not say which message of the schema it is")])
