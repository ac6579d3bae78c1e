"""Reads the settings of a session's scenario, as far as its text can be read; findings quote their values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import yaml


class ShareLimits(NamedTuple):
    """How long a lock lasts, and how often a message is delivered at most; None if the scenario does not say."""

    lock_ms: int | None
    attempts: int | None


class Settings:
    """The scenario by name; {} for what it does not have."""

    def __init__(self, text: str = "") -> None:
        self._told = _read(text)

    @property
    def about(self) -> str:
        about = self._told.get("about")
        return about.strip() if isinstance(about, str) else ""

    def queue_config(self, name: str) -> Mapping[str, Any]:
        return _mapping(self._named("queues", name).get("config"))

    def share_limits(self, group: str) -> ShareLimits:
        name = group.partition(".")[0]
        shared, subscribed = self._named("share_groups", name), _mapping(self._named("subscribers", name).get("config"))
        lock_ms = shared.get("record_lock_duration_ms", subscribed.get("lease_ms"))
        attempts = shared.get("delivery_count_limit", subscribed.get("max_attempts"))
        return ShareLimits(
            lock_ms if isinstance(lock_ms, int) else None, attempts if isinstance(attempts, int) else None
        )

    def lease_ms(self, queue: str) -> float | None:
        """How long a lease of a queue lasts, or a lock of a share group; None if not told."""
        told = self.queue_config(queue).get("lease_ms", self.share_limits(queue).lock_ms)
        return float(told) if isinstance(told, int | float) else None

    def session_timeout_ms(self, group: str) -> float | None:
        """The session timeout of the group's members; None if it is not known."""
        told = self._named("groups", group).get("session_timeout_ms")
        return float(told) if isinstance(told, int | float) else None

    def are_static(self, group: str) -> bool:
        """Whether a consumer of the group keeps its place when it restarts."""
        return any(one.get("group") == group and one.get("static") is True for one in self._all("consumers"))

    def _all(self, kind: str) -> list[Mapping[str, Any]]:
        found = self._told.get(kind)
        return [_mapping(one) for one in found] if isinstance(found, list) else []

    def _named(self, kind: str, name: str) -> Mapping[str, Any]:
        return next((one for one in self._all(kind) if one.get("name") == name), {})


def _mapping(found: object) -> Mapping[str, Any]:
    return found if isinstance(found, dict) else {}


def _read(text: str) -> Mapping[str, Any]:
    """The settings in YAML `text`; {} if it cannot be read or has aliases, which could expand without end."""
    try:
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, Loader=yaml.CSafeLoader)):
            return {}
        return _mapping(yaml.load(text, Loader=yaml.CSafeLoader))
    except (yaml.YAMLError, RecursionError, ValueError):
        return {}
