"""Settings of a producer."""

from __future__ import annotations

from typing import Literal

import msgspec

from broker_core.errors import ConfigError
from broker_core.flow.token_bucket import TokenBucket
from broker_core.log.batch import MAX_BATCH_RECORDS

Acks = Literal[0, 1, "all"]


class ProducerConfig(msgspec.Struct, frozen=True, kw_only=True):
    """Names and meanings are those of Kafka's producer; times in milliseconds.

    `acks`: 0 is settled at once, whatever becomes of it; 1 when it is in the log; "all" when it is as durable as the
    topic promises. `idempotent` numbers batches so that a retry is stored once. A `name` that another producer takes
    later fences this one. `buffer_bytes` bounds what waits, to within 2 MB of small messages; where it is full, `send`
    waits for `max_block_ms`, and not at all where that is 0. With a `rate_per_s` (fractions too) the producer holds
    itself to so many messages, and `burst` at once: `send` and `publish` wait for their turn, as long as for the
    buffer. A batch that is not stored after `delivery_timeout_ms`, or `retries`, fails.
    """

    acks: Acks = "all"
    linger_ms: float = 5.0
    batch_bytes: int = 65_536
    batch_messages: int = MAX_BATCH_RECORDS
    buffer_bytes: int = 32 * 1_048_576
    max_block_ms: float = 60_000.0
    retries: int = 1_000_000
    retry_backoff_ms: float = 100.0
    delivery_timeout_ms: float = 120_000.0
    idempotent: bool = True
    name: str = ""
    rate_per_s: float | None = None
    burst: float = 1.0

    def __post_init__(self) -> None:
        if self.acks not in (0, 1, "all"):
            raise ConfigError(f"acks {self.acks!r} must be 0, 1 or 'all'")
        if self.idempotent and self.acks == 0:
            raise ConfigError("an idempotent producer needs acks 1 or 'all'; with 0 it never learns what to repeat")
        if not 1 <= self.batch_messages <= MAX_BATCH_RECORDS:
            raise ConfigError(f"batch_messages {self.batch_messages} must be from 1 to {MAX_BATCH_RECORDS}")
        for name in ("linger_ms", "max_block_ms", "retries", "retry_backoff_ms"):
            if not getattr(self, name) >= 0:
                raise ConfigError(f"{name} {getattr(self, name)} must not be negative")
        if self.rate_per_s is not None:
            TokenBucket(self.rate_per_s, self.burst)
        for name in ("batch_bytes", "buffer_bytes", "delivery_timeout_ms"):
            if not getattr(self, name) > 0:
                raise ConfigError(f"{name} {getattr(self, name)} must be more than 0")
