"""Confluent's own clients and serializers work against the registry at the root of the HTTP listener."""

from __future__ import annotations

import json

import jsonschema
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

from broker_core import AvroSerializer as OwnAvroSerializer
from broker_core import BrokerError, BrokerHost, Producer, SchemaRule
from broker_core.listeners.access.access import Access, PrincipalEntry, Rule
from broker_core.operations.entry import Operation
from broker_core.schemas.protobuf_text import file_of
from broker_core.schemas.registry import SchemaRegistry
from tests.broker_core.admin import Admin

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
        (lambda: client.get_version("orders-value", "1%0A"), 42202, version.format("1\n")),
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


def asked_of_the_document(call) -> list[tuple[str, str, dict]]:
    """(method, path, operation) of every registry route, what deletes last."""
    found = call.done("GET", "/openapi.json")
    every = [
        (method.upper(), path, operation)
        for path, item in found["paths"].items()
        for method, operation in item.items()
        if operation["tags"] == ["Schema registry"]
    ]
    assert len(every) > 30
    whole = {"$defs": found["components"]["schemas"]}
    for _, _, operation in every:
        for answer in operation["responses"].values():
            for content in answer.get("content", {}).values():
                text = json.dumps({**whole, **content["schema"]}).replace("#/components/schemas/", "#/$defs/")
                content["schema"] = json.loads(text)
    order = ["PUT", "POST", "GET", "DELETE"]  # what is read is made before, and what is in others is deleted first
    return sorted(every, key=lambda each: (order.index(each[0]), -each[1].count("/")))


PATH_VALUES = {"subject": "orders-value", "version": "latest", "id": "1"}
BODIES = {
    "Candidate": {"schema": AVRO, "metadata": {"properties": {"owner": "shop"}}},
    "CompatibilityLevel": {"compatibility": "full"},
    "Mode": {"mode": "READWRITE"},
}


def asked(call, method: str, path: str, operation: dict, subject: str, schema_id: str):
    values = {**PATH_VALUES, "subject": subject, "id": schema_id}
    body = operation.get("requestBody")
    named = body and body["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
    query = "?key=owner&value=shop" if path.endswith("/metadata") else ""
    answer = call(method, path.format(**values) + query, BODIES[named] if named else None)
    described = operation["responses"].get(str(answer.status))
    assert described is not None, (method, path, answer.status, answer.body)
    if answer.body:
        schema = described["content"][answer.headers["content-type"]]["schema"]
        assert jsonschema.Draft202012Validator(schema).is_valid(answer.json), (method, path, answer.body)
    return answer


def test_every_route_answers_as_its_openapi_says(call):
    routes = asked_of_the_document(call)
    for body in (BODIES["Candidate"], {"schema": WIDER}):
        call.done("POST", "/subjects/orders-value/versions", body)
    for method, path, operation in routes:
        answer = asked(call, method, path, operation, "orders-value", "1")
        assert answer.status == 200, (method, path, answer.body)


def test_every_route_says_in_confluents_form_what_is_not_there(call):
    number_of = {}
    for method, path, operation in asked_of_the_document(call):
        if "{" in path and (method, path.partition("{")[0]) not in {("PUT", "/config/"), ("PUT", "/mode/")}:
            if (method, path) == ("POST", "/subjects/{subject}/versions"):
                continue  # it makes the subject
            answer = asked(call, method, path, operation, "none", "99")
            number_of[method, path] = answer.json["error_code"] if answer.status >= 400 else answer.status
    assert number_of.pop(("GET", "/config/{subject}")) == 40408
    assert number_of.pop(("GET", "/subjects/{subject}/metadata")) == 40401
    fine = {path for (_, path), number in number_of.items() if number == 200}
    assert fine == {"/compatibility/subjects/{subject}/versions", "/mode/{subject}",
                    "/config/{subject}"}  # fmt: skip
    assert set(number_of.values()) == {200, 40401, 40403}


def test_an_id_is_decimal_digits(call):
    for text in ("x", "-1", "%C2%B2", "9" * 5_000):
        answer = call("GET", f"/schemas/ids/{text}")
        assert (answer.status, answer.json["error_code"]) == (404, 40403), text


def test_lists_are_cut_and_say_what_was_deleted(client: SchemaRegistryClient, call):
    for text in (AVRO, WIDER):
        client.register_schema("orders-value", Schema(text, "AVRO"))
    client.register_schema("jobs-value", Schema(AVRO, "AVRO"))
    client.delete_version("orders-value", 1)
    for path, expected in {
        "/subjects?limit=1": ["jobs-value"],
        "/subjects?offset=1": ["orders-value"],
        "/subjects?subjectPrefix=o": ["orders-value"],
        "/subjects?deletedOnly=true": [],
        "/subjects/orders-value/versions?deletedOnly=true": [1],
        "/subjects/orders-value/versions?deleted=true&offset=1&limit=-1": [1, 2][1:],
        "/schemas/ids/1/subjects": ["jobs-value"],
        "/schemas/ids/1/subjects?deleted=true": ["jobs-value", "orders-value"],
        "/schemas/ids/1/versions?deleted=true&subject=orders-value": [{"subject": "orders-value", "version": 1}],
        "/contexts": ["."],
        "/contexts?contextPrefix=:": [],
    }.items():
        assert call.done("GET", path) == expected, path
    listed = [(each["subject"], each["version"]) for each in call.done("GET", "/schemas?deleted=true")]
    assert listed == [("jobs-value", 1), ("orders-value", 1), ("orders-value", 2)]
    assert [each["version"] for each in call.done("GET", "/schemas?latestOnly=true&subjectPrefix=orders")] == [2]
    assert call("GET", "/subjects?limit=x").json["error_code"] == 42201


def test_versions_are_looked_up_by_their_metadata_over_a_restart_too(host, client: SchemaRegistryClient, call):
    """Metadata make another id, and stay with the next version that says nothing of them."""
    body = {"schema": AVRO, "metadata": {"properties": {"owner": "shop", "area": "books"}, "tags": {"book": ["PII"]}}}
    first = call.done("POST", "/subjects/orders-value/versions", body)
    assert first["metadata"] == body["metadata"]
    assert call.done("POST", "/subjects/jobs-value/versions", {"schema": AVRO})["id"] != first["id"]
    wider = call.done("POST", "/subjects/orders-value/versions", {"schema": WIDER})
    assert (wider["version"], wider["metadata"]) == (2, body["metadata"])
    other = {"schema": WIDER, "metadata": {"properties": {"owner": "depot"}}}
    assert call.done("POST", "/subjects/orders-value/versions", other)["version"] == 3
    assert client.get_latest_with_metadata("orders-value", {"owner": "shop"}).version == 2
    assert client.get_latest_with_metadata("orders-value", {"owner": "depot"}).version == 3
    none = refused(lambda: client.get_latest_with_metadata("orders-value", {"owner": "shop", "area": "toys"}))
    assert (none.http_status_code, none.error_code) == (404, 40403)
    assert call.done("POST", "/subjects/orders-value", {"schema": WIDER})["version"] == 3
    registry = host.broker.schemas.registry
    assert SchemaRegistry.restore(registry.state()).state() == registry.state()


def test_one_version_is_checked_alone(client: SchemaRegistryClient):
    client.set_compatibility(level="NONE")
    for text in (AVRO, NARROWER):
        client.register_schema("orders-value", Schema(text, "AVRO"))
    client.set_compatibility(level="BACKWARD")
    assert client.test_compatibility("orders-value", Schema(WIDER, "AVRO"), version=1)
    assert not client.test_compatibility("orders-value", Schema(WIDER, "AVRO"), version=2)


def test_modes_other_than_readwrite_are_refused_in_a_sentence(call):
    for path in ("/mode", "/mode/orders-value"):
        answer = call("PUT", path, {"mode": "READONLY"})
        assert (answer.status, answer.json["error_code"]) == (422, 42204)
        assert "the mode READONLY is not served" in answer.json["message"]
    assert call.done("GET", "/mode") == {"mode": "READWRITE"}


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
