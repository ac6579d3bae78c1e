"""Confluent's own clients and serializers work against the registry at the root of the HTTP listener."""

from __future__ import annotations

import json

import pytest
from confluent_kafka.schema_registry import Schema, SchemaReference, SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.error import SchemaRegistryError
from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass

from broker_core import Admin, BrokerError, BrokerHost, Producer, SchemaRule
from broker_core import AvroSerializer as OwnAvroSerializer
from broker_core.listeners.access.access import Access, PrincipalEntry, Rule
from broker_core.operations.entry import Operation
from broker_core.schemas.protobuf_text import file_of
from broker_core.schemas.registry import SchemaRegistry

AVRO = json.dumps({"type": "record", "name": "Order", "fields": [{"name": "book", "type": "int"}]})
WIDER = json.dumps(
    {
        "type": "record",
        "name": "Order",
        "fields": [{"name": "book", "type": "int"}, {"name": "copies", "type": "int", "default": 1}],
    }
)
NARROWER = json.dumps({"type": "record", "name": "Order", "fields": [{"name": "title", "type": "string"}]})
JSON = json.dumps(
    {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Order",
        "type": "object",
        "properties": {"book": {"type": "integer"}},
        "required": ["book"],
    }
)
VALUE = SerializationContext("orders", MessageField.VALUE)


@pytest.fixture
def host():
    with BrokerHost() as made:
        yield made


@pytest.fixture
def listener(opened, host):
    return opened(host)


@pytest.fixture
def client(listener) -> SchemaRegistryClient:
    return SchemaRegistryClient({"url": listener.url})


def refused(action) -> SchemaRegistryError:
    with pytest.raises(SchemaRegistryError) as failed:
        action()
    return failed.value


def test_schemas_are_registered_found_and_deleted(client: SchemaRegistryClient):
    schema_id = client.register_schema("orders-value", Schema(AVRO, "AVRO"))
    assert client.register_schema("orders-value", Schema(AVRO, "AVRO")) == schema_id
    assert client.get_subjects() == ["orders-value"]
    latest = client.get_latest_version("orders-value")
    assert (latest.version, latest.schema_id, latest.schema.schema_type) == (1, schema_id, "AVRO")
    assert json.loads(client.get_schema(schema_id).schema_str) == json.loads(AVRO)
    assert client.lookup_schema("orders-value", Schema(AVRO, "AVRO")).version == 1
    assert client.get_versions("orders-value") == [1]
    assert client.delete_version("orders-value", 1) == 1
    assert client.get_subjects() == []


def test_what_was_deleted_is_deleted_for_good(client: SchemaRegistryClient, listener):
    """The numbers of versions go on after soft deletes and begin again where nothing is left."""
    schema_id = client.register_schema("orders-value", Schema(AVRO, "AVRO"))
    wider_id = client.register_schema("orders-value", Schema(WIDER, "AVRO"))
    client.set_compatibility("orders-value", "NONE")
    assert refused(lambda: client.delete_version("orders-value", 2, permanent=True)).error_code == 40407
    assert client.delete_version("orders-value", 2) == 2
    assert refused(lambda: client.delete_version("orders-value", 2)).error_code == 40406
    assert client.get_versions("orders-value") == [1]
    assert client.get_version("orders-value", 2, deleted=True).schema_id == wider_id
    assert client.delete_version("orders-value", 2, permanent=True) == 2
    assert refused(lambda: client.get_version("orders-value", 2, deleted=True)).error_code == 40402
    assert refused(lambda: SchemaRegistryClient({"url": listener.url}).get_schema(wider_id)).error_code == 40403
    assert client.register_schema("orders-value", Schema(WIDER, "AVRO")) == wider_id
    assert SchemaRegistryClient({"url": listener.url}).get_version("orders-value", 2).schema_id == wider_id
    assert client.delete_subject("orders-value") == [1, 2]
    assert refused(lambda: client.delete_subject("orders-value")).error_code == 40404
    assert client.get_subjects(deleted=True) == ["orders-value"]
    assert client.get_subjects() == []
    assert client.delete_subject("orders-value", permanent=True) == [1, 2]
    assert client.get_subjects(deleted=True) == []
    assert refused(lambda: client.delete_subject("orders-value")).error_code == 40401
    assert refused(lambda: client.get_compatibility("orders-value")).error_code == 40408
    client.register_schema("orders-value", Schema(NARROWER, "AVRO"))
    again = SchemaRegistryClient({"url": listener.url})
    assert again.get_versions("orders-value") == [1]
    assert refused(lambda: again.get_schema(schema_id)).error_code == 40403


def test_compatibility_is_held_by_the_modes(client: SchemaRegistryClient):
    client.register_schema("orders-value", Schema(AVRO, "AVRO"))
    assert client.test_compatibility("orders-value", Schema(WIDER, "AVRO"))
    assert not client.test_compatibility("orders-value", Schema(NARROWER, "AVRO"))
    error = refused(lambda: client.register_schema("orders-value", Schema(NARROWER, "AVRO")))
    assert (error.http_status_code, error.error_code) == (409, 409)
    client.set_compatibility("orders-value", "NONE")
    assert client.get_compatibility("orders-value") == "NONE"
    client.register_schema("orders-value", Schema(NARROWER, "AVRO"))
    client.set_compatibility(level="FULL")
    assert client.get_compatibility() == "FULL"


def test_errors_have_confluents_numbers(client: SchemaRegistryClient):
    client.register_schema("orders-value", Schema(AVRO, "AVRO"))
    version = "The specified version '{}' is not a valid version id."
    for action, number, sentence in (
        (lambda: client.get_latest_version("nothing"), 40401, "Subject 'nothing' not found."),
        (lambda: client.get_version("orders-value", 7), 40402, "Version 7 not found."),
        (lambda: client.get_schema(99), 40403, "Schema 99 not found"),
        (lambda: client.lookup_schema("orders-value", Schema(WIDER, "AVRO")), 40403, "Schema not found"),
        (lambda: client.register_schema("orders-value", Schema("{", "AVRO")), 42201, "Invalid schema: "),
        (lambda: client.get_version("orders-value", "a"), 42202, version.format("a")),
        (lambda: client.get_version("orders-value", 0), 42202, version.format("0")),
        (lambda: client.set_compatibility("orders-value", "HALF"), 42203, "Invalid compatibility level. Valid values"),
        (lambda: client.register_schema("orders-value", Schema(NARROWER, "AVRO")), 409, "Schema being registered is"),
    ):
        error = refused(action)
        assert error.error_code == number
        assert error.error_message.startswith(sentence)
    protobuf = refused(lambda: client.register_schema("p-value", Schema("message {", "PROTOBUF")))
    assert (protobuf.http_status_code, protobuf.error_code) == (422, 42201)
    assert "line 1, column 9" in protobuf.error_message


MONEY_PROTO = 'syntax = "proto3"; package shop; message Money { int64 cents = 1; }'
ORDER_PROTO = """
syntax = "proto3";
package shop;
import "acme/money.proto";
message Order { int32 book = 1; Money price = 2; }
"""


def test_protobuf_with_references_goes_by_confluents_serializer_and_back(host, client: SchemaRegistryClient, listener):
    pool = DescriptorPool()
    for text, name in ((MONEY_PROTO, "acme/money.proto"), (ORDER_PROTO, "acme/order.proto")):
        file = FileDescriptorProto.FromString(file_of(text).SerializeToString())
        file.name = name
        pool.AddSerializedFile(file.SerializeToString())
    order_class = GetMessageClass(pool.FindMessageTypeByName("shop.Order"))
    order = order_class(book=7, price={"cents": 150})
    data = ProtobufSerializer(order_class, client)(order, VALUE)  # it registers descriptors, and references with them
    assert client.get_subjects() == ["acme/money.proto", "orders-value"]
    latest = client.get_latest_version("orders-value")
    assert latest.schema.schema_type == "PROTOBUF"
    assert "message Order {" in latest.schema.schema_str, "others read a text"
    assert latest.schema.references == [SchemaReference("acme/money.proto", "acme/money.proto", 1)]
    other = SchemaRegistryClient({"url": listener.url})
    reference = [SchemaReference("acme/money.proto", "acme/money.proto", 1)]
    assert other.lookup_schema("orders-value", Schema(ORDER_PROTO, "PROTOBUF", reference)).version == 1
    reading = SchemaRegistryClient({"url": listener.url})
    assert ProtobufDeserializer(order_class, {}, reading)(data, VALUE) == order
    wider = ORDER_PROTO.replace("= 2;", "= 2; string note = 3;")
    assert client.get_versions("acme/money.proto") == [1]
    assert refused(lambda: client.get_versions("acme/none")).error_message.startswith("Subject 'acme/none' not found.")
    assert client.test_compatibility("orders-value", Schema(wider, "PROTOBUF", reference))
    narrow = Schema(ORDER_PROTO.replace("int32 book", "string book"), "PROTOBUF", reference)
    assert refused(lambda: client.register_schema("orders-value", narrow)).error_code == 409
    admin = Admin(host)
    admin.create_topic("orders", schema=SchemaRule("orders-value"))
    with Producer(host) as producer:
        producer.publish("orders", data)
        with pytest.raises(BrokerError, match="the schema of orders"):
            producer.publish("orders", data[:6] + b"\xff")


def test_avro_goes_from_confluents_serializer_to_ours_and_back(host, client: SchemaRegistryClient):
    order = {"book": 7}
    data = AvroSerializer(client, AVRO)(order, VALUE)
    admin = Admin(host)
    admin.create_topic("orders", schema=SchemaRule("orders-value"))
    with Producer(host) as producer:
        producer.publish("orders", data)  # our rule accepts it
    (stored,) = admin.messages("orders")
    assert AvroDeserializer(client)(stored.value, VALUE) == order
    registry = host.broker.schemas.registry
    assert OwnAvroSerializer(registry, "orders-value").deserialize(stored.value or b"") == order


def test_json_goes_through_confluents_serializers(client: SchemaRegistryClient):
    data = JSONSerializer(JSON, client)({"book": 7}, VALUE)
    assert JSONDeserializer(JSON, schema_registry_client=client)(data, VALUE) == {"book": 7}
    assert client.get_latest_version("orders-value").schema.schema_type == "JSON"


def test_schemas_refer_to_others(host, client: SchemaRegistryClient, listener):
    """Types of Avro and `$ref`s of JSON Schema, by name; what is referred to cannot be deleted; over a restart, too."""
    book = {"type": "record", "name": "Book", "namespace": "shop", "fields": [{"name": "title", "type": "string"}]}
    books = {"name": "books", "type": {"type": "array", "items": "shop.Book"}}
    order = {"type": "record", "name": "Order", "fields": [books]}
    client.register_schema("book", Schema(json.dumps(book), "AVRO"))
    assert (
        refused(lambda: client.register_schema("orders-value", Schema(json.dumps(order), "AVRO"))).error_code == 42201
    )
    named = [SchemaReference("shop.Book", "book", 1)]
    schema = Schema(json.dumps(order), "AVRO", named)
    schema_id = client.register_schema("orders-value", schema)
    assert client.lookup_schema("orders-value", schema).schema_id == schema_id
    value = {"books": [{"title": "Emma"}]}
    data = AvroSerializer(client, schema)(value, VALUE)
    again = SchemaRegistryClient({"url": listener.url})
    assert again.get_schema(schema_id).references == named
    assert AvroDeserializer(again)(data, VALUE) == value
    error = refused(lambda: client.delete_subject("book"))
    assert (error.http_status_code, error.error_code) == (422, 42206)
    missing = Schema(json.dumps(order), "AVRO", [SchemaReference("shop.Book", "book", 9)])
    assert refused(lambda: client.register_schema("late-value", missing)).error_code == 42201

    part = {"$id": "http://shop.org/parts/book.json", "type": "object", "properties": {"title": {"$ref": "#/$defs/t"}}}
    client.register_schema("book-json", Schema(json.dumps({**part, "$defs": {"t": {"type": "string"}}}), "JSON"))
    for number, ref in enumerate(("http://shop.org/parts/book.json", "book.json", "#/$defs/own"), 1):
        whole = {
            "$id": "http://shop.org/parts/order.json",
            "type": "object",
            "properties": {"book": {"$ref": ref}},
            "$defs": {"own": {"$ref": "http://shop.org/parts/book.json"}},
        }
        names = [SchemaReference("http://shop.org/parts/book.json", "book-json", 1)]
        client.register_schema(f"json{number}", Schema(json.dumps(whole), "JSON", names))
        registry = SchemaRegistry.restore(host.broker.schemas.registry.state())
        assert registry.problems_of(f"json{number}", b'{"book": {"title": "Emma"}}') == []
        assert registry.problems_of(f"json{number}", b'{"book": {"title": 7}}') != []
    assert OwnAvroSerializer(registry, "orders-value").deserialize(data) == value
    client.delete_subject("orders-value")
    assert client.delete_subject("book") == [1]


def test_rules_hold_for_the_registry_too(opened):
    token = "a token that is long enough"
    access = Access((PrincipalEntry("shop", token),), (Rule("shop", (Operation.READ,), subjects=("orders-*",)),))
    listener = opened(access=access)
    assert refused(SchemaRegistryClient({"url": listener.url}).get_subjects).http_status_code == 401
    client = SchemaRegistryClient(
        {"url": listener.url, "bearer.auth.credentials.source": "STATIC_TOKEN", "bearer.auth.token": token}
        | {"bearer.auth.logical.cluster": "x", "bearer.auth.identity.pool.id": "x"}
    )
    assert client.get_subjects() == []
    error = refused(lambda: client.register_schema("orders-value", Schema(AVRO, "AVRO")))
    assert (error.http_status_code, error.error_code) == (403, 40301)
