"""Protobuf's language: a text, or the base64 of a descriptor, is read as a descriptor of the file, and written back."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

from antlr4.atn.LexerATNSimulator import LexerATNSimulator
from antlr4.atn.ParserATNSimulator import ParserATNSimulator
from antlr4.dfa.DFA import DFA
from antlr4.error.ErrorListener import ErrorListener
from antlr4.Lexer import Lexer
from antlr4.PredictionContext import PredictionContextCache
from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    Edition,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
)
from google.protobuf.message import DecodeError, Message
from proto_schema_parser import ast
from proto_schema_parser.parser import Parser

from broker_core.limits import MAX_PROTOBUF_BYTES
from broker_core.schemas.problem import InvalidSchemaError, Problem, shortened

is_base64 = re.compile(r"[A-Za-z0-9+/\s]+={0,2}\s*").fullmatch
_MOST_NUMBER = (1 << 29) - 1  # of a field
_MOST_ENUM_NUMBER = (1 << 31) - 1
_TYPES = {name.removeprefix("TYPE_").lower(): value for name, value in FieldDescriptorProto.Type.items()}
_SCALARS = {name: value for name, value in _TYPES.items() if name not in {"message", "enum", "group"}}
_LABELS = {None: 1, "OPTIONAL": 1, "REQUIRED": 2, "REPEATED": 3}


@lru_cache(maxsize=256)
def file_of(text: str) -> FileDescriptorProto:
    """The descriptor of a file; not to be changed. Types are named as in the text. Raises InvalidSchemaError."""
    if len(text) > MAX_PROTOBUF_BYTES:
        raise _invalid(f"it has more than {MAX_PROTOBUF_BYTES:,} characters")
    try:
        if is_base64(text):
            return FileDescriptorProto.FromString(base64.b64decode(text, validate=False))
        return _file(Parser(setup_lexer=_strict, setup_parser=_strict).parse(text))
    except (binascii.Error, DecodeError):
        raise _invalid("it is neither a text in Protobuf's language nor the base64 of a descriptor") from None
    except RecursionError:
        raise _invalid("it is nested too deeply") from None
    except (ValueError, TypeError, AttributeError, OverflowError) as error:  # the library's, for what makes no sense
        if isinstance(error, InvalidSchemaError):
            raise
        raise _invalid(str(error) or type(error).__name__) from None


def _invalid(message: str) -> InvalidSchemaError:
    return InvalidSchemaError([Problem("", shortened(message))])


class _Raising(ErrorListener):  # type: ignore[misc]
    def syntaxError(self, _recognizer: Any, _symbol: Any, line: int, column: int, message: str, _error: Any) -> None:
        raise _invalid(f"line {line}, column {column + 1}: {message.partition(' expecting ')[0]}")


def _strict(part: Any) -> None:
    part.removeErrorListeners()
    part.addErrorListener(_Raising())
    # Tables of its own: those that the library shares between calls grow, and are not made for several threads.
    simulator = LexerATNSimulator if isinstance(part, Lexer) else ParserATNSimulator
    tables = [DFA(state, number) for number, state in enumerate(part.atn.decisionToState)]
    part._interp = simulator(part, part.atn, tables, PredictionContextCache())  # noqa: SLF001 - as its documentation says


# -- of the parsed text


def _file(parsed: ast.File) -> FileDescriptorProto:
    file = FileDescriptorProto(syntax="proto3") if parsed.syntax == "proto3" else FileDescriptorProto()
    if parsed.edition:
        file.syntax, file.edition = "editions", Edition.Value(f"EDITION_{parsed.edition}")
    proto3 = file.syntax == "proto3"
    for element in parsed.file_elements:
        match element:
            case ast.Package():
                file.package = element.name
            case ast.Import():
                if element.public:
                    file.public_dependency.append(len(file.dependency))
                file.dependency.append(element.name)
            case ast.Option():
                _option(file.options, element)
            case ast.Message():
                _message(file.message_type.add(name=element.name), element.elements, proto3)
            case ast.Enum():
                _enum(file.enum_type.add(name=element.name), element)
            case ast.Extension():
                _extension(file.extension, file.message_type, element, proto3)
            case ast.Service():
                service = file.service.add(name=element.name)
                for method in element.elements:
                    if isinstance(method, ast.Method):
                        service.method.add(
                            name=method.name,
                            input_type=method.input_type.type,
                            output_type=method.output_type.type,
                            client_streaming=method.input_type.stream,
                            server_streaming=method.output_type.stream,
                        )
    return file


def _message(message: DescriptorProto, elements: Iterable[Any], proto3: bool) -> None:
    for element in elements:
        match element:
            case ast.Field():
                _add_field(message.field, element, proto3)
            case ast.MapField():
                _map(message, element)
            case ast.Group():
                _group(message.field, message.nested_type, element, proto3)
            case ast.OneOf():
                _oneof(message, element)
            case ast.Message():
                _message(message.nested_type.add(name=element.name), element.elements, proto3)
            case ast.Enum():
                _enum(message.enum_type.add(name=element.name), element)
            case ast.Option():
                _option(message.options, element)
            case ast.Reserved() | ast.ExtensionRange():
                _reserve(message, element)
            case ast.Extension():
                _extension(message.extension, message.nested_type, element, proto3)
    # The presence of an optional field of proto3 is a oneof of its own, behind the others.
    for field in message.field:
        if field.proto3_optional:
            field.oneof_index = len(message.oneof_decl)
            message.oneof_decl.add(name=f"_{field.name}")


def _oneof(message: DescriptorProto, element: ast.OneOf) -> None:
    at = len(message.oneof_decl)
    message.oneof_decl.add(name=element.name)
    for member in element.elements:
        if isinstance(member, ast.Field):
            _add_field(message.field, member, False).oneof_index = at
        elif isinstance(member, ast.Group):
            _group(message.field, message.nested_type, member, False).oneof_index = at


def _reserve(message: DescriptorProto, element: ast.Reserved | ast.ExtensionRange) -> None:
    if isinstance(element, ast.Reserved):
        message.reserved_name.extend(name.strip("\"'") for name in element.names)
    ranges = message.reserved_range if isinstance(element, ast.Reserved) else message.extension_range
    for start, end in _ranges(element.ranges, _MOST_NUMBER):
        ranges.add(start=start, end=end + 1)


def _add_field(fields: Any, element: ast.Field, proto3: bool) -> FieldDescriptorProto:
    cardinality = None if element.cardinality is None else element.cardinality.value
    field: FieldDescriptorProto = fields.add(name=element.name, number=element.number, label=_LABELS[cardinality])
    _set_type(field, element.type)
    if proto3 and cardinality == "OPTIONAL":
        field.proto3_optional = True
    _options(field, element.options)
    return field


def _set_type(field: FieldDescriptorProto, name: str) -> None:
    if name in _SCALARS:
        field.type = _SCALARS[name]
    else:
        field.type_name = name  # whether message or enum is known when names are resolved


def _options(field: FieldDescriptorProto, options: Iterable[ast.Option]) -> None:
    for option in options:
        value = option.value
        if option.name == "default":
            text = value.name if isinstance(value, ast.Identifier) else _unescaped(str(value))
            field.default_value = text.lower() if isinstance(value, bool) else text
        elif option.name == "json_name":
            field.json_name = _unescaped(str(value))
        else:
            _option(field.options, option)


def _unescaped(text: str) -> str:
    return text.encode("latin-1", "backslashreplace").decode("unicode_escape") if "\\" in text else text


def _map(message: DescriptorProto, element: ast.MapField) -> None:
    title = "".join(word[:1].upper() + word[1:] for word in element.name.split("_"))
    entry = message.nested_type.add(name=f"{title}Entry")
    entry.options.map_entry = True
    for number, (name, kind) in enumerate((("key", element.key_type), ("value", element.value_type)), 1):
        _set_type(entry.field.add(name=name, number=number, label=1), kind)
    field = message.field.add(name=element.name, number=element.number, label=3, type_name=entry.name)
    _options(field, element.options)


def _group(fields: Any, nested: Any, element: ast.Group, proto3: bool) -> FieldDescriptorProto:
    cardinality = None if element.cardinality is None else element.cardinality.value
    _message(nested.add(name=element.name), element.elements, proto3)
    field: FieldDescriptorProto = fields.add(
        name=element.name.lower(),
        number=element.number,
        label=_LABELS[cardinality],
        type=_TYPES["group"],
        type_name=element.name,
    )
    return field


def _extension(fields: Any, nested: Any, element: ast.Extension, proto3: bool) -> None:
    for each in element.elements:
        if isinstance(each, ast.Field):
            _add_field(fields, each, proto3).extendee = element.typeName
        elif isinstance(each, ast.Group):
            _group(fields, nested, each, proto3).extendee = element.typeName


def _enum(enum: EnumDescriptorProto, element: ast.Enum) -> None:
    for each in element.elements:
        match each:
            case ast.EnumValue():
                enum.value.add(name=each.name, number=each.number)
            case ast.Option():
                _option(enum.options, each)
            case ast.EnumReserved():
                enum.reserved_name.extend(name.strip("\"'") for name in each.names)
                for start, end in _ranges(each.ranges, _MOST_ENUM_NUMBER):
                    enum.reserved_range.add(start=start, end=end)


def _ranges(texts: Iterable[str], most: int) -> Iterator[tuple[int, int]]:
    for text in texts:
        first, _, last = text.replace("to", " to ").partition(" to ")
        start = int(first, 0)
        yield start, most if last.strip() == "max" else int(last or first, 0)


def _option(options: Message, option: ast.Option) -> None:
    """Options of Protobuf itself are kept; those of extensions say nothing about the data."""
    *path, last = option.name.split(".")
    value = option.value.name if isinstance(option.value, ast.Identifier) else option.value
    if isinstance(value, str):
        value = _unescaped(value)
    for name in path:
        if name not in options.DESCRIPTOR.fields_by_name:
            return
        options = getattr(options, name)
    known = options.DESCRIPTOR.fields_by_name.get(last)
    if known is None or known.is_repeated or known.message_type is not None:
        return
    setattr(options, last, known.enum_type.values_by_name[value].number if known.enum_type is not None else value)


# -- back to a text


def text_of(file: FileDescriptorProto) -> str:
    """The file in Protobuf's language, without comments and options of extensions."""
    head = f'edition = "{Edition.Name(file.edition)[8:]}"' if file.edition else f'syntax = "{file.syntax or "proto2"}"'
    lines = [f"{head};"]
    if file.package:
        lines += [f"package {file.package};"]
    public = set(file.public_dependency)
    lines += [f'import {"public " if at in public else ""}"{name}";' for at, name in enumerate(file.dependency)]
    lines += [f"option {each};" for each in _set_options(file.options)]
    implicit = file.syntax not in ("", "proto2")
    for enum in file.enum_type:
        lines += ["", *_enum_lines(enum)]
    for message in file.message_type:
        lines += ["", *_message_lines(message, implicit)]
    for field in file.extension:
        lines += ["", f"extend {field.extendee} {{", f"  {_field_text(field, {}, implicit)}", "}"]
    for service in file.service:
        lines += ["", f"service {service.name} {{"]
        for method in service.method:
            sent = f"{'stream ' if method.client_streaming else ''}{method.input_type}"
            got = f"{'stream ' if method.server_streaming else ''}{method.output_type}"
            lines.append(f"  rpc {method.name} ({sent}) returns ({got});")
        lines.append("}")
    return "\n".join(lines) + "\n"


def _set_options(options: Message, path: str = "") -> Iterator[str]:
    for known, value in options.ListFields():
        if known.is_extension or known.is_repeated:
            continue
        name = f"{path}{known.name}"
        if known.message_type is not None:
            yield from _set_options(value, f"{name}.")
        elif known.enum_type is not None:
            yield f"{name} = {known.enum_type.values_by_number[value].name}"
        elif known.cpp_type == known.CPPTYPE_STRING:
            yield f"{name} = {_quoted(value)}"
        else:
            yield f"{name} = {str(value).lower()}"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def _enum_lines(enum: EnumDescriptorProto) -> list[str]:
    lines = [f"enum {enum.name} {{", *(f"  option {each};" for each in _set_options(enum.options))]
    lines += [f"  {value.name} = {value.number};" for value in enum.value]
    lines += _reserved(enum.reserved_name, ((each.start, each.end) for each in enum.reserved_range))
    return [*lines, "}"]


def _reserved(names: Iterable[str], ranges: Iterable[tuple[int, int]]) -> list[str]:
    lines = [f"  reserved {start} to {end};" for start, end in ranges]
    return lines + [f"  reserved {_quoted(name)};" for name in names]


def _message_lines(message: DescriptorProto, implicit: bool, head: str = "") -> list[str]:
    lines = [head or f"message {message.name} {{"]
    entries = {entry.name: entry for entry in message.nested_type if entry.options.map_entry}
    groups = {field.type_name.rpartition(".")[2] for field in message.field if field.type == _TYPES["group"]}
    lines += [f"  option {each};" for each in _set_options(message.options)]
    told: set[int] = set()  # oneofs
    for field in message.field:
        if not field.HasField("oneof_index") or field.proto3_optional:
            lines += _field_lines(field, message, entries, implicit)
        elif field.oneof_index not in told:
            told.add(field.oneof_index)
            members = [each for each in message.field if each.HasField("oneof_index")]
            lines.append(f"  oneof {message.oneof_decl[field.oneof_index].name} {{")
            for each in members:
                if each.oneof_index == field.oneof_index:
                    lines += (f"  {line}" for line in _field_lines(each, message, entries, True))
            lines.append("  }")
    lines += _reserved(message.reserved_name, ((each.start, each.end - 1) for each in message.reserved_range))
    lines += [f"  extensions {each.start} to {each.end - 1};" for each in message.extension_range]
    for enum in message.enum_type:
        lines += (f"  {line}" for line in _enum_lines(enum))
    for nested in message.nested_type:
        if nested.name not in entries and nested.name not in groups:
            lines += (f"  {line}" for line in _message_lines(nested, implicit))
    for field in message.extension:
        lines += [f"  extend {field.extendee} {{", f"    {_field_text(field, {}, implicit)}", "  }"]
    return [*lines, "}"]


def _field_lines(
    field: FieldDescriptorProto, message: DescriptorProto, entries: dict[str, DescriptorProto], implicit: bool
) -> list[str]:
    if field.type != _TYPES["group"]:
        return [f"  {_field_text(field, entries, implicit)}"]
    name = field.type_name.rpartition(".")[2]
    group = next(each for each in message.nested_type if each.name == name)
    head = f"{'' if field.HasField('oneof_index') else _label(field, False)}group {name} = {field.number} {{"
    return [f"  {line}" for line in _message_lines(group, implicit, head)]


def _field_text(field: FieldDescriptorProto, entries: dict[str, DescriptorProto], implicit: bool) -> str:
    entry = entries.get(field.type_name.rpartition(".")[2])
    if entry is not None and field.label == _LABELS["REPEATED"]:
        kind = f"map<{_type(entry.field[0])}, {_type(entry.field[1])}>"
    else:
        kind = f"{_label(field, implicit)}{_type(field)}"
    options = list(_set_options(field.options))
    if field.HasField("default_value"):
        is_text = field.type in (_TYPES["string"], _TYPES["bytes"])
        options.insert(0, f"default = {_quoted(field.default_value) if is_text else field.default_value}")
    if field.json_name:
        options.append(f"json_name = {_quoted(field.json_name)}")
    behind = f" [{', '.join(options)}]" if options else ""
    return f"{kind} {field.name} = {field.number}{behind};"


def _label(field: FieldDescriptorProto, implicit: bool) -> str:
    if field.label == _LABELS["OPTIONAL"]:
        return "" if implicit and not field.proto3_optional else "optional "
    return "required " if field.label == _LABELS["REQUIRED"] else "repeated "


def _type(field: FieldDescriptorProto) -> str:
    scalar = next((name for name, value in _SCALARS.items() if value == field.type), "")
    return str(field.type_name) or scalar
