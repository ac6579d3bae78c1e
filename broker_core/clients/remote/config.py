"""Settings of a remote broker."""

from __future__ import annotations

from broker_core.settings import Positive, Settings, TimeMs


class RemoteConfig(Settings, frozen=True, kw_only=True):
    """Times in milliseconds. Names are those of Kafka's clients where they have them.

    A request that is not answered after `request_timeout_ms` fails. A quiet connection is kept by a ping every
    `ping_ms`, or more often where the broker wants it. What waits to be sent is at most `buffer_bytes`; more fails with
    THROTTLED.
    """

    connect_timeout_ms: TimeMs = 5_000
    request_timeout_ms: TimeMs = 30_000
    reconnect_backoff_ms: TimeMs = 50
    reconnect_backoff_max_ms: TimeMs = 2_000
    ping_ms: TimeMs = 10_000
    buffer_bytes: Positive = 64 * 1_048_576
