"""Settings of topics and groups are taken and refused as Kafka 4.4 does it; `tests/reference/settings.py` asked it."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.kafka.listener import KafkaListener
from broker_core.listeners.kafka.setting_table import GROUP_SETTINGS, TOPIC_SETTINGS, Setting, Settings
from tests.broker_core.listeners.kafka.raw import KEYS, Raw
from tests.reference.settings import BROKER, GROUP, PAGE, TOPIC, Asked, page, recorded

TABLES = {"topics": TOPIC_SETTINGS, "groups": GROUP_SETTINGS}
RECORDED = recorded()
EACH = [(kind, name) for kind in TABLES for name in RECORDED[kind]]
# The ranges of groups' settings are broker's settings in Kafka, too, and are wider here: tests want short ones.
WIDER = ("session.timeout.ms", "heartbeat.interval.ms", "delivery.count.limit", "record.locks", "lock.duration.ms")


def is_taken(setting: Setting, settings: Settings, value: str) -> bool:
    try:
        settings.chosen({}, [(setting.name, value)])
    except BrokerError as error:
        assert error.code is ErrorCode.INVALID_CONFIG
        assert setting.name in str(error)
        return False
    return True


def test_there_are_all_of_kafkas_settings_and_no_others():
    for kind, table in TABLES.items():
        assert sorted(table.by_name) == sorted(RECORDED[kind])


@pytest.mark.parametrize(("kind", "name"), EACH)
def test_a_setting_is_as_kafka_has_it(kind: str, name: str):
    table, kafkas = TABLES[kind], RECORDED[kind][name]
    setting = table.named(name)
    told = {"type": setting.type, "default": setting.default, "broker": setting.broker, "sensitive": False}
    assert told == {field: kafkas[field] for field in told}
    assert [value for value in kafkas["taken"] if not is_taken(setting, table, value)] == []
    beyond = [value for value in kafkas["refused"] if is_taken(setting, table, value)]
    assert beyond == [] or name.endswith(WIDER)


@pytest.mark.parametrize(("kind", "name"), EACH)
def test_a_setting_says_what_it_does_or_why_it_does_nothing(kind: str, name: str):
    about = TABLES[kind].about(TABLES[kind].named(name))
    assert about.endswith(".") and len(about) > 15 and about[0].isupper()


def test_the_guide_has_all_settings():
    """After a change: python -m tests.reference.settings page"""
    assert PAGE.read_text() == page()


def test_clients_are_told_types_sources_and_what_stands_in(listener: KafkaListener):
    asked = Asked(listener.port)
    for kind, number, name in (("topics", TOPIC, "of-settings"), ("groups", GROUP, "workers")):
        rows = {row.name: row for row in asked.described(number, name).configs}
        assert rows.keys() == RECORDED[kind].keys()
        for row in rows.values():
            known = RECORDED[kind][row.name]
            assert (row.config_type, row.is_sensitive, row.read_only) == (known["type"], False, False)
            assert (row.synonyms[-1].name if row.synonyms else "") == known["broker"]
            assert row.documentation.endswith(".")
            # Segments are smaller here, which is what the broker was started with.
            assert row.value == known["default"] or row.name == "segment.bytes"
    brokers = {row.name: row for row in asked.described(BROKER, "0").configs}
    there = brokers.keys() & RECORDED["broker"].keys()
    assert [name for name in there if brokers[name].config_type != RECORDED["broker"][name]["type"]] == []
    assert brokers.keys() == there
    asked.close()


def altered(raw: Raw, kind: int, name: str, *changes: tuple[str, int, str | None], validate: bool = False) -> Any:
    configs = [{"name": each, "config_operation": operation, "value": value} for each, operation, value in changes]
    resource = {"resource_type": kind, "resource_name": name, "configs": configs}
    body = {"resources": [resource], "validate_only": validate}
    return raw.asked(KEYS["IncrementalAlterConfigs"], 1, body).responses[0]


SET, DELETE, APPEND, SUBTRACT = range(4)


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ([("foo", SET, "1")], 40),
        ([("foo", DELETE, None)], 0),
        ([("retention.ms", SET, "1"), ("retention.ms", SET, "2")], 42),
        ([("retention.ms", SET, None)], 42),
        ([("retention.ms", APPEND, "1")], 40),
        ([("compression.type", APPEND, "x")], 40),
        ([("cleanup.policy", APPEND, "compact")], 0),
        ([("cleanup.policy", SUBTRACT, "nope")], 0),
        ([("cleanup.policy", APPEND, "nope")], 40),
        ([("min.compaction.lag.ms", SET, "10"), ("max.compaction.lag.ms", SET, "5")], 40),
        ([("remote.storage.enable", SET, "true")], 40),
    ],
)
def test_changes_of_a_topic_are_judged_as_by_kafka(listener: KafkaListener, changes: Any, error: int):
    asked, raw = Asked(listener.port), Raw(listener.port)
    assert altered(raw, TOPIC, "of-settings", *changes, validate=True).error_code == error
    asked.close()
    raw.close()


def test_what_was_chosen_is_told_as_kafka_tells_it(listener: KafkaListener):
    asked, raw = Asked(listener.port), Raw(listener.port)
    chosen = {
        "retention.ms": (" 604800000 ", "604800000"),
        "cleanup.policy": ("compact, delete,compact", "compact,delete"),
        "min.insync.replicas": ("2", "2"),
        "min.cleanable.dirty.ratio": ("1e-1", "0.1"),
        "preallocate": ("TRUE", "true"),
        "segment.bytes": ("2147483647", "2147483647"),
    }
    answer = altered(raw, TOPIC, "of-settings", *((name, SET, text) for name, (text, _) in chosen.items()))
    assert answer.error_code == 0, answer.error_message
    rows = {row.name: row for row in asked.described(TOPIC, "of-settings").configs}
    assert {name: (rows[name].value, rows[name].config_source) for name in chosen} == {
        name: (told, 1) for name, (_, told) in chosen.items()
    }
    assert [(each.name, each.value, each.source) for each in rows["min.insync.replicas"].synonyms] == [
        ("min.insync.replicas", "2", 1),
        ("min.insync.replicas", "1", 3),
        ("min.insync.replicas", "1", 5),
    ]
    altered(raw, TOPIC, "of-settings", *((name, DELETE, None) for name in chosen))
    rows = {row.name: row for row in asked.described(TOPIC, "of-settings").configs}
    assert (rows["retention.ms"].value, rows["retention.ms"].config_source) == ("604800000", 5)
    asked.close()
    raw.close()
