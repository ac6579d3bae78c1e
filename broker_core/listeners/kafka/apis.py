"""The table of what is served: from it ApiVersions is answered, and every other version is refused.

The oldest and newest versions are those that the message schemas have and today's clients use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from broker_core.errors import ErrorCode
from broker_core.listeners.kafka import (  # noqa: F401 - each declares its APIs
    access,
    configs,
    fetch,
    group_members,
    groups,
    offsets,
    one_broker,
    produce,
    sasl,
    share_fetch,
    share_groups,
    topics,
    transactions,
)
from broker_core.listeners.kafka.call import TABLE, Answer, Call, api
from broker_core.listeners.kafka.one_broker import FEATURES

if TYPE_CHECKING:
    from kio.schema.api_versions.v4.request import ApiVersionsRequest

# librdkafka looks for Produce v0 to v2 before it sends compressed batches, though it never sends those versions.
_SAID_FROM = {0: 0}


def versions(error: ErrorCode | None = None) -> dict[str, Any]:
    return {
        "error_code": 0 if error is None else error.code,
        "api_keys": [
            {"api_key": api.key, "min_version": _SAID_FROM.get(api.key, api.oldest), "max_version": api.newest}
            for api in APIS
        ],
        "supported_features": [{"name": name, "max_version": level} for name, level in FEATURES.items()],
        "finalized_features": [
            {"name": name, "max_version_level": level, "min_version_level": level} for name, level in FEATURES.items()
        ],
        "finalized_features_epoch": 0,
    }


@api("ApiVersions", 18, 0, 4)
def _api_versions(call: Call, request: ApiVersionsRequest) -> Answer:
    """Which versions of which APIs are served.

    Every version's response header is that of v0, and a version that is not known is answered as v0 with
    UNSUPPORTED_VERSION and the list, so that the client can ask again. A client of v3 or later names its software,
    which is shown with its connection.
    """
    call.connection.software = f"{request.client_software_name} {request.client_software_version}".strip()[:100]
    return versions()


APIS = tuple(TABLE[key] for key in sorted(TABLE))
