"""Settings of a queue."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from broker_core.kinds import Range
from broker_core.limits import MAX_ATTEMPTS, MAX_PRIORITIES
from broker_core.queues.retry import RetryPolicy
from broker_core.settings import Settings, WaitMsAboveZero

FIRST_COME = "first-come"


class QueueConfig(Settings, frozen=True, forbid_unknown_fields=True):
    """`lease_ms` counts from delivery; after `max_attempts` deliveries a message goes to the dead letters.

    A lease is a week long at most; who needs longer extends it.

    `balancing` says which of those who wait gets the next message: the one who waits longest, or, message by message,
    by turns, by weight, or who holds least. There are `priorities` levels, from 0, the most urgent; a message whose
    priority has no level is refused. With `ageing_ms`, a waiting message rises one priority level each time that
    long has passed since it was published.
    `dead_letter_topic` is the key `errors.deadletterqueue.topic.name` of KIP-1191; "" is the queue's name plus ".dlq".
    No other queue may have the same.

    Attempts are on the disk before a message is handed out, unless the queue is in memory; a `max_attempts` of None is
    "no limit", and saves that. With `durable_acks` so are acknowledgements before they are answered, also where the
    call does not ask for it; without, a kill may undo the last ones, and their messages come again.
    """

    lease_ms: WaitMsAboveZero = 30_000.0
    max_attempts: Annotated[int, Range(1, MAX_ATTEMPTS)] | None = 5
    retry: RetryPolicy = RetryPolicy()
    priorities: Annotated[int, Range(1, MAX_PRIORITIES)] = 1
    ageing_ms: WaitMsAboveZero | None = None
    balancing: Literal["first-come", "round-robin", "weighted", "least-loaded"] = "first-come"
    durable_acks: bool = False
    dead_letter_topic: str = msgspec.field(default="", name="errors.deadletterqueue.topic.name")

    def dead_letter_topic_of(self, queue: str) -> str:
        """The name of the bin of `queue`."""
        return self.dead_letter_topic or f"{queue}.dlq"
