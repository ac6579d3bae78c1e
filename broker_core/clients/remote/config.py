"""Settings of a remote broker."""

from __future__ import annotations

import msgspec

from broker_core.errors import ConfigError


class RemoteConfig(msgspec.Struct, frozen=True, kw_only=True):
    """Times in milliseconds. Names are those of Kafka's clients where they have them.

    A request that is not answered after `request_timeout_ms` fails. A quiet connection is kept by a ping every
    `ping_ms`, or more often where the broker wants it. What waits to be sent is at most `buffer_bytes`; more fails with
    THROTTLED.
    """

    connect_timeout_ms: int = 5_000
    request_timeout_ms: int = 30_000
    reconnect_backoff_ms: int = 50
    reconnect_backoff_max_ms: int = 2_000
    ping_ms: int = 10_000
    buffer_bytes: int = 64 * 1_048_576

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} {getattr(self, name)} must be at least 1")
