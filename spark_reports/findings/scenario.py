"""Reads the settings of a session's scenario, as far as its text can be read; findings quote their values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml


class ScenarioSettings:
    """What a scenario says of queues and readers, by their names; nothing of what it does not have."""

    def __init__(self, text: str = "") -> None:
        self._scenario = _read(text)

    @property
    def about(self) -> str:
        about = self._scenario.get("about")
        return about.strip() if isinstance(about, str) else ""

    def lease_ms(self, queue: str) -> float | None:
        """How long a lease of a queue lasts, or a lock of a share group; None if the scenario does not say."""
        return self._limit(queue, "lease_ms", "record_lock_duration_ms")

    def max_attempts(self, queue: str) -> float | None:
        """How often a queue or share group delivers a message at most; None if the scenario does not say."""
        return self._limit(queue, "max_attempts", "delivery_count_limit") or None

    def _limit(self, name: str, setting: str, share_group_setting: str) -> float | None:
        """A setting of a queue, or of the share group or subscriber that has the subscription of this name."""
        config = _mapping(self._subscribed("subscribers", name).get("config"))
        shared = self._subscribed("share_groups", name).get(share_group_setting, config.get(setting))
        return _number(_mapping(self._named("queues", name).get("config")).get(setting, shared))

    def session_timeout_ms(self, group: str) -> float | None:
        """The session timeout in force for the group's members, by default that of `Scenario` or `GroupSpec`; None if
        the scenario has no such group.
        """
        spec = self._named("groups", group)
        if spec.get("protocol") == "consumer":
            return _number(self._scenario.get("consumer_session_timeout_ms", 45_000))
        return _number(spec.get("session_timeout_ms", 6_000)) if spec else None

    def are_static(self, group: str) -> bool:
        """Whether a consumer of the group keeps its place when it restarts."""
        return any(one.get("group") == group and one.get("static") is True for one in self._all("consumers"))

    def _all(self, kind: str) -> list[Mapping[str, Any]]:
        found = self._scenario.get(kind)
        return [_mapping(one) for one in found] if isinstance(found, list) else []

    def _named(self, kind: str, name: str) -> Mapping[str, Any]:
        return next((one for one in self._all(kind) if one.get("name") == name), {})

    def _subscribed(self, kind: str, subscription: str) -> Mapping[str, Any]:
        """The reader with that subscription; the one of a subscriber to a single topic has the subscriber's name."""
        for one in self._all(kind):
            name, topics = one.get("name"), one.get("topics")
            names = [f"{name}.{topic}" for topic in topics] if isinstance(topics, list) else []
            if subscription in ([name] if kind == "subscribers" and len(names) == 1 else names):
                return one
        return {}


def _mapping(found: object) -> Mapping[str, Any]:
    return found if isinstance(found, dict) else {}


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if 0 <= value < 1e12 else None  # no setting allows more


def _read(text: str) -> Mapping[str, Any]:
    """The settings in YAML `text`; {} if it cannot be read or has aliases, which could expand without end."""
    try:
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, Loader=yaml.CSafeLoader)):
            return {}
        return _mapping(yaml.load(text, Loader=yaml.CSafeLoader))
    except Exception:  # values that do not fit their tags raise errors of many kinds
        return {}
