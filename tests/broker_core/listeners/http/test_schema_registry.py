"""Confluent's own clients and serializers work against the registry at the root of the HTTP listener."""

from __future__ import annotations

import json

import pytest
from confluent_kafka.schema_registry import Schema, SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.error import SchemaRegistryError
from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer
from confluent_kafka.serialization import MessageField, SerializationContext

from broker_core import Admin, BrokerHost, Producer, SchemaRule
from broker_core import AvroSerializer as OwnAvroSerializer
from broker_core.listeners.access.access import Access, PrincipalEntry, Rule
from broker_core.operations.rights import Operation

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
    assert json.loads(
        SchemaRegistryClient(client._conf if hasattr(client, "_conf") else {"url": ""}).__class__.__name__ and AVRO
    )


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
    assert refused(lambda: client.get_latest_version("nothing")).error_code == 40401
    client.register_schema("orders-value", Schema(AVRO, "AVRO"))
    assert refused(lambda: client.get_version("orders-value", 7)).error_code == 40402
    assert refused(lambda: client.get_schema(99)).error_code == 40403
    assert refused(lambda: client.register_schema("orders-value", Schema("{", "AVRO"))).error_code == 42201
    protobuf = refused(lambda: client.register_schema("p-value", Schema('syntax = "proto3";', "PROTOBUF")))
    assert (protobuf.http_status_code, protobuf.error_code) == (422, 42201)


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
