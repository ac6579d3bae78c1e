"""Actions as recordings and scenarios write them: in today's words, or in those that were used before."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from broker_core.errors import BrokerError, ErrorCode
from broker_core.groups.assignors import ALIASES
from broker_core.limits import SEGMENT_BYTES
from broker_core.simulation.actions import UserAction
from broker_core.simulation.scenario_errors import fault

Plain = dict[str, Any]

_QUEUE = {"queue": "name", "config": "settings"}
#: By action: the old names of its fields, with those of today.
_RENAMED: dict[str, dict[str, str]] = {
    "create_topic": {"topic": "name"},
    "add_partitions": {"partitions": "total"},
    "set_flow": {"target": "topic"},
    "create_queue": _QUEUE,
    "create_subscription": _QUEUE,
}
#: What `configure_topic` had beside its topic, with what it meant where it was left out.
_LOG: Plain = {
    "cleanup": "delete",
    "retention_ms": None,
    "retention_bytes": None,
    "segment_ms": None,
    "segment_bytes": SEGMENT_BYTES,
    "tombstone_ms": 86_400_000,
    "message_ttl_ms": None,
}
_DEAD_LETTERS = "errors.deadletterqueue.topic.name"


def read_action(plain: Mapping[str, Any]) -> UserAction:
    """The action in plain values. Raises `msgspec.ValidationError` for anything else."""
    action: UserAction = msgspec.convert(in_words_of_today(plain)[0], UserAction)
    return action


def as_recorded(action: UserAction) -> UserAction:
    """As its record will be read again: 5 seconds become 5.0. Raises INVALID_REQUEST for a wrong value."""
    plain = in_words_of_today(msgspec.to_builtins(action))[0]
    try:
        return read_action(plain)
    except msgspec.ValidationError as error:
        _path, sentence = fault(error, plain, UserAction, "the action")
        raise BrokerError(ErrorCode.INVALID_REQUEST, sentence.rstrip(".")) from None


def in_words_of_today(plain: Mapping[str, Any]) -> tuple[Plain, dict[str, str]]:
    """The same action, and what each old word in it is called now."""
    fields, old = dict(plain), dict[str, str]()
    action = fields.get("action")
    for before, now in _RENAMED.get(str(action), {}).items():
        if before in fields and now not in fields:
            fields[now] = fields.pop(before)
            old[before] = now
    change = _CHANGED.get(str(action))
    if change is not None:
        old |= change(fields)
    return fields, old


def _configure_topic(fields: Plain) -> dict[str, str]:
    flat = [name for name in fields if name in _LOG]
    if not flat and ("log" in fields or "flow" in fields):
        return {}
    fields["log"] = {name: fields.pop(name, default) for name, default in _LOG.items()}
    return {name: f"log: {name}" for name in flat}


def _delete_records(fields: Plain) -> dict[str, str]:
    before = fields.get("before")
    if not isinstance(before, list):
        return {}
    if all(isinstance(pair, list) and len(pair) == 2 for pair in before):
        fields["before"] = {str(partition): offset for partition, offset in before}
    return {"before, a list of pairs,": "before, a mapping from partition to offset"}


def _register_schema(fields: Plain) -> dict[str, str]:
    if not isinstance(fields.get("text"), str):
        return {}
    old = {name: now for name, now in (("text", "text: schema"), ("kind", "text: kind")) if name in fields}
    kind = {"kind": fields.pop("kind")} if "kind" in fields else {}
    fields["text"] = {"schema": fields["text"], **kind}
    return old


def _queue_settings(fields: Plain) -> dict[str, str]:
    settings = fields.get("settings")
    if not isinstance(settings, dict) or _DEAD_LETTERS not in settings:
        return {}
    settings = fields["settings"] = dict(settings)
    settings["dead_letter_topic"] = settings.pop(_DEAD_LETTERS) or None
    return {_DEAD_LETTERS: "dead_letter_topic"}


def _reset_offsets(fields: Plain) -> dict[str, str]:
    target, topic, numbers = fields.get("target"), fields.get("topic"), fields.get("partitions")
    old = dict[str, str]()
    if isinstance(target, dict):
        fields.update({name: value for name, value in target.items() if name != "group"})
        fields["from_group"] = target.get("group") or None
        del fields["target"]
        old["target"] = "form, offset, timestamp_ms and from_group"
    if isinstance(topic, str):
        del fields["topic"]
        fields["partitions"] = [{"topic": topic, "partition": number} for number in numbers or ()] or [{"topic": topic}]
        if not topic:
            fields["partitions"] = None
        old["topic"] = "partitions, a list of topic and partition"
    elif numbers == []:
        fields["partitions"] = None
    return old


def _purge_dead_letters(fields: Plain) -> dict[str, str]:
    if fields.get("offsets") == []:
        fields["offsets"] = None  # all of them
    return {}


def with_known_assignor(value: Any) -> Any:
    """A group in plain values, its assignor by Kafka's name."""
    name = value.get("assignor") if isinstance(value, dict) else None
    return {**value, "assignor": ALIASES[name]} if isinstance(name, str) and name in ALIASES else value


def _assignor(fields: Plain) -> dict[str, str]:
    fields.update(with_known_assignor(fields))
    return {}


_CHANGED: dict[str, Callable[[Plain], dict[str, str]]] = {
    "configure_topic": _configure_topic,
    "delete_records": _delete_records,
    "register_schema": _register_schema,
    "create_queue": _queue_settings,
    "create_subscription": _queue_settings,
    "purge_dead_letters": _purge_dead_letters,
    "reset_offsets": _reset_offsets,
    "create_group": _assignor,
    "set_assignor": _assignor,
}
