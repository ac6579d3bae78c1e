"""A fan-out subscription: a topic read as a queue of its own, with a bounded backlog.

Every subscriber has one, so that a slow one holds up nobody: what it has no room for is turned away from it alone,
the topic and the others keep it. What is handed straight over to somebody who waits never counts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import msgspec

from broker_core.clock import ns_from_ms
from broker_core.events import EventStream
from broker_core.queues.config import QueueConfig
from broker_core.queues.dead_letters import DeadLetters
from broker_core.queues.journal import Journal
from broker_core.queues.levels import TopicLevels
from broker_core.queues.log_port import TopicPort
from broker_core.queues.queue import Queue
from broker_core.settings import Positive, Settings
from broker_core.snapshots import GateView
from broker_core.timers import Timers

BacklogPolicy = Literal["block", "reject", "drop_newest", "drop_oldest", "priority_evict"]
HOLDS_UP: frozenset[BacklogPolicy] = frozenset({"block", "reject"})  # policies by which it holds up producers

# As earlier versions kept the settings of a subscription: one level a partition, which took turns by age.
_FORMER_AGEING_MS = 0.001


class BacklogConfig(Settings, frozen=True):
    """At most `max_messages` wait for a subscription, None is "no limit"; `policy` says what becomes of more.

    Under block and reject producers of the topic wait, or are refused, and nobody gets the message before all such
    subscriptions have room. The others drop it, or others in its place, from this subscription alone.
    """

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

    def obstacle(self, count: int) -> str:
        """Why producers have to wait for it with `count` messages, or are refused; "" where they have not."""
        if self.max_messages is None or self.policy not in HOLDS_UP:
            return ""
        waiting = self.queue.ready + self.queue.delayed
        # What is handed straight over to somebody who waits does not count.
        if waiting + count - self.queue.wanted <= self.max_messages:
            return ""
        return f"{self.queue.name} is full: {waiting} of {self.max_messages} messages wait for it"

    def never_fits(self, count: int) -> bool:
        """Whether it never has room for so many at once."""
        return self.max_messages is not None and self.policy in HOLDS_UP and count > self.max_messages

    def appended(self, now_ns: int, partition: int, offset: int, count: int, client: str) -> int:
        """The topic has got `count` messages from `client`; how many of them found no room."""
        self.queue.appended(now_ns)
        if self.max_messages is None or self.policy in HOLDS_UP:
            return 0
        over = self.queue.ready + self.queue.delayed - self.max_messages
        if over <= 0:
            return 0
        if self.policy == "drop_oldest":
            self.queue.evict(now_ns, over, 0)
            return 0
        if self.policy == "priority_evict":
            evicted = self.queue.evict_least_urgent(now_ns, over)
            return sum(level == partition and offset <= place < offset + count for level, place in evicted)
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
    room: Callable[[int], object] | None = None,
    from_end: bool = True,
) -> Queue:
    """A queue over the topic's log; its dead letters go into `bin_log`.

    It begins at the end of the log, or, to be restored, at its start.
    """
    if config.ageing_ms == _FORMER_AGEING_MS:
        config = msgspec.structs.replace(config, priorities=1, ageing_ms=None)
    ageing_ns = None if config.ageing_ms is None else ns_from_ms(config.ageing_ms)
    levels = TopicLevels(log.partitions, config.priorities, ageing_ns)
    letters = DeadLetters(bin_log, events)
    queue = Queue(name, log, letters, events, timers, config, jitter=jitter, room=room, journal=journal, levels=levels)
    for table in queue.levels.tables if from_end else ():
        table.skip_to(table.end_offset)
    return queue
