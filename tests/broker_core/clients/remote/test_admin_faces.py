"""Administration and schemas on both faces (A6, A7, A18, A25)."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from broker_core.clients.admin import Admin
from broker_core.clients.group_consumer import GroupConsumer
from broker_core.clients.producer import Producer
from broker_core.clients.producer_config import ProducerConfig
from broker_core.clients.queue_consumer import QueueConsumer
from broker_core.clients.schema_admin import SchemaAdmin
from broker_core.clients.serializers import JsonSchemaSerializer
from broker_core.errors import BrokerError, ErrorCode
from broker_core.flow.config import FlowConfig
from broker_core.groups.offset_reset import Target
from broker_core.log.config import LogConfig
from broker_core.log.reserved_headers import message_of
from broker_core.messages import Message
from broker_core.queues.config import QueueConfig
from broker_core.queues.dead_letter_edit import DeadLetterEdit
from broker_core.queues.dead_letter_record import without_dead_headers
from broker_core.schemas.compatibility import Compatibility
from broker_core.schemas.rule import SchemaRule
from tests.broker_core.clients.remote.conftest import Face

V1 = '{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}'
V2 = '{"type":"object","properties":{"n":{"type":"number"}},"required":["n"]}'
BAD = '{"type":"object","properties":{"n":{"type":"string"}},"required":["n"]}'


def code_of(caught: pytest.ExceptionInfo[BrokerError]) -> ErrorCode:
    return caught.value.code


def test_topics_are_made_described_configured_and_deleted(face: Face):
    admin = Admin(face.clients)
    admin.create_topic("a", 2, log=LogConfig(retention_ms=5_000), flow=FlowConfig(max_messages=9, policy="reject"))
    admin.create_topic("b")
    assert admin.topics() == ("a", "b")
    view = admin.describe_topic("a")
    assert (len(view.partitions), view.gate.limit if view.gate else None) == (2, 9)
    assert admin.topic_config("a").retention_ms == 5_000
    admin.configure_topic("a", log=LogConfig(retention_ms=7_000))
    assert admin.topic_config("a").retention_ms == 7_000
    admin.create_partitions("a", 5)
    assert len(admin.describe_topic("a").partitions) == 5
    admin.delete_topic("a")
    assert admin.topics() == ("b",)


def test_what_was_set_can_be_asked_for(face: Face):
    admin, schemas = Admin(face.clients), SchemaAdmin(face.clients)
    flow, rule, config = FlowConfig(max_messages=9, max_bytes=99), SchemaRule("s", "dead_letter"), QueueConfig(700.0, 3)
    schemas.register("s", V1)
    admin.create_topic("a", 2, flow=flow, partitioner="murmur2", schema=rule)
    admin.create_topic("plain")
    admin.create_queue("q", config, flow=FlowConfig(rate_per_s=5))
    assert (admin.flow_config("a"), schemas.rule("a"), admin.partitioner("a")) == (flow, rule, "murmur2")
    assert (admin.flow_config("plain"), schemas.rule("plain"), admin.partitioner("plain")) == (None, None, "crc32")
    assert (admin.queue_config("q"), admin.flow_config("q")) == (config, FlowConfig(rate_per_s=5))
    for ask in (admin.flow_config, schemas.rule, admin.partitioner):
        with pytest.raises(BrokerError) as caught:
            ask("nowhere")
        assert code_of(caught) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    with pytest.raises(BrokerError) as caught:
        admin.queue_config("nowhere")
    assert code_of(caught) is ErrorCode.UNKNOWN_QUEUE


@pytest.mark.parametrize(
    ("what", "code"),
    [
        (lambda admin: admin.create_topic("a"), ErrorCode.TOPIC_ALREADY_EXISTS),
        (lambda admin: admin.create_topic("../up"), ErrorCode.INVALID_TOPIC),
        (lambda admin: admin.create_topic("x", 0), ErrorCode.INVALID_PARTITIONS),
        (lambda admin: admin.create_partitions("a", 1), ErrorCode.INVALID_PARTITIONS),
        (lambda admin: admin.delete_topic("nowhere"), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (lambda admin: admin.describe_queue("nowhere"), ErrorCode.UNKNOWN_QUEUE),
        (lambda admin: admin.describe_group("nowhere"), ErrorCode.GROUP_ID_NOT_FOUND),
        (lambda admin: admin.delete_records("a", {0: 99}), ErrorCode.OFFSET_OUT_OF_RANGE),
        (lambda admin: admin.dead_letters("nowhere"), ErrorCode.UNKNOWN_QUEUE),
    ],
    ids=["again", "name", "none", "fewer", "topic", "queue", "group", "offset", "letters"],
)
def test_errors_are_the_same_sentences(face: Face, what, code):
    admin, local = Admin(face.clients), Admin(face.host)
    admin.create_topic("a", 1)
    with pytest.raises(BrokerError) as caught:
        what(admin)
    with pytest.raises(BrokerError) as expected:
        what(local)
    assert code_of(caught) is code and str(caught.value) == str(expected.value)


def test_records_are_deleted_up_to_an_offset(face: Face):
    admin = Admin(face.clients)
    admin.create_topic("a", 2)
    with Producer(face.clients) as producer:
        for _ in range(5):
            producer.publish("a", b"x", partition=1)
    assert admin.delete_records("a", {0: 0, 1: 3}) == {0: 0, 1: 3}
    assert admin.describe_topic("a").partitions[1].start_offset == 3


def test_queues_are_made_listed_and_deleted(face: Face):
    admin = Admin(face.clients)
    admin.create_queue("jobs", QueueConfig(priorities=2, lease_ms=1_000), flow=FlowConfig(max_messages=5))
    admin.create_topic("news")
    admin.create_subscription("mail", "news", max_messages=3, policy="drop_oldest")
    assert admin.queues() == ("jobs", "mail")
    view = admin.describe_queue("jobs")
    assert (view.priorities, view.lease_ms, view.gate.limit if view.gate else None) == (2, 1_000, 5)
    admin.delete_queue("mail")
    assert admin.queues() == ("jobs",)


def test_groups_their_lag_and_their_offsets(face: Face):
    admin = Admin(face.clients)
    admin.create_topic("a", 1)
    with Producer(face.clients) as producer:
        producer.publish_many("a", [Message(b"x") for _ in range(10)])
    with GroupConsumer(face.clients, "readers", ["a"]) as consumer:
        assert len(consumer.poll(5, 4)) == 4
        consumer.commit()
        assert admin.groups() == ["readers"]
        view = admin.describe_group("readers")
        assert view.state == "Stable" and len(view.members) == 1 and [each.lag for each in admin.lag("readers")] == [6]
        with pytest.raises(BrokerError) as caught:
            admin.reset_offsets("readers", Target("earliest"), [("a", 0)])
        assert code_of(caught) is ErrorCode.NON_EMPTY_GROUP
    assert [each.lag for each in admin.slow_readers(max_lag=5)] == [6]
    assert admin.slow_readers(max_lag=50) == ()
    [change] = admin.preview_reset("readers", Target("shift-by", offset=-2), [("a", 0)])
    assert (change.from_offset, change.to_offset) == (4, 2)
    assert admin.lag("readers")[0].committed == 4
    admin.reset_offsets("readers", Target("latest"), [("a", 0)])
    assert admin.lag("readers")[0].lag == 0
    admin.delete_group("readers")
    assert admin.groups() == []


def test_schemas_from_registering_to_refusing(face: Face):
    admin, schemas = Admin(face.clients), SchemaAdmin(face.clients)
    version = schemas.register("orders", V1)
    assert (version.version, schemas.register("orders", V1).version) == (1, 1)
    assert schemas.check("orders", BAD) and not schemas.check("orders", V2)
    with pytest.raises(BrokerError) as caught:
        schemas.register("orders", BAD)
    assert code_of(caught) is ErrorCode.INCOMPATIBLE_SCHEMA
    schemas.set_compatibility(Compatibility.NONE, "orders")
    assert schemas.register("orders", BAD).version == 2
    assert schemas.registry.compatibility_of("orders") is Compatibility.NONE
    assert schemas.diff("orders", 1)
    schemas.delete_version("orders", 2)
    assert schemas.registry.versions("orders") == (1,)
    admin.create_topic("orders", 1)
    schemas.set_rule("orders", SchemaRule("orders"))
    with Producer(face.clients, ProducerConfig(retries=0)) as producer:
        producer.publish("orders", b'{"n":1}')
        with pytest.raises(BrokerError) as caught:
            producer.publish("orders", b'{"n":"one"}')
    assert code_of(caught) is ErrorCode.INVALID_RECORD and "/n" in str(caught.value)
    schemas.set_rule("orders", None)
    assert schemas.delete_subject("orders") == (1,) and schemas.registry.subjects() == ()


def test_a_serializer_writes_with_the_registry_and_reads_what_came_later(face: Face):
    schemas = SchemaAdmin(face.clients)
    schemas.register("orders", V1)
    reader = JsonSchemaSerializer(schemas.registry, "orders")
    SchemaAdmin(face.host).register("orders", V2)
    writer = JsonSchemaSerializer(SchemaAdmin(face.host).registry, "orders")
    assert reader.deserialize(writer.serialize({"n": 1.5})) == {"n": 1.5}


def test_what_a_schema_refuses_can_be_dead_lettered(face: Face):
    admin, schemas = Admin(face.clients), SchemaAdmin(face.clients)
    schemas.register("orders", V1)
    admin.create_topic("orders", 1, schema=SchemaRule("orders", "dead_letter"))
    with Producer(face.clients) as producer:
        producer.publish("orders", b"{}")
        assert producer.publish("orders", b'{"n":1}') == (0, 0)
    [letter] = admin.dead_letters("orders")
    assert letter.value == b"{}"
    redriven = admin.redrive("orders", edits={letter.offset: Message(b'{"n":2}')})
    assert len(redriven.redriven) == 1 and face.stored("orders") == [b'{"n":1}', b'{"n":2}']


def test_an_edit_changes_what_it_names(face: Face):
    admin = Admin(face.clients)
    admin.create_queue("jobs", QueueConfig(priorities=3, max_attempts=1))
    given = Message(b"bad", b"k", (("h", b"v"),), ttl_ms=10**9, priority=2)
    with Producer(face.clients) as producer, QueueConsumer(face.clients, "jobs") as worker:
        for edit, wanted in (
            (DeadLetterEdit(b"good"), replace(given, value=b"good")),
            (DeadLetterEdit(priority=1, ttl_ms=None), replace(given, priority=1, ttl_ms=None)),
            (DeadLetterEdit(key=None, headers=()), replace(given, key=None, headers=())),
            (Message(b"whole"), Message(b"whole")),
        ):
            producer.send_message("jobs", given).result(5)
            delivery = worker.take(5)
            assert delivery is not None
            delivery.nack("broken")
            [offset] = [letter.offset for letter in admin.dead_letters("jobs")]
            [shown] = admin.preview_redrive("jobs", [offset], {offset: edit}).redrivable
            assert replace(shown.message, headers=without_dead_headers(shown.message.headers)) == wanted
            assert admin.redrive("jobs", edits={offset: edit}).refused == ()
            again = worker.take(5)
            assert again is not None
            found = message_of(again.message)
            assert replace(found, headers=without_dead_headers(found.headers)) == wanted
            again.ack()


def test_a_redrive_to_a_topic_cannot_be_taken_back(face: Face):
    admin, schemas = Admin(face.clients), SchemaAdmin(face.clients)
    schemas.register("orders", V1)
    admin.create_topic("orders", 1, schema=SchemaRule("orders", "dead_letter"))
    admin.create_topic("news")
    admin.create_subscription("reader", "news", QueueConfig(max_attempts=1))
    with Producer(face.clients) as producer, QueueConsumer(face.clients, "reader") as worker:
        producer.publish("orders", b"{}")
        producer.publish("news", b"v")
        delivery = worker.take(5)
        assert delivery is not None
        delivery.nack("broken")
    for name in ("orders", "reader"):
        for _ in range(2):
            admin.redrive(name, edits={0: Message(b'{"n":2}')})
            with pytest.raises(BrokerError, match=f"{name} go back to a topic") as refused:
                admin.undo_redrive(name)
            assert refused.value.code is ErrorCode.INVALID_REQUEST


def test_damage_is_told(face: Face):
    assert Admin(face.clients).damage() == ()


def test_queues_take_what_several_consumers_share(face: Face):
    Admin(face.clients).create_queue("jobs")
    with Producer(face.clients) as producer:
        producer.publish_many("jobs", [Message(b"%d" % number) for number in range(20)])
    with QueueConsumer(face.clients, "jobs") as one, QueueConsumer(face.clients, "jobs") as other:
        assert one.client_id != other.client_id
        values = {each.message.value for each in (*one.take_many(10), *other.take_many(10))}
    assert len(values) == 20
