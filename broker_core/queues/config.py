"""Settings of a queue."""

from __future__ import annotations

from typing import Literal

import msgspec

from broker_core.errors import ConfigError
from broker_core.limits import MAX_ATTEMPTS, MAX_PRIORITIES, MAX_WAIT_MS
from broker_core.queues.balancing import POLICIES
from broker_core.queues.retry import RetryPolicy

FIRST_COME = "first-come"


class QueueConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`lease_ms` counts from delivery; after `max_attempts` deliveries a message goes to the dead letters.

    A lease is a week long at most; who needs longer extends it.

    `balancing` says which of those who wait gets the next message: the one who waits longest, or, message by message,
    by turns, by weight, or who holds least. There are `priorities` levels, from 0, the most urgent; a message whose
    priority has no level is refused. With `ageing_ms`, a waiting message rises one priority level each time that
    long has passed since it was published.
    `dead_letter_topic` is the key `errors.deadletterqueue.topic.name` of KIP-1191; "" is the queue's name plus ".dlq".
    No other queue may have the same.
    """

    lease_ms: float = 30_000.0
    max_attempts: int = 5
    retry: RetryPolicy = RetryPolicy()
    priorities: int = 1
    ageing_ms: float | None = None
    balancing: Literal["first-come", "round-robin", "weighted", "least-loaded"] = "first-come"
    dead_letter_topic: str = msgspec.field(default="", name="errors.deadletterqueue.topic.name")

    def __post_init__(self) -> None:
        if not 0 < self.lease_ms <= MAX_WAIT_MS:
            raise ConfigError(f"lease_ms {self.lease_ms} must be more than 0 and at most {MAX_WAIT_MS}, a week")
        if not 1 <= self.max_attempts <= MAX_ATTEMPTS:
            raise ConfigError(f"max_attempts {self.max_attempts} must be from 1 to {MAX_ATTEMPTS}")
        if not 1 <= self.priorities <= MAX_PRIORITIES:
            raise ConfigError(f"priorities {self.priorities} must be from 1 to {MAX_PRIORITIES}")
        if self.ageing_ms is not None and not 0 < self.ageing_ms <= MAX_WAIT_MS:
            raise ConfigError(f"ageing_ms {self.ageing_ms} must be more than 0 and at most {MAX_WAIT_MS}, a week")
        if self.balancing != FIRST_COME and self.balancing not in POLICIES:
            raise ConfigError(f"balancing {self.balancing!r} must be {FIRST_COME}, {', '.join(POLICIES)}")

    def dead_letter_topic_of(self, queue: str) -> str:
        """The name of the bin of `queue`."""
        return self.dead_letter_topic or f"{queue}.dlq"
