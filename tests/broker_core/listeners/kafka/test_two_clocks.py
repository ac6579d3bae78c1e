"""A client's timestamp is judged by the session's clock and by the machine's: a session may be at another time."""

from __future__ import annotations

import pytest

from broker_core import Admin, BrokerHost
from broker_core.clock import NS_PER_MS
from broker_core.engine.host_clock import HostClock
from broker_core.listeners.kafka.listener import KafkaListener
from broker_core.log.batch import encode_batch
from broker_core.log.config import LogConfig
from broker_core.messages import Message
from tests.broker_core.listeners.kafka.raw import KEYS, asked

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS


def answers(listener: KafkaListener, *timestamps_ms: int) -> list[str]:
    """What the producer of one record of each time is answered."""
    found = []
    for timestamp_ms in timestamps_ms:
        records = bytes(encode_batch(0, timestamp_ms, [Message(b"1")])[0])
        topic = {"name": "orders", "partition_data": [{"index": 0, "records": records}]}
        body = {"transactional_id": None, "acks": -1, "timeout": 10_000, "topic_data": [topic]}
        answer = asked(listener.port, KEYS["Produce"], 9, body)
        found.append(answer.responses[0].partition_responses[0].error_code.name)
    return found


def test_a_session_that_is_ahead_of_the_machine(host: BrokerHost, admin: Admin, listener: KafkaListener):
    admin.create_topic("orders", log=LogConfig(durability="memory", timestamp_before_max_ms=HOUR_MS))
    here_ms = host.broker.logs.epoch_ms
    host.call(lambda _now: host.clock.advance(DAY_MS * NS_PER_MS))
    wanted = ["none", "none", "invalid_timestamp", "invalid_timestamp"]
    times = (here_ms, here_ms + DAY_MS, here_ms + DAY_MS + 2 * HOUR_MS, here_ms - 2 * HOUR_MS)
    assert answers(listener, *times) == wanted


def test_a_session_that_is_behind_the_machine(
    host: BrokerHost, admin: Admin, listener: KafkaListener, monkeypatch: pytest.MonkeyPatch
):
    admin.create_topic("orders", log=LogConfig(durability="memory", timestamp_before_max_ms=HOUR_MS))
    here_ms = host.broker.logs.epoch_ms
    monkeypatch.setattr(HostClock, "machine_ms", lambda _self: here_ms + DAY_MS)
    wanted = ["none", "none", "invalid_timestamp", "invalid_timestamp"]
    times = (here_ms, here_ms + DAY_MS, here_ms + DAY_MS + 2 * HOUR_MS, here_ms - 2 * HOUR_MS)
    assert answers(listener, *times) == wanted
