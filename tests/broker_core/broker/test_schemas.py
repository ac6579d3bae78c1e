"""A18: a topic refuses what its schema refuses, with a pointer to the field, or dead-letters it, as configured."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from broker_core.broker.broker import Broker
from broker_core.broker.catalog import Catalog
from broker_core.broker.handlers import HANDLERS
from broker_core.broker.publishing import Published
from broker_core.clients.producer import Producer
from broker_core.clients.producer_config import ProducerConfig
from broker_core.engine.broker_host import BrokerHost
from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import Event, EventKind, EventStream
from broker_core.files import MemoryFiles
from broker_core.flow.config import FlowConfig
from broker_core.groups.config import GroupConfig
from broker_core.groups.offsets import OffsetStore
from broker_core.log.batch import ProducerStamp
from broker_core.log.config import LogConfig
from broker_core.messages import Message
from broker_core.queues.config import QueueConfig
from broker_core.recording.checker import Checker
from broker_core.schemas.compatibility import Compatibility
from broker_core.schemas.rule import SchemaRule
from broker_core.timers import Timers
from tests.broker_core.admin import Admin, SchemaAdmin

ORDER = json.dumps({"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]})
GOOD, BAD = Message(b'{"id": 1}', b"k"), Message(b'{"id": "one"}', b"k", (("h", b"1"),), ttl_ms=500, priority=2)
REFUSE, DEAD_LETTER = SchemaRule("orders-value"), SchemaRule("orders-value", "dead_letter")


class BrokerSetup:
    """A broker in memory, its events, and the history checker over all of them."""

    def __init__(self, rule: SchemaRule | None = None, **topic: Any) -> None:
        self.files = MemoryFiles()
        self.events: list[Event] = []
        self.stream = EventStream()
        self.stream.attach(self.events.append)
        self.stream.attach(Checker())
        self.broker = self.new_broker()
        self.broker.schemas.register(0, "orders-value", ORDER)
        if rule is not None:
            self.broker.topics.create(0, "orders", 2, schema=rule, **topic)

    def new_broker(self) -> Broker:
        return Broker(
            self.files,
            Timers(),
            self.stream,
            OffsetStore(),
            handlers=HANDLERS,
            log_config=LogConfig(durability="memory"),
            group_config=GroupConfig(),
            epoch_ms=0,
        )

    def publish(self, *messages: Message, at_ns: int = 10, **more: Any) -> Published | None:
        return self.broker.publishing.publish_batch(at_ns, "orders", None, messages, client="p", **more).result()

    def of(self, kind: EventKind) -> list[Event]:
        return [event for event in self.events if event.kind is kind]

    def stored(self) -> int:
        return sum(log.end_offset for log in (self.broker.logs.partition("orders", number) for number in (0, 1)))


def refusal(action: Any) -> BrokerError:
    with pytest.raises(BrokerError) as caught:
        action()
    return caught.value


def test_a_refused_value_is_an_error_with_a_pointer_and_a_rejected_event():
    setup = BrokerSetup(REFUSE)
    error = refusal(lambda: setup.publish(BAD))
    assert error.code is ErrorCode.INVALID_RECORD
    assert "/id: 'one' is not of type 'integer'" in str(error)
    assert setup.stored() == 0
    (rejected,) = setup.of(EventKind.REJECTED)
    assert (rejected.topic, rejected.client, rejected.count, rejected.size_bytes) == ("orders", "p", 1, 14)
    assert rejected.cause == "schema orders-value refused /id"
    assert setup.broker.views.totals().rejected == 1


def test_a_value_that_fits_is_stored_and_so_is_the_deletion_of_a_key():
    setup = BrokerSetup(REFUSE)
    assert setup.publish(GOOD) is not None
    assert setup.publish(Message(None, b"k")) is not None
    assert setup.stored() == 2


def test_a_batch_is_stored_whole_or_not_at_all():
    setup = BrokerSetup(REFUSE)
    assert "message 2 of 3" in str(refusal(lambda: setup.publish(GOOD, BAD, GOOD)))
    assert (setup.stored(), setup.broker.views.totals().rejected) == (0, 3)
    assert setup.of(EventKind.REJECTED)[0].count == 3


def test_a_refused_value_takes_no_token_and_no_room():
    setup = BrokerSetup(REFUSE, flow=FlowConfig(rate_per_s=1, burst=1, policy="reject"))
    refusal(lambda: setup.publish(BAD))
    assert setup.publish(GOOD) is not None


def test_a_dead_lettered_value_keeps_all_that_it_had():
    setup = BrokerSetup(DEAD_LETTER)
    assert setup.publish(BAD) == Published("orders.dlq", 0, 0)
    assert setup.stored() == 0
    letter = setup.broker.queues.dead_letters("orders").get(0)
    assert (letter.key, letter.value, letter.headers) == (BAD.key, BAD.value, BAD.headers)
    assert (letter.queue, letter.origin_topic, letter.origin_offset) == ("orders", "orders", -1)
    assert letter.cause == "schema orders-value refused /id"
    assert letter.attempts[0].holder == "p"
    assert letter.attempts[0].outcome.endswith("/id: 'one' is not of type 'integer'")
    (event,) = setup.of(EventKind.DEAD_LETTERED)
    assert (event.topic, event.client, event.to_topic, event.to_offset) == ("orders", "p", "orders.dlq", 0)
    assert (event.partition, event.offset, event.group) == (None, None, "")  # no queue, and never stored
    assert (setup.broker.views.totals().dead_lettered, setup.broker.views.totals().rejected) == (1, 0)


def test_dead_letters_are_grouped_by_what_was_wrong_and_not_by_the_value():
    setup = BrokerSetup(DEAD_LETTER)
    for value in (b'{"id": "a"}', b'{"id": "b"}', b"{}", b"[]", b"{"):
        setup.publish(Message(value))
    assert setup.broker.queues.dead_letters("orders").by_cause() == {
        "schema orders-value refused /id": 3,
        "schema orders-value refused the value": 2,
    }


def test_a_redrive_stores_what_fits_now_and_keeps_the_rest():
    setup = BrokerSetup(DEAD_LETTER)
    for _ in range(2):
        setup.publish(BAD)
    edited = msgspec.structs.replace(BAD, value=b'{"id": 1}')
    result = setup.broker.redrives.redrive(20, "orders", [0, 1], client="user", edits={0: edited})
    assert [place.offset for place in result.redriven] == [0]
    assert [(refused.offset, refused.error) for refused in result.refused] == [(1, "INVALID_RECORD")]
    assert setup.stored() == 1
    assert setup.broker.queues.dead_letters("orders").count() == 1
    assert setup.broker.views.totals().redriven == len(setup.of(EventKind.REDRIVEN)) == 1
    again = setup.broker.logs.partition("orders", result.redriven[0].to_partition).message(0)
    assert again.value == b'{"id": 1}'


def test_the_latest_schema_decides_so_that_an_old_letter_may_fit_later():
    setup = BrokerSetup(DEAD_LETTER)
    setup.publish(BAD)
    setup.broker.schemas.registry.set_compatibility(Compatibility.NONE)
    setup.broker.schemas.register(15, "orders-value", json.dumps({"type": "object"}))
    assert len(setup.broker.redrives.redrive(20, "orders", [0], client="user").redriven) == 1


def test_a_redriven_message_wakes_the_readers():
    setup = BrokerSetup(DEAD_LETTER)
    setup.publish(BAD)
    waiting = setup.broker.fetches.fetch(
        15, "g", "c", {("orders", 0): 0, ("orders", 1): 0}, max_messages=10, deadline_ns=1_000_000
    )
    assert not waiting.done
    setup.broker.redrives.redrive(20, "orders", [0], client="user", edits={0: GOOD})
    assert [message.value for message in waiting.result()] == [GOOD.value]


def test_a_queue_refuses_and_does_not_dead_letter():
    setup = BrokerSetup()
    setup.broker.queues.create(0, "jobs", QueueConfig(priorities=3))
    assert refusal(lambda: setup.broker.schemas.set_rule(0, "jobs", DEAD_LETTER)).code is ErrorCode.INVALID_CONFIG
    setup.broker.schemas.set_rule(0, "jobs", REFUSE)
    assert "/id" in str(refusal(setup.broker.publishing.publish(1, "jobs", BAD, client="p").result))
    setup.broker.publishing.publish(2, "jobs", GOOD, client="p").result()
    assert setup.broker.views.queue(2, "jobs").ready == 1


def test_a_redrive_into_a_queue_is_held_against_its_schema():
    setup = BrokerSetup()
    setup.broker.queues.create(0, "jobs", QueueConfig(max_attempts=1, priorities=3))
    setup.broker.publishing.publish(1, "jobs", BAD, client="p").result()
    setup.broker.queues.nack(2, setup.broker.queues.take(1, "jobs", "w").result()[0], "boom")
    setup.broker.schemas.set_rule(3, "jobs", REFUSE)
    refused = setup.broker.redrives.redrive(4, "jobs", [0], client="user").refused
    assert [each.error for each in refused] == ["INVALID_RECORD"]
    assert len(setup.broker.redrives.redrive(5, "jobs", [0], client="user", edits={0: GOOD}).redriven) == 1


def test_without_a_schema_in_the_subject_nothing_is_accepted():
    setup = BrokerSetup(REFUSE)
    setup.broker.schemas.registry.delete_subject("orders-value")
    assert "the subject orders-value has no schema" in str(refusal(lambda: setup.publish(GOOD)))


def test_a_subject_that_does_not_exist_is_no_rule_and_one_that_was_deleted_survives_a_restart():
    setup = BrokerSetup()
    nobody = SchemaRule("nobody")
    assert refusal(lambda: setup.broker.topics.create(0, "orders", 2, schema=nobody)).code is ErrorCode.UNKNOWN_SUBJECT
    assert setup.broker.topics.names() == ()
    setup.broker.topics.create(0, "orders", 2, schema=REFUSE)
    assert refusal(lambda: setup.broker.schemas.set_rule(1, "orders", nobody)).code is ErrorCode.UNKNOWN_SUBJECT
    assert setup.broker.schemas.rule("orders") == REFUSE
    setup.broker.schemas.registry.delete_subject("orders-value")
    catalog = setup.broker.catalog()
    setup.broker.close()
    setup.files = MemoryFiles()
    again = setup.new_broker()
    again.restore(2, catalog)
    assert again.schemas.rule("orders") == REFUSE


def test_a_topic_whose_schema_is_taken_away_takes_anything():
    setup = BrokerSetup(REFUSE)
    setup.broker.schemas.set_rule(1, "orders", None)
    assert setup.publish(BAD) is not None
    assert setup.broker.publishing.takes_batches("orders")


def test_the_dead_letter_queue_goes_with_its_topic_and_not_before():
    setup = BrokerSetup(DEAD_LETTER)
    assert refusal(lambda: setup.broker.topics.delete(1, "orders.dlq")).code is ErrorCode.INVALID_REQUEST
    setup.broker.topics.delete(1, "orders")
    assert setup.broker.topics.names() == ()
    setup.broker.topics.create(2, "orders", 1, schema=DEAD_LETTER)
    assert setup.broker.queues.dead_letters("orders").count() == 0


def test_a_name_that_the_dead_letter_queue_needs_is_refused_before_anything_is_made():
    setup = BrokerSetup()
    setup.broker.topics.create(0, "orders.dlq", 1)
    error = refusal(lambda: setup.broker.topics.create(0, "orders", 1, schema=DEAD_LETTER))
    assert error.code is ErrorCode.TOPIC_ALREADY_EXISTS
    assert setup.broker.topics.names() == ("orders.dlq",)


def test_events_hold_every_change_of_schemas():
    setup = BrokerSetup()
    setup.broker.schemas.set_compatibility(5, Compatibility.NONE, "orders-value")
    setup.broker.schemas.register(6, "orders-value", '{"type": "string"}')
    setup.broker.schemas.delete_version(7, "orders-value", 1)
    assert setup.broker.schemas.delete_subject(8, "orders-value") == (2,)
    details = [event.detail for event in setup.of(EventKind.USER_ACTION)]
    assert details[0] is not None
    assert (details[0]["text"], details[0]["kind"]) == (ORDER, "JSON")
    assert details[1] == {"subject": "orders-value", "compatibility": "NONE"}
    assert [detail["deleted"] for detail in details[3:] if detail is not None] == [[1], [2]]


def test_registering_is_an_event_once():
    setup = BrokerSetup()
    again = setup.broker.schemas.register(5, "orders-value", ORDER)
    assert (again.version, again.id) == (1, 1)
    assert [event.cause for event in setup.of(EventKind.USER_ACTION)] == ["registered orders-value version 1"]


def test_a_catalog_makes_schemas_rules_and_bins_again():
    setup = BrokerSetup(DEAD_LETTER)
    setup.broker.queues.create(0, "jobs", QueueConfig())
    setup.broker.schemas.set_rule(0, "jobs", REFUSE)
    kept = msgspec.json.decode(msgspec.json.encode(setup.broker.catalog()), type=Catalog)
    assert [topic.name for topic in kept.topics] == ["orders"]
    setup.files, setup.stream = MemoryFiles(), EventStream()
    back = setup.broker = setup.new_broker()
    back.restore(0, kept)
    assert msgspec.structs.replace(back.catalog(), producers=kept.producers) == kept
    assert setup.publish(BAD) == Published("orders.dlq", 0, 0)
    assert back.schemas.rule("jobs") == REFUSE


def test_an_idempotent_batch_that_is_refused_uses_up_no_number():
    setup = BrokerSetup(DEAD_LETTER)
    key = GOOD.key
    for place, message in enumerate((GOOD, BAD, GOOD)):
        setup.publish(message, producer=ProducerStamp(7, 0, min(place, 1)))
    number = setup.broker.logs.partition_for("orders", Message(b"", key))
    assert setup.broker.logs.partition("orders", number).end_offset == 2


@pytest.mark.parametrize("idempotent", [False, True])
def test_a_producer_goes_on_after_what_a_schema_refused(idempotent):
    with BrokerHost() as host, Producer(host, ProducerConfig(idempotent=idempotent)) as producer:
        host.admin(lambda now: host.broker.schemas.register(now, "orders-value", ORDER))
        host.admin(lambda now: host.broker.topics.create(now, "refusing", 1, schema=REFUSE))
        host.admin(lambda now: host.broker.topics.create(now, "burying", 1, schema=DEAD_LETTER))
        for topic, bad_ends in (("refusing", ErrorCode.INVALID_RECORD), ("burying", None)):
            receipts = [producer.send(topic, value) for value in (b'{"id": 1}', b'{"id": "x"}', b'{"id": 2}')]
            errors = [receipt.error(10) for receipt in receipts]
            assert [error and error.code for error in errors] == [None, bad_ends, None]
            assert host.broker.logs.partition(topic, 0).end_offset == 2
        assert receipts[1].result().topic == "burying.dlq"


def test_a_restart_knows_schemas_rules_and_which_letters_are_left(tmp_path):
    with BrokerHost(tmp_path) as host:
        host.admin(lambda now: host.broker.schemas.register(now, "orders-value", ORDER))
        host.admin(lambda now: host.broker.topics.create(now, "orders", 1, schema=DEAD_LETTER))
        for value in (b'{"id": "a"}', b'{"id": "b"}', b'{"id": "c"}'):
            host.call(lambda now: host.broker.publishing.publish(now, "orders", Message(value), client="p"))  # noqa: B023
        host.call(lambda now: host.broker.redrives.redrive(now, "orders", [1], client="user", edits={1: GOOD}))
    with BrokerHost(tmp_path) as host:
        letters = host.broker.queues.dead_letters("orders")
        assert [letter.value for letter in letters.list()] == [b'{"id": "a"}', b'{"id": "c"}']
        assert letters.redriven() == 1
        assert host.broker.schemas.registry.version("orders-value").text == ORDER
        assert host.broker.schemas.rule("orders") == DEAD_LETTER
        assert host.broker.logs.partition("orders", 0).end_offset == 1


def test_dead_letters_stay_when_the_rule_that_buried_them_is_gone_and_the_broker_restarts(tmp_path):
    with BrokerHost(tmp_path) as host:
        admin, schemas = Admin(host), SchemaAdmin(host)
        schemas.register("order", '{"type": "object"}')
        admin.create_topic("orders", schema=SchemaRule("order", "dead_letter"))
        with Producer(host) as producer:
            producer.publish("orders", b"7")
        schemas.set_rule("orders", None)
    with BrokerHost(tmp_path) as host:
        admin = Admin(host)
        assert [letter.value for letter in admin.dead_letters("orders")] == [b"7"]
        assert len(admin.redrive("orders", [0]).redriven) == 1
