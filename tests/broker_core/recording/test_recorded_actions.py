"""Recorded actions keep their form: those of the samples are read, and do the same."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

from broker_core.events import Event, EventKind
from broker_core.operations.request import Request
from broker_core.simulation.actions import UserAction
from broker_core.simulation.replay import recorded_action
from tests.broker_core.simulation.busy_session import scenario
from tests.broker_core.simulation.rerun import rerun

SAMPLES = Path(__file__).parent / "samples" / "actions"
EVERY_TAG = [json.loads(line) for line in (SAMPLES / "every_tag.jsonl").read_text("utf-8").splitlines()]


@pytest.mark.parametrize("tag", sorted({sample["plain"]["action"] for sample in EVERY_TAG}))
def test_an_action_of_a_recording_means_what_it_meant(tag: str) -> None:
    for sample in EVERY_TAG:
        if sample["plain"]["action"] == tag:
            action = recorded_action(0, sample["plain"]).action
            assert action.sentence == sample["sentence"]
            again: dict[str, Any] = json.loads(msgspec.json.encode(action))
            assert again["action"] == tag and recorded_action(0, again).action == action


def test_every_tag_of_the_format_has_a_sample() -> None:
    assert {sample["plain"]["action"] for sample in EVERY_TAG} == {
        kind.__struct_config__.tag for kind in get_args(UserAction)
    }


def test_a_recording_is_done_again_to_the_same_events() -> None:
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


def test_an_action_is_the_request_of_the_catalogue() -> None:
    """All but those that no broker is asked for."""
    requests = {kind.__struct_config__.tag for kind in get_args(UserAction) if issubclass(kind, Request)}
    assert requests == {
        "create_topic", "delete_topic", "add_partitions", "configure_topic", "delete_records",
        "register_schema", "create_queue", "create_subscription", "delete_queue", "purge_queue", "undo_purge_queue",
        "redrive", "stop_redrive", "undo_redrive", "redrive_topic", "stop_topic_redrive", "set_planned_offsets",
        "purge_dead_letters", "undo_purge_dead_letters", "delete_group",
        "configure_group",
        "reset_offsets", "create_acls", "delete_acls", "set_quota", "remove_quota", "delete_user",
    }  # fmt: skip
