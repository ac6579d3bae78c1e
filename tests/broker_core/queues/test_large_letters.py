"""A13: what a dead letter tells comes on top of the message, however large that is and however much is to be told."""

from __future__ import annotations

import pytest

from broker_core.broker.broker import Broker
from broker_core.errors import BrokerError, ErrorCode
from broker_core.limits import MAX_CAUSE_CHARS, MAX_HEADERS, MAX_OWN_HEADER_BYTES
from broker_core.log.config import LogConfig
from broker_core.messages import Message
from broker_core.queues.config import QueueConfig
from tests.broker_core.clients.virtual_broker import VirtualBroker

LIMIT_BYTES = 500
SMALL = LogConfig(max_message_bytes=LIMIT_BYTES)
LARGEST = Message(b"v" * (LIMIT_BYTES - 4), b"k", headers=(("h", b"hh"),))
CAUSES = ["short", "x" * 100_000, "\x01" * 100_000, "🐢" * 100_000, "\udcff", ""]


def broker(config: QueueConfig, log: LogConfig | None = None) -> Broker:
    found = VirtualBroker().broker
    found.queues.create(0, "jobs", config, log=log)
    return found


@pytest.mark.promise("A13")
@pytest.mark.parametrize("cause", CAUSES, ids=["short", "long", "control", "emoji", "surrogate", "none"])
def test_a_message_of_the_largest_size_dies_and_is_redriven_again_and_again(cause: str):
    found = broker(QueueConfig(max_attempts=40), SMALL)
    assert found.publishing.publish(0, "jobs", LARGEST, client="p").done
    for redrives in range(3):
        for attempt in range(40):
            [lease] = found.queues.take(0, "jobs", "worker " * 1_000).result()
            assert lease.attempt == attempt + 1
            found.queues.nack(0, lease, cause)
        [letter] = found.queues.dead_letters("jobs").list()
        assert (letter.value, letter.headers, letter.redrives) == (LARGEST.value, LARGEST.headers, redrives)
        assert letter.cause == (cause[:MAX_CAUSE_CHARS] if cause != "\udcff" else "?")
        assert letter.attempts and letter.attempts[-1].outcome == letter.cause
        assert found.redrives.redrive(0, "jobs", [letter.offset], client="u").refused == ()
    [lease] = found.queues.take(0, "jobs", "worker").result()
    assert lease.message.value == LARGEST.value


def test_a_message_with_as_many_headers_as_are_allowed_dies_and_is_redriven():
    found = broker(QueueConfig(max_attempts=1, priorities=2))
    headers = tuple((f"h{number}", b"v") for number in range(MAX_HEADERS))
    assert found.publishing.publish(
        0, "jobs", Message(b"v", headers=headers, priority=1, ttl_ms=10**6), client="p"
    ).done
    [lease] = found.queues.take(0, "jobs", "worker").result()
    found.queues.nack(0, lease, "no")
    [letter] = found.queues.dead_letters("jobs").list()
    assert letter.headers == headers
    assert found.redrives.redrive(0, "jobs", [letter.offset], client="u").refused == ()


def test_nobody_gets_more_room_by_taking_the_brokers_names():
    found = broker(QueueConfig(max_attempts=40), SMALL)
    for headers in (
        (("h", b"x" * LIMIT_BYTES),),
        (("brokerscope.mine", b"x" * (MAX_OWN_HEADER_BYTES + LIMIT_BYTES)),),
        tuple(("brokerscope.h", b"x" * LIMIT_BYTES) for _ in range(MAX_OWN_HEADER_BYTES // LIMIT_BYTES + 1)),
    ):
        with pytest.raises(BrokerError) as refused:
            found.publishing.publish(0, "jobs", Message(b"v", headers=headers), client="p").result()
        assert refused.value.code is ErrorCode.MESSAGE_TOO_LARGE
