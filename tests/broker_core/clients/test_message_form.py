"""What cannot be encoded is refused with its name, and costs nobody else anything."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from broker_core.clients.admin import Admin
from broker_core.clients.message_form import Serializer, check_form, explained
from broker_core.clients.producer import Producer
from broker_core.clients.producer_config import ProducerConfig
from broker_core.engine.broker_host import BrokerHost
from broker_core.errors import BrokerError, ErrorCode
from broker_core.limits import MAX_HEADERS
from broker_core.log.config import LogConfig
from broker_core.messages import Message
from broker_core.queues.config import QueueConfig

MISTYPED: list[dict[str, Any]] = [
    {"headers": (("trace", "abc"),)},
    {"headers": (("trace", 5),)},
    {"headers": ((b"trace", b"abc"),)},
    {"headers": (("\ud800", b""),)},
    {"headers": (("trace",),)},
    {"headers": {"trace": b"abc"}},
    {"headers": 5},
    {"ttl_ms": "1"},
    {"ttl_ms": float("nan")},
    {"priority": "1"},
    {"priority": 1.5},
]
UNTYPED: list[Any] = ["text", 5]


@pytest.fixture
def host() -> Iterator[BrokerHost]:
    with BrokerHost() as host:
        Admin(host).create_topic("commits", 1)
        yield host


def stored(host: BrokerHost, topic: str = "commits") -> list[bytes | None]:
    return [message.value for message in host.broker.logs.partition(topic, 0).read(0, max_messages=10_000)]


@pytest.mark.parametrize("fields", [*MISTYPED, {"value": "text"}, {"key": 5}, {"priority": None}])
def test_a_field_of_another_type_is_named(fields: dict[str, Any]):
    with pytest.raises(BrokerError) as caught:
        check_form(Message(**{"value": b"x", **fields}))
    assert caught.value.code is ErrorCode.INVALID_RECORD and str(caught.value).endswith(".")


def test_what_is_right_passes_in_all_its_forms():
    check_form(Message(None))
    check_form(Message(b"", b"", (("näme", b""),), 1, 2))
    check_form(Message(b"", headers=tuple(("brokerscope.x", b"") for _ in range(MAX_HEADERS + 1))))


def test_what_nobody_has_foreseen_is_told_as_it_is():
    surprise = explained([Message(b"x")], RuntimeError("surprise"))
    assert surprise.code is ErrorCode.INTERNAL_ERROR and "RuntimeError: surprise" in str(surprise)
    assert explained([Message(5)], TypeError("no len")).code is ErrorCode.INVALID_RECORD  # type: ignore[arg-type]


@pytest.mark.parametrize("fields", [*MISTYPED, {"headers": tuple(("h", b"") for _ in range(MAX_HEADERS + 1))}])
def test_a_mistyped_message_is_refused_at_once_and_its_neighbours_go_on(host: BrokerHost, fields: dict[str, Any]):
    with Producer(host, ProducerConfig(linger_ms=60_000)) as producer:
        before = producer.send("commits", b"before")
        with pytest.raises(BrokerError) as caught:
            producer.send("commits", b"bad", **fields)
        assert caught.value.code in {ErrorCode.INVALID_RECORD, ErrorCode.MESSAGE_TOO_LARGE}
        behind = producer.send("commits", b"behind")
        producer.flush(5)
        assert [before.result(5).offset, behind.result(5).offset] == [0, 1]
    assert stored(host) == [b"before", b"behind"]


@pytest.mark.parametrize(
    "wrong", [*(Message(b"x", **fields) for fields in MISTYPED[:-1]), *(Message(value) for value in UNTYPED), b"x"]
)
def test_many_with_a_mistyped_one_are_refused_and_the_producer_goes_on(host: BrokerHost, wrong: Any):
    with Producer(host, ProducerConfig(linger_ms=60_000)) as producer:
        lingers = producer.send("commits", b"lingers")
        with pytest.raises(BrokerError) as caught:
            producer.publish_many("commits", [*[Message(b"x")] * 10, wrong], timeout_s=5)
        assert caught.value.code is ErrorCode.INVALID_RECORD
        assert producer.publish("commits", b"behind", timeout_s=5) == (0, 1)
        assert lingers.result(5).offset == 0
    assert stored(host) == [b"lingers", b"behind"]


def test_a_lifetime_of_the_topic_finds_a_mistyped_one_too(host: BrokerHost):
    Admin(host).create_topic("brief", 1, log=LogConfig(message_ttl_ms=60_000))
    with Producer(host) as producer:
        with pytest.raises(BrokerError) as caught:
            producer.publish_many("brief", [Message(b"x"), Message(b"x", ttl_ms="1")], timeout_s=5)  # type: ignore[arg-type]
        assert caught.value.code is ErrorCode.INVALID_RECORD
        assert producer.publish("brief", b"behind", timeout_s=5) == (0, 0)


def test_a_queue_has_no_level_for_what_is_no_number(host: BrokerHost):
    Admin(host).create_queue("jobs", QueueConfig(priorities=3))
    with Producer(host) as producer:
        for send in (
            lambda: producer.publish("jobs", b"x", priority="1"),
            lambda: producer.publish("jobs", b"x", priority=1.5),
            lambda: producer.publish_many("jobs", [Message(b"x", priority="1")]),  # type: ignore[arg-type]
            lambda: producer.publish_many("jobs", [Message(b"x", priority=None)]),  # type: ignore[arg-type]
        ):
            with pytest.raises(BrokerError) as caught:
                send()
            assert caught.value.code is ErrorCode.INVALID_RECORD


def test_half_a_character_a_partition_that_is_none_and_a_serializer_that_gives_no_bytes_are_refused(host: BrokerHost):
    class Text(Serializer[Any]):
        def serialize(self, value: Any) -> bytes:
            return str(value)  # type: ignore[return-value]

        def deserialize(self, data: bytes) -> Any:
            return data.decode()

    with Producer(host) as producer, Producer(host, serializer=Text(), key_serializer=Text()) as texts:
        for code, send in (
            (ErrorCode.UNSERIALIZABLE, lambda: producer.send("commits", "\ud800")),
            (ErrorCode.UNSERIALIZABLE, lambda: texts.publish("commits", 5)),
            (ErrorCode.UNSERIALIZABLE, lambda: texts.send("commits", None, 5)),
            (ErrorCode.INVALID_REQUEST, lambda: producer.send("commits", b"x", partition="0")),  # type: ignore[arg-type]
            (ErrorCode.INVALID_REQUEST, lambda: producer.send("commits", b"x", partition=1.5)),  # type: ignore[arg-type]
        ):
            with pytest.raises(BrokerError) as caught:
                send()
            assert caught.value.code is code
    assert stored(host) == []
