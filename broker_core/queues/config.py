"""Settings of a queue."""

from __future__ import annotations

import msgspec

from broker_core.errors import ConfigError
from broker_core.limits import MAX_ATTEMPTS, MAX_PRIORITIES
from broker_core.queues.retry import RetryPolicy


class QueueConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`lease_ms` counts from delivery; after `max_attempts` deliveries a message goes to the dead letters.

    With `ageing_ms`, a waiting message rises one priority level each time that long has passed since it was published.
    `dead_letter_topic` is the key `errors.deadletterqueue.topic.name` of KIP-1191; "" is the queue's name plus ".dlq".
    """

    lease_ms: float = 30_000.0
    max_attempts: int = 5
    retry: RetryPolicy = RetryPolicy()
    priorities: int = 1
    ageing_ms: float | None = None
    dead_letter_topic: str = msgspec.field(default="", name="errors.deadletterqueue.topic.name")

    def __post_init__(self) -> None:
        if not 0 < self.lease_ms < float("inf"):
            raise ConfigError(f"lease_ms {self.lease_ms} must be more than 0")
        if not 1 <= self.max_attempts <= MAX_ATTEMPTS:
            raise ConfigError(f"max_attempts {self.max_attempts} must be from 1 to {MAX_ATTEMPTS}")
        if not 1 <= self.priorities <= MAX_PRIORITIES:
            raise ConfigError(f"priorities {self.priorities} must be from 1 to {MAX_PRIORITIES}")
        if self.ageing_ms is not None and not 0 < self.ageing_ms < float("inf"):
            raise ConfigError(f"ageing_ms {self.ageing_ms} must be more than 0")

    def dead_letter_topic_of(self, queue: str) -> str:
        """The name of the bin of `queue`."""
        return self.dead_letter_topic or f"{queue}.dlq"
