from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from broker_core import settings
from broker_core.errors import ConfigError
from broker_core.flow.adaptive import AdaptiveConfig
from broker_core.limits import MAX_BATCH_RECORDS

Acks = Literal[0, 1, "all"]


class ProducerConfig(settings.Settings, frozen=True, kw_only=True):
    """Settings with the names and meanings of Kafka's producer. Times are in milliseconds, sizes in bytes.

    `acks`: with 0 a receipt is settled at once; with 1 when the message is in the log; with "all" when it is as durable
    as its topic. `idempotent` numbers batches so that a retry is stored once. A `name` is like a transactional id: the
    next producer with the same name fences this one. `buffer_bytes` bounds the messages that wait, to within 2 MB of
    small messages; while it is full, `send` blocks for up to `max_block_ms`. `rate_per_s` (fractions allowed) limits
    the messages per second, `burst` those at once; `send` and `publish` block for up to `max_block_ms` for it, too. A
    batch fails when it is not stored within `delivery_timeout_ms`, or after `retries`.

    With `adaptive`, messages are sent one by one: each refusal by a flow policy or a full subscription lengthens the
    interval between them, each success shortens it. The delivery timeout counts while a message waits for its turn.
    """

    acks: Acks = "all"
    linger_ms: settings.TimeMsNumber = 5.0
    batch_bytes: settings.Positive = 65_536
    batch_messages: Annotated[int, Meta(ge=1, le=MAX_BATCH_RECORDS)] = MAX_BATCH_RECORDS
    buffer_bytes: settings.Positive = 32 * 1_048_576
    max_block_ms: settings.TimeMsNumber = 60_000.0
    retries: settings.NotNegative = 1_000_000
    retry_backoff_ms: settings.TimeMsNumber = 100.0
    delivery_timeout_ms: settings.TimeMsAboveZero = 120_000.0
    idempotent: bool = True
    name: str = ""
    rate_per_s: settings.PositiveNumber | None = None
    burst: settings.AtLeastOne = 1.0
    adaptive: AdaptiveConfig | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.idempotent and self.acks == 0:
            raise ConfigError("an idempotent producer needs acks 1 or 'all'; with 0 it cannot know what to retry")
