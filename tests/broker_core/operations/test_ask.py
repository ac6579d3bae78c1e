"""A host answers the operations of the catalogue; what they change is saved when the call returns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from broker_core import BrokerError, BrokerHost, ErrorCode, LogConfig, Message, Request
from broker_core.operations.groups import DeleteGroup
from broker_core.operations.queues import CreateQueue, Messages, PurgeQueue, Take
from broker_core.operations.topics import (
    ConfigureTopic,
    CreateTopic,
    DeleteTopic,
    DescribeTopic,
    ListTopics,
    LogSettings,
    TopicConfiguration,
)
from tests.broker_core.admin import Admin


def test_an_operation_has_its_result_and_is_saved(tmp_path: Path):
    with BrokerHost(tmp_path / "data") as host:
        made = host.ask(CreateTopic(name="orders", partitions=3, log=LogSettings(segment_ms=5_000)))
        assert [each.partition for each in made.partitions] == [0, 1, 2]
        host.ask(CreateQueue(name="mail"))
        assert host.ask(PurgeQueue(queue="mail")) == Messages(messages=0)
    with BrokerHost(tmp_path / "data") as host:
        assert [each.name for each in host.ask(ListTopics())] == ["orders"]
        assert host.ask(TopicConfiguration(topic="orders")).log.segment_ms == 5_000
        assert Admin(host).queues() == ("mail",)


def test_what_is_left_out_stays_as_it_is():
    with BrokerHost() as host:
        host.ask(CreateTopic(name="orders", log=LogSettings(segment_ms=5_000)))
        changed = host.ask(ConfigureTopic(topic="orders", log=LogSettings(retention_ms=60_000))).log
        assert (changed.segment_ms, changed.retention_ms) == (5_000, 60_000)


def test_the_events_of_an_operation_name_who_asked_for_it():
    with BrokerHost() as host:
        host.ask(CreateQueue(name="mail"))
        host.call(lambda now_ns: host.broker.publishing.publish(now_ns, "mail", Message(b"one"), client=""))
        named: list[str] = []
        host.events.attach(lambda event: named.append(event.client))
        for _ in range(2):
            host.ask(PurgeQueue(queue="mail"), client="operator")
            Admin(host).undo_purge_queue("mail")
    assert named == ["operator", "admin"] * 2


def test_all_settings_of_a_log_come_through_a_request():
    config = LogConfig(index_interval_bytes=1_024, segment_bytes=4_096, retention_ms=7)
    assert LogSettings.of(config).on(LogConfig()) == config
    assert LogSettings.of(None).on(config) == config


def test_errors_are_those_of_the_broker(tmp_path: Path):
    with BrokerHost(tmp_path / "data") as host:
        refused: tuple[tuple[Request[Any], ErrorCode], ...] = (
            (DescribeTopic(topic="nothing"), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
            (DeleteGroup(group="nobody"), ErrorCode.GROUP_ID_NOT_FOUND),
            (PurgeQueue(queue="nothing"), ErrorCode.UNKNOWN_QUEUE),
        )
        for request, code in refused:
            with pytest.raises(BrokerError) as caught:
                host.ask(request)
            assert caught.value.code is code


def test_what_only_a_listener_knows_is_refused_in_a_sentence():
    with BrokerHost() as host, pytest.raises(BrokerError, match="Take can only be answered by a listener") as caught:
        host.ask(Take(queue="mail"))
    assert caught.value.code is ErrorCode.INVALID_REQUEST


def test_a_host_that_only_reads_answers_and_refuses(tmp_path: Path):
    with BrokerHost(tmp_path / "data") as host:
        host.ask(CreateTopic(name="orders"))
    with BrokerHost(tmp_path / "data", read_only=True) as host:
        assert host.ask(DescribeTopic(topic="orders")).messages_count == 0
        with pytest.raises(BrokerError) as caught:
            host.ask(DeleteTopic(topic="orders"))
        assert caught.value.code is ErrorCode.READ_ONLY
