"""Kafka's names: of the APIs that the Kafka listener serves, and of errors."""

from __future__ import annotations

from typing import Final

from resources import table

JOIN: Final = "JoinGroup"
_NAMES = table("kafka", "names.toml")
KAFKA_APIS: Final = tuple[str, ...](_NAMES["apis"])
TO_LEADER: Final = frozenset[str](_NAMES["to_leader"])
TO_COORDINATOR: Final = tuple[str, ...](_NAMES["to_coordinator"])
MOVED_COORDINATOR: Final = tuple(api for api in TO_COORDINATOR if api not in _NAMES["not_moved"])
RETRIABLE: Final[dict[str, int]] = _NAMES["retriable"]
FATAL: Final[dict[str, int]] = _NAMES["fatal"]
KAFKA_ERRORS: Final = {**RETRIABLE, **FATAL}
