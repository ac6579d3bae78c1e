"""Incremental fetch sessions (KIP-227): kept, followed, lost, and bounded."""

from __future__ import annotations

import contextlib
from collections import OrderedDict
from typing import Any

import pytest
from confluent_kafka import Producer
from kafka import KafkaConsumer, TopicPartition

from broker_core import Admin, BrokerError, ErrorCode
from broker_core.faults.client_faults import ClientFault
from broker_core.listeners.kafka import fetch_sessions
from broker_core.listeners.kafka.fetch_sessions import FetchSessions
from broker_core.listeners.kafka.listener import KafkaListener
from tests.broker_core.listeners.kafka.raw import KEYS, Raw


def begun(sessions: FetchSessions, principal: str = "shop") -> fetch_sessions.FetchSession:
    return sessions.begin(principal, OrderedDict({("orders", 0): "from 0", ("orders", 1): "from 0"}))


def test_partitions_are_named_once_and_what_has_not_changed_is_not_told_again():
    sessions = FetchSessions()
    session = begun(sessions)
    said = (0, 10, 10, 0)
    assert session.is_news(("orders", 0), said, has_records=False)
    assert not session.is_news(("orders", 0), said, has_records=False)
    assert session.is_news(("orders", 0), said, has_records=True)
    assert list(session.places) == [("orders", 1), ("orders", 0)], "who had its turn goes behind the others"
    assert session.is_news(("orders", 0), (0, 11, 11, 0), has_records=False)
    found = sessions.find(session.number, 1, "shop")
    found.take([(("orders", 1), "from 5")], [("orders", 0)])
    assert dict(found.places) == {("orders", 1): "from 5"}


def test_an_epoch_is_used_once_and_nobody_else_uses_the_session():
    sessions = FetchSessions()
    number = begun(sessions).number
    sessions.find(number, 1, "shop")
    for epoch, principal, code in (
        (1, "shop", ErrorCode.INVALID_FETCH_SESSION_EPOCH),
        (3, "shop", ErrorCode.INVALID_FETCH_SESSION_EPOCH),
        (2, "thief", ErrorCode.FETCH_SESSION_ID_NOT_FOUND),
    ):
        with pytest.raises(BrokerError) as refused:
            sessions.find(number, epoch, principal)
        assert refused.value.code is code
    sessions.end(number, "thief")
    sessions.find(number, 2, "shop")
    sessions.end(number, "shop")
    with pytest.raises(BrokerError):
        sessions.find(number, 3, "shop")


def test_there_are_so_many_and_no_more(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(fetch_sessions, "MOST_SESSIONS", 3)
    sessions = FetchSessions()
    numbers = [begun(sessions).number for _ in range(5)]
    with pytest.raises(BrokerError):
        sessions.find(numbers[0], 1, "shop")
    assert sessions.find(numbers[-1], 1, "shop").number == numbers[-1]


@pytest.mark.promise("38")
def test_promise_38_a_session_has_so_many_partitions_and_so_have_all_together(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(fetch_sessions, "MOST_PLACES", 3)
    monkeypatch.setattr(fetch_sessions, "MOST_PLACES_TOGETHER", 5)
    sessions = FetchSessions()
    first, second, third = (begun(sessions) for _ in range(3))
    with pytest.raises(BrokerError):
        sessions.find(first.number, 1, "shop")
    third.take([(("orders", 2), "from 0")], [])
    assert sessions.find(second.number, 1, "shop") is second
    with pytest.raises(BrokerError) as refused:
        third.take([(("orders", 3), "from 0")], [])
    assert refused.value.code is ErrorCode.FETCH_SESSION_ID_NOT_FOUND


def test_a_client_reads_everything_in_a_session_and_again_when_it_is_lost(
    admin: Admin, listener: KafkaListener, producer: Producer, monkeypatch: pytest.MonkeyPatch
):
    admin.create_topic("orders", 3)
    found: list[Any] = []
    real = FetchSessions.find

    def find(self: FetchSessions, number: int, epoch: int, principal: str) -> Any:
        found.append((number, epoch))
        if len(found) == 3:
            self.end(number, principal)  # as if others had needed its place
        return real(self, number, epoch, principal)

    monkeypatch.setattr(FetchSessions, "find", find)
    consumer = KafkaConsumer(
        bootstrap_servers=listener.bootstrap_servers, group_id=None, auto_offset_reset="earliest", fetch_max_wait_ms=50
    )
    consumer.assign([TopicPartition("orders", number) for number in range(3)])
    read: list[int] = []
    for turn in range(6):
        for number in range(turn * 10, turn * 10 + 10):
            producer.produce("orders", b"%d" % number, partition=number % 3)
        producer.flush(30)
        while len(read) < turn * 10 + 10:
            for messages in consumer.poll(timeout_ms=500).values():
                read += [int(message.value) for message in messages]
    consumer.close()
    assert sorted(read) == list(range(60))
    assert len({number for number, _ in found}) == 2, "one that was lost, and the next"
    assert max(epoch for _, epoch in found) >= 3


def test_a_fault_finds_what_only_the_session_names(listener: KafkaListener, admin: Admin):
    admin.create_topic("orders", 2)
    partitions = [{"partition": number, "fetch_offset": 0, "partition_max_bytes": 100} for number in range(2)]
    with contextlib.closing(Raw(listener.port)) as client:

        def fetch(session: int, epoch: int, *named: Any, forgotten: Any = ()) -> Any:
            body = {"session_id": session, "session_epoch": epoch, "topics": named, "forgotten_topics_data": forgotten}
            return client.asked(KEYS["Fetch"], 11, body)

        number = fetch(0, 0, {"topic": "orders", "partitions": partitions}).session_id
        assert fetch(number, 1).responses == ()
        fault = ClientFault(effect="error", error="NOT_LEADER_OR_FOLLOWER", api="Fetch", topic="orders", partition=1)
        listener.host.call(lambda now_ns: listener.host.broker.client_faults.begin(now_ns, fault))
        told = [(row.partition_index, row.error_code) for each in fetch(number, 2).responses for row in each.partitions]
        assert sorted(told) == [(0, 6), (1, 6)]
        assert fetch(number, 2, forgotten=[{"topic": "orders", "partitions": [1]}]).responses == ()
