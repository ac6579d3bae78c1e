"""How long a client is held that is beyond its quota."""

from __future__ import annotations

from broker_core.clock import NS_PER_MS
from broker_core.flow.client_quotas import QuotaKey
from broker_core.listeners.served import ServedHost

_MAX_THROTTLE_MS = 10_000  # at a time; what is left counts for the next request
_KEYS: dict[str, QuotaKey] = {
    "Produce": "producer_byte_rate",
    "Fetch": "consumer_byte_rate",
    "ShareFetch": "consumer_byte_rate",
}


def quota_throttle_ms(
    host: ServedHost, user: str, client_id: str, api: str, *, size_bytes: int, reply_bytes: int
) -> int:
    """Count a request and its reply. Returns the milliseconds until the client's next request may be served."""
    quotas, key = host.broker.client_quotas, _KEYS.get(api)
    if key is None or not quotas.any:
        return 0
    counted_bytes = size_bytes if key == "producer_byte_rate" else reply_bytes
    wait_ns = host.call(lambda now_ns: quotas.spend(now_ns, user, client_id, key, counted_bytes))
    return min(-(-wait_ns // NS_PER_MS), _MAX_THROTTLE_MS)
