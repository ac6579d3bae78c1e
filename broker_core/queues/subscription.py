"""A fan-out subscription: a topic read as a queue of its own, with a bounded backlog.

Every subscriber has one, so that a slow one holds up nobody: what it has no room for is turned away from it alone,
the topic and the others keep it. What is handed straight over to somebody who waits never counts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import msgspec

from broker_core.events import EventStream
from broker_core.queues.config import QueueConfig
from broker_core.queues.dead_letters import DeadLetters
from broker_core.queues.journal import Journal
from broker_core.queues.log_port import TopicPort
from broker_core.queues.queue import Queue
from broker_core.settings import Positive, Settings
from broker_core.snapshots import GateView
from broker_core.timers import Timers

# The partitions of a topic are no priorities: ageing at once makes them take turns by age.
_AT_ONCE_MS = 0.001

BacklogPolicy = Literal["drop_newest", "drop_oldest"]


class BacklogConfig(Settings, frozen=True):
    """At most `max_messages` wait for a subscription, None is "no limit"; `policy` says which of more are dropped."""

    max_messages: Positive | None = None
    policy: BacklogPolicy = "drop_newest"


def check_backlog(max_messages: int | None, policy: BacklogPolicy) -> None:
    """Raises INVALID_CONFIG where a subscription could not be bounded so."""
    BacklogConfig(max_messages, policy)


class Subscription:
    """`queue` reads the partitions of `topic`; at most `max_messages` wait in it, None is "no limit"."""

    def __init__(
        self, topic: str, queue: Queue, max_messages: int | None = None, policy: BacklogPolicy = "drop_newest"
    ) -> None:
        """Raises INVALID_CONFIG."""
        check_backlog(max_messages, policy)
        self.topic = topic
        self.queue = queue
        self.max_messages = max_messages
        self.policy: BacklogPolicy = policy

    def appended(self, now_ns: int, partition: int, offset: int, count: int, client: str) -> int:
        """The topic has got `count` messages from `client`; how many of them found no room."""
        self.queue.appended(now_ns)
        if self.max_messages is None:
            return 0
        over = self.queue.ready + self.queue.delayed - self.max_messages
        if over <= 0:
            return 0
        if self.policy == "drop_oldest":
            self.queue.evict(now_ns, over, 0)
            return 0
        newest = range(offset + count - 1, offset - 1, -1)[:over]
        return sum(self.queue.turn_away(now_ns, partition, place, client) for place in newest)

    def gate_view(self) -> GateView | None:
        """The gauges of its backlog; None where it has no limit."""
        if self.max_messages is None:
            return None
        return GateView(
            target=self.queue.name,
            policy=self.policy,
            depth=self.queue.ready + self.queue.delayed,
            limit=self.max_messages,
            rate_limit_per_s=None,
            tokens=None,
            slowest=self.queue.name,
            blocked=(),
            blocked_ns_total=0,
            rejected=0,
            dropped=0,
            evicted=self.queue.counts.evicted,
        )


def subscribed(
    log: TopicPort,
    name: str,
    bin_log: TopicPort,
    events: EventStream,
    timers: Timers,
    config: QueueConfig,
    *,
    jitter: Callable[[], float],
    journal: Journal | None,
    from_end: bool = True,
) -> Queue:
    """A queue over the topic's log; its dead letters go into `bin_log`.

    It begins at the end of the log, or, to be restored, at its start.
    """
    config = msgspec.structs.replace(config, priorities=len(log.partitions), ageing_ms=_AT_ONCE_MS)
    queue = Queue(name, log, DeadLetters(bin_log, events), events, timers, config, jitter=jitter, journal=journal)
    for table in queue.levels.tables if from_end else ():
        table.skip_to(table.end_offset)
    return queue
