"""A19: JSON, text, bytes, MessagePack, Avro. Promise 24: reading builds plain values; bad bytes are a named error."""

from __future__ import annotations

import datetime
import json
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.clients.serializers import (
    AvroSerializer,
    BytesSerializer,
    JsonSerializer,
    MessagePackSerializer,
    StringSerializer,
)
from broker_core.errors import BrokerError, ErrorCode
from broker_core.limits import MAX_MESSAGE_BYTES
from broker_core.schemas.languages import SchemaKind
from broker_core.schemas.registry import SchemaRegistry

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**30), 10**30) | FLOATS | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)
INT64 = st.integers(-(2**63), 2**64 - 1)
ZONED = st.datetimes(timezones=st.just(datetime.UTC))
PACKED_VALUES = st.recursive(
    st.none() | st.booleans() | INT64 | st.floats(allow_nan=False) | TEXTS | st.binary(max_size=8) | ZONED,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(TEXTS | INT64 | st.binary(max_size=4), inner, max_size=4)
    ),
    max_leaves=12,
)

ORDER_1 = {"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]}
ORDER_2 = {
    "type": "record",
    "name": "Order",
    "fields": [{"name": "id", "type": "long"}, {"name": "note", "type": ["null", "string"], "default": None}],
}
TREE = {"type": "record", "name": "Node", "fields": [{"name": "next", "type": ["null", "Node"]}]}
PLAIN: list[Any] = [BytesSerializer(), StringSerializer(), JsonSerializer(), MessagePackSerializer()]


def registry() -> SchemaRegistry:
    found = SchemaRegistry()
    found.register("orders", json.dumps(ORDER_1), SchemaKind.AVRO)
    found.register("orders", json.dumps(ORDER_2), SchemaKind.AVRO)
    found.register("trees", json.dumps(TREE), SchemaKind.AVRO)
    found.register("people", json.dumps({"type": "object", "properties": {"age": {"type": "integer"}}}))
    return found


def nested(levels: int, wrap: Any = lambda inner: [inner]) -> Any:
    value: Any = None
    for _ in range(levels):
        value = wrap(value)
    return value


@given(st.binary())
def test_bytes_come_back_as_they_were(value):
    assert BytesSerializer().deserialize(BytesSerializer().serialize(value)) == value


@given(TEXTS)
def test_text_comes_back_as_it_was(value):
    assert StringSerializer().deserialize(StringSerializer().serialize(value)) == value


@pytest.mark.promise("A19")
@given(JSON_VALUES)
def test_json_comes_back_as_it_was(value):
    back = JsonSerializer().deserialize(JsonSerializer().serialize(value))
    assert (back, repr(back)) == (value, repr(value))  # repr tells 1 from 1.0 and from True


@pytest.mark.promise("A19")
@given(PACKED_VALUES)
def test_messagepack_comes_back_as_it_was(value):
    assert MessagePackSerializer().deserialize(MessagePackSerializer().serialize(value)) == value


@given(st.integers(-(2**63), 2**63 - 1), st.none() | TEXTS)
def test_avro_comes_back_as_it_was(number, note):
    serializer = AvroSerializer(registry(), "orders")
    value = {"id": number, "note": note}
    assert serializer.deserialize(serializer.serialize(value)) == value


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused_by_name(data):
    known = registry()
    framed = [AvroSerializer(known, "orders"), AvroSerializer(known, "trees")]
    for serializer in [*PLAIN, *framed]:
        for sent in (data, b"\0\0\0\0\x01" + data, b"\0\0\0\0\x03" + data, b"\0\0\0\0\x04" + data):
            try:
                serializer.deserialize(sent)
            except BrokerError as error:
                assert error.code is ErrorCode.UNREADABLE


@pytest.mark.parametrize(
    ("serializer", "data"),
    [
        (StringSerializer(), b"\xff"),
        (JsonSerializer(), b"{"),
        (JsonSerializer(), b'{"a":1,"a":2}'),
        (JsonSerializer(), b"NaN"),
        (JsonSerializer(), b"1e999"),
        (JsonSerializer(), b"9" * 5_000),
        (JsonSerializer(), b'"\\ud800"'),
        (JsonSerializer(), b"[" * 1_000_000),
        (JsonSerializer(), b"[" * 102 + b"]" * 102),
        (MessagePackSerializer(), b""),
        (MessagePackSerializer(), b"\xdd\xff\xff\xff\xff"),
        (MessagePackSerializer(), b"\x91" * 1_000_000 + b"\xc0"),
        (MessagePackSerializer(), b"\x91" * 101 + b"\xc0"),
        (MessagePackSerializer(), b"\x81\x91\x01\x02"),
        (AvroSerializer(registry(), "orders"), b"\0\0\0\0\x63\x02"),
        (AvroSerializer(registry(), "orders"), b'{"id": 1}'),
        (AvroSerializer(registry(), "orders"), b"\0\0\0\0\x04{}"),
        (AvroSerializer(registry(), "trees"), b"\0\0\0\0\x03" + b"\x02" * 500_000 + b"\0"),
    ],
)
def test_bad_bytes_are_a_named_error_and_never_a_crash(serializer, data):
    with pytest.raises(BrokerError) as caught:
        serializer.deserialize(data)
    assert caught.value.code is ErrorCode.UNREADABLE


@pytest.mark.parametrize(
    ("serializer", "value"),
    [
        (BytesSerializer(), "text"),
        (StringSerializer(), b"bytes"),
        (StringSerializer(), "\ud800"),
        (JsonSerializer(), float("nan")),
        (JsonSerializer(), {1: 2}),
        (JsonSerializer(), (1, 2)),
        (JsonSerializer(), b"bytes"),
        (JsonSerializer(), {"a": "\ud800"}),
        pytest.param(JsonSerializer(), 10**5_000, id="5,000 digits"),
        pytest.param(JsonSerializer(), nested(101), id="101 levels"),
        (MessagePackSerializer(), 2**64),
        (MessagePackSerializer(), {1, 2}),
        (MessagePackSerializer(), {(1, 2): 3}),
        pytest.param(MessagePackSerializer(), nested(100_000), id="packed, 100,000 levels"),
        (MessagePackSerializer(), datetime.timedelta(1)),
        (AvroSerializer(registry(), "orders"), {"id": "x"}),
        (AvroSerializer(registry(), "orders"), {"id": 2**63}),
        (AvroSerializer(registry(), "orders"), {"id": 1, "unknown": 2}),
        pytest.param(
            AvroSerializer(registry(), "trees"), nested(100_000, lambda inner: {"next": inner}), id="records in records"
        ),
    ],
)
def test_a_value_that_the_format_has_no_form_for_is_a_named_error(serializer, value):
    with pytest.raises(BrokerError) as caught:
        serializer.serialize(value)
    assert caught.value.code is ErrorCode.UNSERIALIZABLE


@pytest.mark.parametrize(
    ("serializer", "value"),
    [(BytesSerializer(), b"x" * MAX_MESSAGE_BYTES), (StringSerializer(), "x" * MAX_MESSAGE_BYTES)],
)
def test_what_is_larger_than_a_message_is_refused(serializer, value):
    assert len(serializer.serialize(value)) == MAX_MESSAGE_BYTES
    with pytest.raises(BrokerError) as caught:
        serializer.serialize(value + value[:1])
    assert caught.value.code is ErrorCode.MESSAGE_TOO_LARGE


def test_a_value_that_holds_itself_is_refused():
    loop: list[Any] = []
    loop.append(loop)
    fan = [loop] * 10
    loop.extend(fan)
    for serializer in (JsonSerializer(), MessagePackSerializer(), AvroSerializer(registry(), "trees")):
        with pytest.raises(BrokerError):
            serializer.serialize(loop)


@pytest.mark.promise("A19")
def test_avro_written_with_version_one_is_read_as_version_two_and_back():
    known = registry()
    old, new = AvroSerializer(known, "orders", 1), AvroSerializer(known, "orders", 2)
    assert new.deserialize(old.serialize({"id": 7})) == {"id": 7, "note": None}
    assert old.deserialize(new.serialize({"id": 7, "note": "gift"})) == {"id": 7}


def test_the_wire_format_is_confluents():
    known = registry()
    assert AvroSerializer(known, "orders", 1).serialize({"id": 1}) == b"\x00\x00\x00\x00\x01\x02"


def test_a_refusal_points_at_the_field():
    with pytest.raises(BrokerError, match="/note: the data end"):
        AvroSerializer(registry(), "orders").deserialize(b"\0\0\0\0\x02\x02\x02\x10ab")


def test_a_serializer_for_the_wrong_kind_of_schema_is_refused():
    known = registry()
    with pytest.raises(BrokerError) as caught:
        AvroSerializer(known, "people")
    assert caught.value.code is ErrorCode.INVALID_CONFIG


class Trap:
    def __reduce__(self) -> Any:
        return (exec, ("raise SystemExit('executed')",))


@pytest.mark.promise("24")
def test_a_pickle_that_would_run_code_is_only_bytes():
    data = pickle.dumps(Trap())
    assert BytesSerializer().deserialize(data) == data
    for serializer in (
        StringSerializer(),
        JsonSerializer(),
        MessagePackSerializer(),
        AvroSerializer(registry(), "orders"),
    ):
        with pytest.raises(BrokerError):
            serializer.deserialize(data)
