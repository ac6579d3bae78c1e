from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from broker_core.clock import NS_PER_MS
from broker_core.kinds import MOST
from broker_core.limits import MAX_ATTEMPTS, MAX_PRIORITIES
from broker_core.settings import Positive, Settings, WaitMsAboveZero, WaitMsNumber, about, checked

RetryKind = Literal["none", "fixed", "exponential", "exponential_jitter"]


class RetryPolicy(Settings, frozen=True, forbid_unknown_fields=True):
    """The delay after attempt n, in milliseconds, at most `max_ms`.

    `none` is 0, `fixed` is `base_ms`, `exponential` is `base_ms * factor ** (n - 1)`, and `exponential_jitter` is a
    random part of that, between 0 and the whole ("full jitter"). `max_ms` is a week at most.
    """

    kind: Annotated[RetryKind, about("delay after a failed delivery", flag="--retry")] = "none"
    base_ms: Annotated[WaitMsNumber, about("delay before the second delivery", flag="--retry-delay-ms")] = 1_000.0
    max_ms: Annotated[WaitMsNumber, about("longest delay before a delivery", flag="--retry-max-ms")] = 60_000.0
    factor: Annotated[
        float, Meta(ge=1, le=MOST), about("factor by which exponential delays grow", flag="--retry-factor")
    ] = 2.0

    @checked
    def delay_ns(self, attempt: Positive, unit_interval: float) -> int:
        """The delay after attempt number `attempt`, from 1; `unit_interval` is random in [0, 1), for jitter."""
        if self.kind == "none":
            return 0
        most_ns = int(self.max_ms * NS_PER_MS)
        if self.kind == "fixed":
            return min(int(self.base_ms * NS_PER_MS), most_ns)
        try:
            grown_ms = self.base_ms * self.factor ** (attempt - 1)
        except OverflowError:
            grown_ms = self.max_ms
        grown_ns = int(min(grown_ms, self.max_ms) * NS_PER_MS)
        if self.kind == "exponential_jitter":
            grown_ns = int(grown_ns * min(max(unit_interval, 0.0), 1.0))
        return min(grown_ns, most_ns)


FIRST_COME = "first-come"


class QueueConfig(Settings, frozen=True, forbid_unknown_fields=True):
    """Settings of a queue. Times are in milliseconds.

    `lease_ms` counts from delivery and is a week at most; a lease can be extended. After `max_attempts` deliveries a
    message is dead-lettered; None is no limit. `retry` is the delay after a failed attempt.

    `balancing` chooses among waiting consumers: `first-come` serves the one that waits longest with all that it asked
    for; the others give one message at a time in turn, by weight, or to the consumer with the fewest in flight.

    `priorities` is the number of levels, 0 the most urgent; a message with another priority is refused. With
    `ageing_ms`, a waiting message rises one level each time that long has passed since it was published.

    `dead_letter_topic` is `errors.deadletterqueue.topic.name` of KIP-1191, "" the queue's name plus ".dlq". No two
    queues may share it.

    With the `isolation_level` read_committed a subscription takes nothing of transactions that are open or aborted.

    Unless the queue is in memory, an attempt is on the disk before its message is delivered; with a `max_attempts` of
    None attempts are not written. With `durable_acks` every acknowledgement is as durable as the queue before it is
    answered. Without it a crash may undo the last acknowledgements, and their messages are delivered again.
    """

    lease_ms: Annotated[WaitMsAboveZero, about("how long a consumer holds a message without acknowledging it")] = (
        30_000.0
    )
    max_attempts: Annotated[
        Annotated[int, Meta(ge=1, le=MAX_ATTEMPTS)] | None,
        about("deliveries before a message becomes a dead letter (none: never)"),
    ] = 5
    retry: RetryPolicy = RetryPolicy()
    priorities: Annotated[int, Meta(ge=1, le=MAX_PRIORITIES), about("priority levels; 0 is the most urgent")] = 1
    max_in_flight: Annotated[
        Positive | None, about("messages of a level or partition that are leased at most (none: no limit)")
    ] = None
    ageing_ms: Annotated[
        WaitMsAboveZero | None, about("time after which a waiting message rises by one level (none: never)")
    ] = None
    balancing: Annotated[
        Literal["first-come", "round-robin", "weighted", "least-loaded"],
        about("which waiting consumer gets the next message"),
    ] = "first-come"
    durable_acks: Annotated[bool, about("confirm acknowledgements only when a crash can no longer undo them")] = False
    isolation_level: Literal["read_uncommitted", "read_committed"] = "read_uncommitted"
    dead_letter_topic: Annotated[str, about("queue of its dead letters (default: its name and .dlq)")] = ""

    def dead_letter_topic_of(self, queue: str) -> str:
        """The name of the dead letter queue of `queue`."""
        return self.dead_letter_topic or f"{queue}.dlq"
