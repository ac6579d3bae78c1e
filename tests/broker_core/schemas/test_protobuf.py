"""Protobuf: what is read, what two files make of each other's data by Confluent's rules, and values on the wire."""

from __future__ import annotations

import json

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass

from broker_core.errors import BrokerError, ErrorCode
from broker_core.limits import MAX_PROTOBUF_BYTES
from broker_core.schemas.compatibility import Compatibility
from broker_core.schemas.languages import SchemaKind, cannot_read
from broker_core.schemas.problem import InvalidSchemaError
from broker_core.schemas.protobuf_schema import ProtobufSchema
from broker_core.schemas.registry import SchemaReference, SchemaRegistry, frame

PROTO3 = 'syntax = "proto3";'
EVERYTHING = """
// A file with all that the language has.
edition = "2023";
package shop.v1;
import "google/protobuf/timestamp.proto";
import public "money.proto";
option java_package = "org.shop";
option features.field_presence = IMPLICIT;
message Order {
  option deprecated = true;
  string book = 1 [deprecated = true, json_name = "Book"];
  repeated sint64 copies = 2 [packed = true];
  map<string, Line> lines = 3;
  oneof paid { Money price = 4; bytes voucher = 5; }
  google.protobuf.Timestamp at = 6;
  State state = 7;
  message Line { fixed32 number = 1; Order within = 2; }
  enum State { option allow_alias = true; NEW = 0; OPEN = 1; STARTED = 1; reserved 5 to 7, 10 to max; reserved "OLD"; }
  reserved 20, 30 to 40;
  reserved "gone";
  extensions 100 to 199;
}
extend Order { string note = 100 [default = "a \\"b\\""]; }
service Shop { rpc Buy (stream Order) returns (Order.Line); }
"""
GROUPS = """
message A {
  required int32 a = 1 [default = 7];
  optional group B = 2 { repeated bool c = 3; }
  oneof x { int32 d = 4; }
}
"""
MONEY = f"{PROTO3} package shop.v1; message Money {{ int64 cents = 1; }}"


def schema(text: str, **imports: str) -> ProtobufSchema:
    return ProtobufSchema(text, {f"{name}.proto": each for name, each in imports.items()})


def message(body: str, syntax: str = PROTO3) -> ProtobufSchema:
    return schema(f"{syntax} message M {{ {body} }}")


@pytest.mark.parametrize(
    ("text", "imports"),
    [(EVERYTHING, {"money": MONEY}), (GROUPS, {}), (MONEY, {}), (f"{PROTO3} enum E {{ A = 0; }}", {})],
)
def test_a_descriptor_is_the_same_schema_as_its_text_and_is_written_as_one(text: str, imports: dict[str, str]):
    read = schema(text, **imports)
    assert read.text == text
    of_descriptor = schema(read.serialized, **imports)
    assert of_descriptor.text.startswith(("syntax", "edition"))
    assert schema(of_descriptor.text, **imports).form == of_descriptor.form == read.form
    pool = DescriptorPool()  # as Google's own reader sees it
    file = FileDescriptorProto.FromString(read.file.SerializeToString())
    if not file.dependency:
        assert pool.AddSerializedFile(file.SerializeToString()) is not None


def test_everything_of_the_language_is_kept():
    written = schema(schema(EVERYTHING, money=MONEY).serialized, money=MONEY).text
    for part in (
        'edition = "2023";',
        "package shop.v1;",
        'import public "money.proto";',
        'option java_package = "org.shop";',
        "option features.field_presence = IMPLICIT;",
        "map<string, .shop.v1.Order.Line> lines = 3;",
        "oneof paid {",
        "repeated sint64 copies = 2 [packed = true];",
        "reserved 30 to 40;",
        'reserved "gone";',
        "extensions 100 to 199;",
        "option allow_alias = true;",
        "reserved 10 to 2147483647;",
        "rpc Buy (stream .shop.v1.Order) returns",
        "extend .shop.v1.Order {",
        '[deprecated = true, json_name = "Book"]',
    ):
        assert part in written, written  # fmt: skip


@pytest.mark.parametrize(
    ("text", "about"),
    [
        (f"{PROTO3} message {{", "line 1, column 28"),
        (f"{PROTO3} message A {{ B b = 1; }}", "B"),
        (f"{PROTO3} message A {{ string a = 1; string b = 1; }}", ""),
        (f"{PROTO3} message A {{ string a = 0; }}", ""),
        (f'{PROTO3} import "other.proto"; message A {{}}', "other.proto, which is not among its references"),
        (f'{PROTO3} import "google/protobuf/nothing.proto"; message A {{}}', "no google/protobuf/nothing.proto"),
        ("message A {" * 500 + "}" * 500, "nested too deeply"),
        ("option a = {" + "a:{" * 500 + "}" * 501 + ";", "nested too deeply"),
        ("x" * (MAX_PROTOBUF_BYTES + 1), "characters"),
        ("AAAA", "neither a text"),
        ("edition = \"1066\"; message A {}", "1066"),
        (f"{PROTO3} message A {{ reserved a to b; }}", ""),
        ("", "") ,
    ],
)  # fmt: skip
def test_what_is_no_schema_is_said(text: str, about: str):
    if not text:
        assert schema(text).document == {}
        return
    with pytest.raises(InvalidSchemaError) as refused:
        schema(text)
    assert about in str(refused.value)


def test_files_that_import_each_other_are_refused():
    with pytest.raises(InvalidSchemaError, match="imports itself"):
        schema(f'{PROTO3} import "a.proto";', a=f'{PROTO3} import "b.proto";', b=f'{PROTO3} import "a.proto";')


GOOGLE = 'syntax = "proto2";'
RULES = [  # writer, reader, what is wrong; Confluent's registry decides the same
    ("string a = 1;", "string a = 1; int32 b = 2;", ""),
    ("string a = 1; int32 b = 2;", "string a = 1;", ""),
    ("string a = 1;", "string b = 1;", ""),
    ("string a = 1;", "bytes a = 1;", ""),
    ("string a = 1;", "repeated string a = 1;", ""),
    ("optional int32 a = 1;", "repeated int32 a = 1;", "/M/1: a number is repeated"),
    ("int32 a = 1;", "repeated int32 a = 1;", ""),
    ("repeated int32 a = 1;", "int32 a = 1;", "/M/1: a number is repeated"),
    ("repeated E a = 1; enum E { Z = 0; }", "E a = 1; enum E { Z = 0; }", "/M/1: a number is repeated"),
    ("repeated bool a = 1;", "oneof x { bool a = 1; }", "/M/1: a number is repeated"),
    ("repeated string a = 1;", "string a = 1;", ""),
    ("repeated M a = 1;", "M a = 1;", ""),
    ("int32 a = 1;", "uint64 a = 1;", ""),
    ("int32 a = 1;", "sint32 a = 1;", "/M/1: an integer is a zigzag integer"),
    ("int32 a = 1;", "E a = 1; enum E { Z = 0; }", ""),
    ("float a = 1;", "double a = 1;", "/M/1: a float is a double"),
    ("int32 a = 1;", "N a = 1; message N {}", "/M/1: an integer is a message"),
    ("map<string, int32> a = 1;", "map<string, uint32> a = 1;", ""),
    ("map<string, int32> a = 1;", "map<string, string> a = 1;", "/M/1: an integer is text or bytes"),
    ("map<string, int32> a = 1;", "string a = 1;", "/M/1: a map is text or bytes"),
    ("N a = 1; message N {} message O {}", "O a = 1; message N {} message O {}", "/M/1: the message M.N is M.O"),
    ("message N {}", "", "/M/N: the message is gone"),
    ("message N { string a = 1; }", "message N { int32 a = 1; }", "/M/N/1: text or bytes is an integer"),
    ("", "message N {}", ""),
    ("enum E { Z = 0; }", "", ""),
    ("oneof x { int32 a = 1; int32 b = 2; }", "oneof x { int32 a = 1; }", "/M/2: a field of the oneof x is gone"),
    ("oneof x { int32 a = 1; int32 b = 2; }", "", ""),
    ("oneof x { int32 a = 1; }", "oneof x { int32 a = 1; int32 b = 2; }", ""),
    ("oneof x { int32 a = 1; }", "int32 a = 1;", ""),
    ("int32 a = 1;", "oneof x { int32 a = 1; }", ""),
    ("int32 a = 1; int32 b = 2;", "oneof x { int32 a = 1; int32 b = 2; }", "/M/x: fields that were not in one oneof"),
    ("oneof x { int32 a = 1; } int32 b = 2;", "oneof x { int32 a = 1; int32 b = 2; }", "/M/x: fields that"),
]  # fmt: skip


@pytest.mark.parametrize(("writer", "reader", "problem"), RULES)
def test_promise_what_reads_what_is_by_confluents_rules(writer: str, reader: str, problem: str):
    found, _ = cannot_read(message(reader), message(writer))
    assert [str(each)[: len(problem)] for each in found] == ([problem] if problem else [])


LEGACY = 'edition = "2023"; option features.field_presence = EXPLICIT;'


@pytest.mark.parametrize(
    ("syntax", "optional", "required"),
    [
        (GOOGLE, "optional string a = 1;", "required string a = 1;"),
        (GOOGLE, "optional int32 a = 1;", "required int32 a = 1;"),
        (GOOGLE, "optional M a = 1;", "required M a = 1;"),
        (LEGACY, "string a = 1;", "string a = 1 [features.field_presence = LEGACY_REQUIRED];"),
    ],
)
def test_what_may_be_missing_is_not_read_by_who_requires_it(syntax: str, optional: str, required: str):
    without, demanding = message(optional, syntax), message(required, syntax)
    assert [str(each) for each in cannot_read(demanding, without)[0]] == [
        "/M/1: a field that may be missing is required"
    ]
    if "int32" not in optional:  # of numbers Confluent's registry wants the same label
        assert cannot_read(without, demanding)[0] == []


IMPORTED = f"""
{PROTO3}
import "google/type/money.proto";
import "google/type/date.proto";
import "confluent/meta.proto";
import "confluent/type/decimal.proto";
import "confluent/type/variant.proto";
message M {{
  google.type.Money price = 1 [(confluent.field_meta) = {{ doc: "what it costs" }}];
  confluent.type.Decimal exact = 2 [(confluent.field_meta).doc = "unscaled"];
  confluent.type.Variant more = 3;
  google.type.Date since = 4;
}}
"""


def test_what_other_registries_know_is_imported_without_a_reference():
    read = schema(IMPORTED)
    money = GetMessageClass(read.message("google.type.Money"))
    data = GetMessageClass(read.message("M"))(price=money(currency_code="EUR", units=3)).SerializeToString()
    assert read.decode(b"\0" + data) == {"price": {"currency_code": "EUR", "units": "3"}}
    assert schema(read.serialized).form == read.form
    wider = schema(IMPORTED.replace("= 4;", "= 4; int32 copies = 5;"))
    assert cannot_read(wider, read)[0] == []
    own = ProtobufSchema(
        IMPORTED, {"google/type/date.proto": f"{PROTO3} package google.type; message Date {{ bytes y = 1; }}"}
    )
    assert [each.pointer for each in cannot_read(own, read)[0]] == ["/M/4"]


def test_required_fields_come_and_go_with_a_new_subject_only():
    plain, required = message("", GOOGLE), message("required string a = 1;", GOOGLE)
    assert [each.message for each in cannot_read(required, plain)[0]] == ["a required field is new"]
    assert [each.message for each in cannot_read(plain, required)[0]] == ["a required field is gone"]
    packages = [schema(f"{PROTO3} {package}") for package in ("", "package a;")]
    assert "the package without a name is a" in str(cannot_read(packages[1], packages[0])[0][0])


def test_imported_messages_are_compared_where_they_are_used():
    text = f'{PROTO3} package shop.v1; import "money.proto"; message M {{ Money a = 1; }}'
    before = schema(text, money=MONEY)
    assert cannot_read(schema(text, money=MONEY.replace("cents = 1;", "cents = 1; int32 x = 2;")), before)[0] == []
    (problem,) = cannot_read(schema(text, money=MONEY.replace("int64", "string")), before)[0]
    assert str(problem) == "/M/1: the message Money has changed: /1: an integer is text or bytes"


def value_of(read: ProtobufSchema, name: str, **fields: object) -> bytes:
    data: bytes = GetMessageClass(read.message(name))(**fields).SerializeToString()
    return data


def test_values_are_read_by_the_place_of_their_message():
    read = schema(EVERYTHING, money=MONEY)
    line = value_of(read, "shop.v1.Order.Line", number=7)
    assert read.decode(b"\x04\x00\x00" + line) == {"number": 7}
    assert read.decode(b"\x00" + value_of(read, "shop.v1.Order", book="a")) == {"book": "a"}
    for data, about in (
        (b"", "which message"),
        (b"\x80\x80\x80\x80\x80\x80", "which message"),
        (b"\x02\x06", "no message at [3]"),
        (b"\x01", "levels"),
        (b"\x02\x01", "no message at [-1]"),
        (b"\x00\xff", ""),
    ):
        assert about in str(read.problems_of_binary(data)[0])
    required = message("required string a = 1;", GOOGLE)
    assert str(required.problems_of_binary(b"\x00")[0]) == "/a: it is required and missing"


def test_a_registry_keeps_references_versions_and_rules_of_protobuf():
    registry = SchemaRegistry(Compatibility.FULL)
    registry.register("money", MONEY, SchemaKind.PROTOBUF)
    reference = (SchemaReference("money.proto", "money", 1),)
    text = f'{PROTO3} package shop.v1; import "money.proto"; message M {{ Money a = 1; }}'
    first = registry.register("orders", text, SchemaKind.PROTOBUF, reference)
    again = registry.register("orders", f"{text} // the same", SchemaKind.PROTOBUF, reference)
    assert (again.id, again.version) == (first.id, 1)
    with pytest.raises(BrokerError) as refused:
        registry.register("orders", text.replace("Money a", "string a"), SchemaKind.PROTOBUF, reference)
    assert refused.value.code is ErrorCode.INCOMPATIBLE_SCHEMA
    wider = text.replace("= 1;", "= 1; string b = 2;")
    registry.register("orders", wider, SchemaKind.PROTOBUF, reference)
    assert [change.what for change in registry.diff("orders", 1)] == ["added"]
    assert (
        registry.check("orders", '{"type": "string"}', SchemaKind.AVRO)[0].message == "they are in different languages"
    )
    kept = SchemaRegistry.restore(registry.state())
    data = frame(first.id, b"\0" + value_of(schema(text, money=MONEY), "shop.v1.M", a={"cents": 150}))
    assert kept.problems_of("orders", data) == []
    assert kept.readable(data) == (first.id, SchemaKind.PROTOBUF, b'{"a":{"cents":"150"}}')
    assert kept.problems_of("orders", data[:-1])
    assert kept.readable(data[:-1]) is None
    assert kept.readable(b"plain") is None
    avro = kept.register("avro", '"int"', SchemaKind.AVRO)
    plain = kept.register("json", json.dumps({"type": "integer"}))
    assert kept.readable(frame(avro.id, b"\x02")) == (avro.id, SchemaKind.AVRO, b"1")
    assert kept.readable(frame(plain.id, b" 1")) == (plain.id, SchemaKind.JSON, b"1")
