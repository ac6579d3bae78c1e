"""The shortest sequences that random ones were shrunk to, with what Apache Kafka 4.4 answered to their last step."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest

from broker_core import BrokerHost
from broker_core.listeners.kafka.listener import KafkaListener
from tests.broker_core.listeners.kafka.raw import Raw
from tests.reference.sequences import World

FOUND: list[tuple[list[list[Any]], str, str]] = [
    ([["leave", "consumer", 0]], "error_code", "group_id_not_found"),
    (
        [["create", 0, 1], ["commit", "consumer", 0, 0, 0, False], ["leave", "consumer", 0]],
        "error_code",
        "group_id_not_found",
    ),
    ([["create", 0, 1], ["commit", "manual", 0, 0, -1, False], ["state", "manual"]], "group_state", "Empty"),
    # Kafka says group_id_not_found; see meant_by_chance.yaml
    ([["beat", "consumer", 0]], "error_code", "unknown_member_id"),
    ([["beat", "share", 0]], "error_code", "unknown_member_id"),
    ([["create", 0, 1], ["delete_records", 0, 0, -5]], "error_code", "offset_out_of_range"),
    ([["create", 0, 1], ["produce", 0, 0, 2], ["delete_records", 0, 0, 1]], "low_watermark", "1"),
    ([["create", 0, 1], ["produce", 0, 0, 2], ["delete_records", 0, 0, 3]], "error_code", "offset_out_of_range"),
    ([["fetch", 1, 0, 5, False]], "aborted_transactions", "[]"),
    ([["leave", "share", 0]], "error_code", "group_id_not_found"),
    ([["share_offsets"]], "error_code", "none"),
    ([["create", 0, 1], ["set_share_offset", 0, 1, 3], ["share_offsets"]], "topics", "[]"),
    ([["create", 1, 1], ["create", 1, 0]], "error_code", "topic_already_exists"),
    ([["create", 0, 1], ["set_share_offset", 0, 1, 5], ["describe", "share"]], "group_state", "Empty"),
    ([["create", 0, 1], ["set_share_offset", 0, 1, 5], ["leave", "share", 0]], "error_code", "unknown_member_id"),
    (
        [["create", 0, 1], ["set_share_offset", 0, 1, 5], ["delete_share_offsets", 0]],
        "error_code",
        "unknown_topic_or_partition",
    ),
    ([["set_share_offset", 0, 0, 0], ["describe", "share"]], "error_code", "group_id_not_found"),
    (  # the start of a batch was finished before it came
        [["create", 0, 1], ["set_share_offset", 0, 0, 0], ["produce", 0, 0, 2], ["set_share_offset", 0, 0, 1]],
        "error_code",
        "none",
    ),
]


def values_of(name: str, answer: Any) -> list[Any]:
    """Of all fields of that name in an answer."""
    if isinstance(answer, dict):
        own = [answer[name]] if name in answer else []
        return own + [found for each in answer.values() for found in values_of(name, each)]
    return [found for each in answer for found in values_of(name, each)] if isinstance(answer, list) else []


@pytest.mark.parametrize(("steps", "field", "wanted"), FOUND, ids=lambda each: json.dumps(each)[:60])
def test_it_is_answered_as_by_kafka(steps: list[list[Any]], field: str, wanted: str):
    with BrokerHost() as host, KafkaListener(host, port=0) as listener:
        with contextlib.closing(Raw(listener.port)) as connection:
            world = World(connection, "x-")
            answers = [world.told(step) for step in steps]
    found = values_of(field, json.loads(answers[-1]))
    assert [each if isinstance(each, str) else json.dumps(each) for each in found][-1] == wanted
