"""Every API and version of NOTES.md is answered, and clients whose versions are fixed take part."""

from __future__ import annotations

import asyncio
import contextlib
import re
import struct
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, get_origin

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, NewTopic
from kafka import KafkaConsumer, KafkaProducer
from kafka.admin import KafkaAdminClient
from kafka.protocol.broker_version_data import BrokerVersionData
from kio.index import load_request_schema
from kio.schema.index import api_key_map

from broker_core import Admin
from broker_core.kafka_messages.reading import types_in
from broker_core.listeners.kafka.apis import APIS
from broker_core.listeners.kafka.codec import header_of, request_of
from broker_core.listeners.kafka.listener import KafkaListener
from tests.broker_core.listeners.kafka.raw import CLIENT, KEYS, asked, frame_of
from tests.broker_core.listeners.kafka.test_malformed_frames import frame, talk

NOTES = Path(__file__).parents[4] / "broker_core/listeners/kafka/NOTES.md"
KAFKA = (4, 1)
PATIENCE_S = 30
_ROW = re.compile(r"\| (\w+) \| (\d+) \| (\d+)(?: to (\d+))? \|")


def noted() -> dict[str, tuple[int, int, int]]:
    """Key, oldest and newest version, by API, of the table in the notes."""
    rows = [_ROW.match(line) for line in NOTES.read_text().splitlines()]
    return {row[1]: (int(row[2]), int(row[3]), int(row[4] or row[3])) for row in rows if row}


def test_the_table_in_the_notes_is_what_is_served():
    assert noted() == {api.name: (api.key, api.oldest, api.newest) for api in APIS}


def test_what_kafka_announces_is_served_or_noted_as_left_out():
    """kafka-python has what brokers of each release announced."""
    served = {api.key: api for api in APIS}
    text = NOTES.read_text()
    for key, (oldest, newest) in BrokerVersionData(KAFKA).api_versions.items():
        if key in served:
            assert served[key].newest >= newest, served[key]
            assert served[key].oldest <= oldest or key == 0, served[key]
        else:
            name = api_key_map[key].title().replace("_", "")
            assert name in text, f"{name} is neither served nor noted"


def filled(schema: Any) -> dict[str, Any]:
    """A body with one element in every array."""
    parts = {each.name: each.type for each in fields(schema)}
    nested = {name: next(filter(is_dataclass, types_in(kind)), None) for name, kind in parts.items()}
    bodies = {name: filled(found) for name, found in nested.items() if found is not None}
    return {name: [body] if get_origin(parts[name]) is tuple else body for name, body in bodies.items()}


def lacking(read: Any, schema: Any) -> Iterator[str]:
    """The fields of `schema`, which handlers are typed with, that a request does not have."""
    for each in fields(schema):
        if not hasattr(read, each.name):
            yield f"{schema.__name__}.{each.name}"
        nested = next(filter(is_dataclass, types_in(each.type)), None)
        value = getattr(read, each.name, None)
        if nested is not None and isinstance(value, tuple) and value:
            yield from lacking(value[0], nested)


@pytest.mark.parametrize("oldest_only", [True, pytest.param(False, marks=pytest.mark.soak, id="each of its versions")])
def test_a_request_of_any_version_has_the_fields_of_the_newest(oldest_only: bool):
    for api in APIS:
        for version in (api.oldest,) if oldest_only else range(api.oldest, api.newest + 1):
            frame = frame_of(api.key, version, filled(load_request_schema(api.key, version)))
            _client, read = request_of(header_of(frame), frame, api.most_elements)
            assert [*lacking(read, load_request_schema(api.key, api.newest))] == [], (api.name, version)


def columns() -> dict[str, dict[str, int]]:
    """By client, the version of each API that the notes say it takes by itself."""
    found: dict[str, dict[str, int]] = {client: {} for client in "capn"}
    for line in NOTES.read_text().splitlines():
        if _ROW.match(line):
            api, _key, _served, _kafka, *versions = (cell.strip() for cell in line.strip("|").split("|"))
            for client, version in zip(found, versions, strict=True):
                if version:
                    found[client][api] = int(version)
    return found


def by_confluent(servers: str) -> None:
    settings = {"bootstrap.servers": servers, "log_level": 0}
    kafka_admin = AdminClient(settings)
    (made,) = kafka_admin.create_topics([NewTopic("orders", 1, 1)]).values()
    made.result(PATIENCE_S)
    producer = Producer(settings)
    producer.produce("orders", b"one")
    assert producer.flush(PATIENCE_S) == 0
    consumer = Consumer({**settings, "group.id": "billing", "auto.offset.reset": "earliest"})
    consumer.subscribe(["orders"])
    assert consumer.poll(PATIENCE_S) is not None
    consumer.close()


def by_aiokafka(servers: str) -> None:
    async def run() -> None:
        async with AIOKafkaProducer(bootstrap_servers=servers) as producer:
            await producer.send_and_wait("orders", b"one")
        settings = {"bootstrap_servers": servers, "group_id": "billing", "auto_offset_reset": "earliest"}
        async with AIOKafkaConsumer("orders", **settings) as consumer:
            await asyncio.wait_for(consumer.getone(), PATIENCE_S)
            await consumer.commit()

    asyncio.run(run())


def by_kafka_python(servers: str) -> None:
    admin = KafkaAdminClient(bootstrap_servers=servers)
    admin.describe_groups(["billing"])
    admin.close()
    with contextlib.closing(KafkaProducer(bootstrap_servers=servers)) as producer:
        producer.send("orders", b"one").get(PATIENCE_S)


@pytest.mark.parametrize(("client", "run"), [("c", by_confluent), ("a", by_aiokafka), ("p", by_kafka_python)])
def test_clients_take_the_versions_in_the_notes(
    admin: Admin, listener: KafkaListener, client: str, run: Callable[[str], None]
):
    if client != "c":
        admin.create_topic("orders")
    run(listener.bootstrap_servers)
    taken: dict[str, int] = {}
    for each in listener.connections.requests():
        taken[each.api] = max(each.version, taken.get(each.api, 0))
    assert {"Produce", "Metadata", "ApiVersions"} <= taken.keys()
    noted = columns()[client]
    assert taken == {api: noted.get(api) for api in taken}


@pytest.mark.parametrize("newest_only", [True, pytest.param(False, marks=pytest.mark.soak, id="each of its versions")])
def test_every_api_is_answered(listener: KafkaListener, newest_only: bool):
    """By the schema of its version, to a request that says as little as it can."""
    for api in APIS:
        for version in range(api.newest if newest_only else api.oldest, api.newest + 1):
            asked(listener.port, api.key, version, {"acks": 1} if api.name == "Produce" else {})


def test_a_cluster_of_one_has_nothing_to_elect_to_move_or_to_leave(admin: Admin, listener: KafkaListener):
    admin.create_topic("orders", 2)
    port = listener.port

    def topics(row: dict[str, Any]) -> dict[str, Any]:
        return {"topics": [{"name": "orders", "partitions": [row]}]}

    named = {"topic_partitions": [{"topic": "orders", "partitions": [0, 7]}]}
    elected = asked(port, KEYS["ElectLeaders"], 2, named).replica_election_results[0].partition_result
    assert [each.error_code.name for each in elected] == ["election_not_needed", "unknown_topic_or_partition"]
    assert asked(port, KEYS["ElectLeaders"], 2, {"topic_partitions": None}).replica_election_results == ()
    for replicas, error in (
        ((0,), "none"),
        ((0, 1), "invalid_replica_assignment"),
        (None, "no_reassignment_in_progress"),
    ):
        body = topics({"partition_index": 1, "replicas": replicas})
        moved = asked(port, KEYS["AlterPartitionReassignments"], 1, body).responses[0].partitions[0]
        assert moved.error_code.name == error
    assert asked(port, KEYS["ListPartitionReassignments"], 0, {"topics": None}).topics == ()
    for path, error in (("memory", "none"), ("/mnt/other", "log_dir_not_found")):
        body = {"dirs": [{"path": path, "topics": [{"name": "orders", "partitions": [0]}]}]}
        assert asked(port, KEYS["AlterReplicaLogDirs"], 2, body).results[0].partitions[0].error_code.name == error
    assert asked(port, KEYS["UnregisterBroker"], 0, {"broker_id": 3}).error_code.name == "broker_id_not_registered"
    for level, error in ((2, "none"), (1, "invalid_update_version")):
        body = {"feature_updates": [{"feature": "transaction.version", "max_version_level": level}]}
        assert asked(port, KEYS["UpdateFeatures"], 2, body).error_code.name == error


def test_the_quorum_is_the_one_broker(listener: KafkaListener):
    body = {"topics": [{"topic_name": "__cluster_metadata", "partitions": [{"partition_index": 0}]}]}
    told = asked(listener.port, KEYS["DescribeQuorum"], 2, body)
    (partition,) = told.topics[0].partitions
    assert (partition.leader_id, [each.replica_id for each in partition.current_voters]) == (0, [0])
    assert told.nodes[0].listeners[0].port == listener.port


def test_what_has_settings_is_listed(admin: Admin, listener: KafkaListener):
    admin.create_topic("orders")
    told = asked(listener.port, KEYS["ListConfigResources"], 1, {"resource_types": [2, 4]}).config_resources
    assert [(each.resource_type, each.resource_name) for each in told] == [(2, "orders"), (4, "0")]
    assert asked(listener.port, KEYS["ListConfigResources"], 0, {}).config_resources == (), "client metrics"


def test_share_partitions_have_a_coordinator_from_version_6_on(listener: KafkaListener):
    key = "shoppers:AAAAAAAAAAAAAAAAAAAAAA:0"
    for version, wanted, error in ((6, key, "none"), (6, "shoppers", "invalid_request"), (5, key, "invalid_request")):
        (found,) = asked(
            listener.port, KEYS["FindCoordinator"], version, {"key_type": 2, "coordinator_keys": [wanted]}
        ).coordinators
        assert (found.error_code.name, found.port) == (error, listener.port if error == "none" else -1)


# JoinGroup of a later release, StreamsGroupHeartbeat, whose form is known, and ConsumerGroupHeartbeat.
@pytest.mark.parametrize(("key", "version"), [(11, 10), (88, 0), (68, 99)])
def test_a_version_that_is_not_served_is_answered(listener: KafkaListener, key: int, version: int):
    """With UNSUPPORTED_VERSION, and the connection goes on."""
    asks = frame(struct.pack(">hhi", key, version, 5) + CLIENT + b"\0" * 60)
    answer = talk(listener, asks + frame(struct.pack(">hhi", 18, 0, 6) + CLIENT))
    size, correlation = struct.unpack_from(">ii", answer)
    behind_throttle_time = 13
    assert (correlation, struct.unpack_from(">h", answer, behind_throttle_time)[0]) == (5, 35)
    assert struct.unpack_from(">i", answer, 4 + size + 4) == (6,)


def test_what_cannot_be_answered_ends_the_connection_and_says_why(listener: KafkaListener):
    assert talk(listener, frame(struct.pack(">hhi", 0, 1, 5) + CLIENT + b"\0\1\0\0\0\0\0\0\0\0")) == b""
    assert "Produce v1 is not served" in listener.connections.gone()[-1].last_error


# kafka-python 3 hangs by itself now and then.
@pytest.mark.long
@pytest.mark.parametrize("release", [(0, 11), (2, 1), (4, 0), (4, 1), (4, 3)])
def test_kafka_python_whose_versions_are_fixed(admin: Admin, listener: KafkaListener, release: tuple[int, int]):
    """It takes the versions of a release for granted, whatever the broker says."""
    admin.create_topic("orders")
    fixed = {"bootstrap_servers": listener.bootstrap_servers, "api_version": release}
    producer = KafkaProducer(**fixed)
    producer.send("orders", b"one").get(30)
    producer.close()
    consumer = KafkaConsumer(
        "orders", group_id="billing", auto_offset_reset="earliest", enable_auto_commit=False, **fixed
    )
    assert next(iter(consumer)).value == b"one"
    consumer.commit()
    consumer.close()
    assert admin.lag("billing")[0].committed == 1
    asked_in = {each.version for each in listener.connections.requests() if each.api == "FindCoordinator"}
    assert asked_in == {{(0, 11): 1, (2, 1): 2}.get(release, 6)}


@pytest.mark.parametrize("release", ["0.10.2", "2.3.0"])
def test_librdkafka_whose_versions_are_fixed(admin: Admin, listener: KafkaListener, release: str):
    admin.create_topic("orders")
    fixed = {
        "bootstrap.servers": listener.bootstrap_servers,
        "log_level": 0,
        "api.version.request": False,
        "broker.version.fallback": release,
    }
    producer = Producer(fixed)
    producer.produce("orders", b"one")
    assert producer.flush(30) == 0
    consumer = Consumer({**fixed, "group.id": "billing", "auto.offset.reset": "earliest"})
    consumer.subscribe(["orders"])
    message = consumer.poll(30)
    assert message is not None and message.value() == b"one"
    consumer.close()
    assert admin.lag("billing")[0].committed == 1
