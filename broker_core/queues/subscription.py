"""A fan-out subscription: a topic that is read as a queue, with a bounded backlog.

Each subscriber has its own, so that a slow one does not affect others: messages beyond its limit are evicted from its
subscription only. Messages that are delivered at once to a waiting consumer do not count.
"""

from __future__ import annotations

import msgspec

from broker_core.queues.queue import Queue
from broker_core.settings import LimitPolicy, Positive, Settings
from broker_core.snapshots import GateView

HOLDS_UP: frozenset[LimitPolicy] = frozenset({"block", "reject"})  # policies that stop producers


def subscription_name(reader: str, topic: str) -> str:
    """The name of the subscription of a share group, or of a reader of several topics, to `topic`."""
    return f"{reader}.{topic}"


class BacklogConfig(Settings, frozen=True):
    """The backlog of a subscription: at most `max_messages`, None is no limit.

    With the policies block and reject, producers of the topic wait or are refused until all such subscriptions have
    space. The other policies evict the new message, or older ones, from this subscription only.
    """

    max_messages: Positive | None = None
    policy: LimitPolicy = "drop_newest"


class Subscription(msgspec.Struct, eq=False):
    """`queue` reads the partitions of `topic`; for the rest see `BacklogConfig`."""

    topic: str
    queue: Queue
    max_messages: int | None
    policy: LimitPolicy
    is_shared: bool = False  # by the members of a share group

    def obstacle(self, count: int) -> str:
        """The cause why `count` messages cannot be admitted; "" if there is space."""
        if self.max_messages is None or self.policy not in HOLDS_UP:
            return ""
        waiting = self.queue.ready + self.queue.delayed
        # Messages for waiting consumers do not count.
        if waiting + count - self.queue.wanted <= self.max_messages:
            return ""
        return f"{self.queue.name} is full: {waiting} of {self.max_messages} messages wait for it"

    def never_fits(self, count: int) -> bool:
        """Whether `count` messages exceed the limit even of an empty backlog."""
        return self.max_messages is not None and self.policy in HOLDS_UP and count > self.max_messages

    def appended(self, now_ns: int, partition: int, offset: int, count: int, client: str) -> int:
        """The topic has `count` new messages from `client`. Returns how many of them were evicted here."""
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
        if self.max_messages is None:
            return None
        return GateView(
            target=self.queue.name,
            policy=self.policy,
            depth=self.queue.ready + self.queue.delayed,
            limit=self.max_messages,
            slowest=self.queue.name,
            evicted=self.queue.counts.evicted,
        )
