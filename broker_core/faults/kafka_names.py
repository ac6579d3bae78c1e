"""Kafka's names: of the APIs that the Kafka listener serves, and of errors."""

from __future__ import annotations

import tomllib
from typing import Final

from resources import path

JOIN: Final = "JoinGroup"
_NAMES = tomllib.loads(path("kafka", "names.toml").read_text("utf-8"))
KAFKA_APIS: Final = tuple[str, ...](_NAMES["apis"])
RETRIABLE: Final[dict[str, int]] = _NAMES["retriable"]
FATAL: Final[dict[str, int]] = _NAMES["fatal"]
KAFKA_ERRORS: Final = {**RETRIABLE, **FATAL}
