"""A18, A25: schemas by way of a host: registered, compared, deleted, and there again after a restart."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import broker_core
from broker_core import BrokerError, BrokerHost, Compatibility, Producer, SchemaKind, SchemaRule
from tests.broker_core.admin import Admin, SchemaAdmin

V1 = {"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]}
V2 = {**V1, "fields": [*V1["fields"], {"name": "note", "type": "string", "default": ""}]}
V3 = {**V1, "fields": [{"name": "name", "type": "string"}]}


def test_a_subject_grows_and_is_there_again_after_a_restart(tmp_path: Path):
    with BrokerHost(tmp_path) as host:
        admin = SchemaAdmin(host)
        admin.register("orders", json.dumps(V1), SchemaKind.AVRO)
        admin.register("orders", json.dumps(V2), SchemaKind.AVRO)
        assert admin.check("orders", json.dumps(V3), SchemaKind.AVRO)
        assert [change.pointer for change in admin.diff("orders", 1)] == ["/fields/1"]
        admin.set_compatibility(Compatibility.NONE, "orders")
        admin.register("orders", json.dumps(V3), SchemaKind.AVRO)
        admin.delete_version("orders", 3)
        admin.register("gone", "{}")
        admin.delete_subject("gone")
    with BrokerHost(tmp_path) as host:
        registry = SchemaAdmin(host).registry
        assert (registry.subjects(), registry.versions("orders")) == (("orders",), (1, 2))
        assert registry.compatibility_of("orders") is Compatibility.NONE


@pytest.mark.promise("A18")
def test_a_topic_takes_avro_from_a_producer_and_buries_the_rest():
    with BrokerHost() as host:
        admin, schemas = Admin(host), SchemaAdmin(host)
        schemas.register("orders-value", json.dumps(V1), SchemaKind.AVRO)
        admin.create_topic("orders", schema=SchemaRule("orders-value", "dead_letter"))
        serializer = broker_core.AvroSerializer(schemas.registry, "orders-value")
        with Producer(host, serializer=serializer) as producer:
            producer.publish("orders", {"id": 1})
        with Producer(host) as producer:
            producer.send("orders", b"plain").result(10)
        (letter,) = admin.dead_letters("orders")
        assert (letter.value, letter.attempts[0].outcome.count("zero byte")) == (b"plain", 1)
        assert host.broker.logs.partition("orders", 0).end_offset == 1
        assert admin.purge_dead_letters("orders").purged == 1
        schemas.set_rule("orders", None)
        with Producer(host) as producer:
            producer.publish("orders", b"plain")


def test_what_cannot_be_registered_is_told_to_the_caller():
    with BrokerHost() as host, pytest.raises(BrokerError, match="/type"):
        SchemaAdmin(host).register("orders", '{"type": "strin"}')
