"""Settings of a producer."""

from __future__ import annotations

from typing import Annotated, Literal

from broker_core.errors import ConfigError
from broker_core.flow.adaptive import AdaptiveConfig
from broker_core.kinds import Range
from broker_core.log.batch import MAX_BATCH_RECORDS
from broker_core.settings import NotNegative, Positive, PositiveNumber, Settings, TimeMsAboveZero, TimeMsNumber

Acks = Literal[0, 1, "all"]


class ProducerConfig(Settings, frozen=True, kw_only=True):
    """Names and meanings are those of Kafka's producer; times in milliseconds.

    `acks`: 0 is settled at once, whatever becomes of it; 1 when it is in the log; "all" when it is as durable as the
    topic promises. `idempotent` numbers batches so that a retry is stored once. A `name` that another producer takes
    later fences this one. `buffer_bytes` bounds what waits, to within 2 MB of small messages; where it is full, `send`
    waits for `max_block_ms`, and not at all where that is 0. With a `rate_per_s` (fractions too) the producer holds
    itself to so many messages, and `burst` at once: `send` and `publish` wait for their turn, as long as for the
    buffer. A batch that is not stored after `delivery_timeout_ms`, or `retries`, fails.

    With `adaptive` messages are sent one by one, and give way: each refusal by a flow policy, or of a subscription
    without room, makes the next ones slower, each success faster again. What waits for its turn for too long fails.
    """

    acks: Acks = "all"
    linger_ms: TimeMsNumber = 5.0
    batch_bytes: Positive = 65_536
    batch_messages: Annotated[int, Range(1, MAX_BATCH_RECORDS)] = MAX_BATCH_RECORDS
    buffer_bytes: Positive = 32 * 1_048_576
    max_block_ms: TimeMsNumber = 60_000.0
    retries: NotNegative = 1_000_000
    retry_backoff_ms: TimeMsNumber = 100.0
    delivery_timeout_ms: TimeMsAboveZero = 120_000.0
    idempotent: bool = True
    name: str = ""
    rate_per_s: PositiveNumber | None = None
    burst: Annotated[float, Range(1)] = 1.0
    adaptive: AdaptiveConfig | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.idempotent and self.acks == 0:
            raise ConfigError("an idempotent producer needs acks 1 or 'all'; with 0 it never learns what to repeat")
