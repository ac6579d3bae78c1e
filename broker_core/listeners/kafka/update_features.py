"""UpdateFeatures (KIP-584): the levels that ApiVersions names are the only ones."""

from __future__ import annotations

from typing import Any

from kio.schema.errors import ErrorCode as KafkaError

from broker_core.listeners.kafka.api_versions import FEATURES
from broker_core.listeners.kafka.call import ADMIN, Answer, Call, KafkaOnlyError, outcome

KEY = 57


def handle(call: Call, request: Any) -> Answer:
    """A feature that is at the level already is updated; every other level is refused."""
    call.must(ADMIN, "broker")
    results = [
        {"feature": each.feature, **outcome(_update, each.feature, each.max_version_level)}
        for each in request.feature_updates
    ]
    first = next((each for each in results if each["error_code"]), {"error_code": 0, "error_message": None})
    return {"error_code": first["error_code"], "error_message": first["error_message"], "results": results}


def _update(feature: str, level: int) -> None:
    if FEATURES.get(feature) != level:
        there = f"it is at {FEATURES[feature]}" if feature in FEATURES else f"there are {', '.join(FEATURES)}"
        raise KafkaOnlyError(KafkaError.invalid_update_version, f"{feature[:249]} at level {level}; {there}")
