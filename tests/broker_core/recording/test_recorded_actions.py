"""Actions that were recorded before requests of the catalogue took their place are read, and do the same."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from broker_core.events import Event, EventKind
from broker_core.operations.request import Request
from broker_core.simulation.actions import UserAction
from broker_core.simulation.replay import recorded_action, rerun
from tests.broker_core.simulation.busy_session import scenario

SAMPLES = Path(__file__).parent / "samples" / "actions"
EVERY_TAG = [json.loads(line) for line in (SAMPLES / "every_tag.jsonl").read_text("utf-8").splitlines()]


@pytest.mark.parametrize("tag", sorted({sample["plain"]["action"] for sample in EVERY_TAG}))
def test_an_action_of_an_old_recording_means_what_it_meant(tag: str) -> None:
    for sample in EVERY_TAG:
        if sample["plain"]["action"] == tag:
            action = recorded_action(0, sample["plain"]).action
            assert action.sentence == sample["sentence"]
            again: dict[str, Any] = json.loads(msgspec.json.encode(action))
            assert again["action"] == tag and recorded_action(0, again).action == action


def test_every_tag_of_the_format_has_a_sample() -> None:
    assert {sample["plain"]["action"] for sample in EVERY_TAG} == {
        kind.__struct_config__.tag for kind in UserAction.__args__
    }


def test_an_old_recording_is_done_again_to_the_same_events() -> None:
    """All but the events that repeat an action as it is written."""
    told, *lines = map(json.loads, (SAMPLES / "session.jsonl").read_text("utf-8").splitlines())
    events: list[Event] = []
    actions = [recorded_action(time_ns, plain) for time_ns, plain in lines]
    rerun(scenario(), actions, until_s=40, prepare=lambda simulation: simulation.events.attach(events.append))
    digest, count = hashlib.sha256(), 0
    for event in events:
        if event.kind is not EventKind.USER_ACTION:
            digest.update(msgspec.json.encode(msgspec.structs.replace(event, seq=count)))
            count += 1
    assert (count, digest.hexdigest()) == (told["events"], told["digest"])


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ({"action": "create_topic", "topic": "t"}, {"action": "create_topic", "name": "t"}),
        (
            {"action": "configure_topic", "topic": "t", "retention_ms": 5},
            {"action": "configure_topic", "topic": "t", "log": {
                "cleanup": "delete", "retention_ms": 5, "retention_bytes": None, "segment_ms": None,
                "segment_bytes": 64 << 20, "tombstone_ms": 86_400_000, "message_ttl_ms": None,
            }},
        ),
        (
            {"action": "create_queue", "queue": "q", "config": {"errors.deadletterqueue.topic.name": "bin"}},
            {"action": "create_queue", "name": "q", "settings": {"dead_letter_topic": "bin"}},
        ),
        (
            {"action": "register_schema", "subject": "s", "text": "{}", "kind": "AVRO"},
            {"action": "register_schema", "subject": "s", "text": {"schema": "{}", "kind": "AVRO"}},
        ),
        (
            {"action": "add_partitions", "topic": "t", "partitions": 5_000},
            {"action": "add_partitions", "topic": "t", "total": 5_000},
        ),
        (
            {"action": "delete_records", "topic": "t", "before": [[3, 9]]},
            {"action": "delete_records", "topic": "t", "before": {"3": 9}},
        ),
        ({"action": "purge_dead_letters", "queue": "q", "offsets": []}, {"action": "purge_dead_letters", "queue": "q"}),
        (
            {"action": "reset_offsets", "group": "g", "target": {"form": "group", "group": "h"}, "topic": "t",
             "partitions": [1, 2], "restart_members": True},
            {"action": "reset_offsets", "group": "g", "form": "group", "from_group": "h", "restart_members": True,
             "partitions": [{"topic": "t", "partition": 1}, {"topic": "t", "partition": 2}]},
        ),
        (
            {"action": "reset_offsets", "group": "g", "target": {"form": "offset", "offset": 3}, "topic": "t"},
            {"action": "reset_offsets", "group": "g", "form": "offset", "offset": 3, "partitions": [{"topic": "t"}]},
        ),
        (
            {"action": "set_assignor", "group": "g", "assignor": "round-robin"},
            {"action": "set_assignor", "group": "g", "assignor": "roundrobin"},
        ),
    ],
)  # fmt: skip
def test_old_words_are_those_of_today(before: dict[str, Any], now: dict[str, Any]) -> None:
    assert recorded_action(0, before).action == recorded_action(0, now).action


def test_an_action_is_the_request_of_the_catalogue() -> None:
    """All but those that no broker is asked for."""
    requests = {kind.__struct_config__.tag for kind in UserAction.__args__ if issubclass(kind, Request)}
    assert requests == {
        "create_topic", "delete_topic", "add_partitions", "configure_topic", "set_flow", "delete_records",
        "register_schema", "create_queue", "create_subscription", "delete_queue", "purge_queue", "undo_purge_queue",
        "redrive", "stop_redrive", "undo_redrive", "purge_dead_letters", "undo_purge_dead_letters", "delete_group",
        "reset_offsets",
    }  # fmt: skip
