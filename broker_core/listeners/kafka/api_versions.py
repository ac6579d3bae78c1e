"""ApiVersions: which versions of which APIs are served.

Every version's response header is that of v0, and a version that is not known is answered as v0 with
UNSUPPORTED_VERSION and the list, so that the client can ask again. A client of v3 or later names its software, which
is shown with its connection.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from broker_core.errors import ErrorCode
from broker_core.listeners.kafka.call import Answer, Call

KEY = 18
# librdkafka looks for Produce v0 to v2 before it sends compressed batches, though it never sends those versions.
_SAID_FROM = {0: 0}
# The levels of Kafka 4 that are served. Clients that know transaction.version 2 end transactions as KIP-890 has it.
FEATURES = {"group.version": 1, "share.version": 1, "transaction.version": 2}


def versions(table: Iterable[tuple[int, int, int]], error: ErrorCode | None = None) -> dict[str, Any]:
    """The response, for (key, oldest, newest version) of each API."""
    return {
        "error_code": 0 if error is None else error.code,
        "api_keys": [
            {"api_key": key, "min_version": _SAID_FROM.get(key, oldest), "max_version": newest}
            for key, oldest, newest in table
        ],
        "supported_features": [
            {"name": name, "min_version": 0, "max_version": level} for name, level in FEATURES.items()
        ],
        "finalized_features": [
            {"name": name, "max_version_level": level, "min_version_level": level} for name, level in FEATURES.items()
        ],
        "finalized_features_epoch": 0,
    }


def software(request: Any) -> str:
    """The client's software and its version; "" where it does not say."""
    name = getattr(request, "client_software_name", "")
    return f"{name} {getattr(request, 'client_software_version', '')}".strip()[:100]


def handle(call: Call, request: Any, table: Iterable[tuple[int, int, int]]) -> Answer:
    """The versions that are served; the client's name and version are noted."""
    call.connection.software = software(request)
    return versions(table)
