"""Replies that are settled when a partition grows, for fetches without a group."""

from __future__ import annotations

from collections.abc import Iterable

from broker_core.messages import TopicPartition
from broker_core.replies import Reply
from broker_core.timers import Timers


class Growth:
    """Waits for partitions to grow. Readers check for messages themselves."""

    def __init__(self, timers: Timers) -> None:
        self._timers = timers
        self._waiting: dict[TopicPartition, dict[Reply[None], None]] = {}

    def wait(self, partitions: Iterable[TopicPartition], deadline_ns: int) -> Reply[None]:
        """A reply that is settled when one of `partitions` grows, or at `deadline_ns`."""
        reply: Reply[None] = Reply()
        chosen = dict.fromkeys(partitions)  # a fetch session may name a topic by an old and its new id
        for each in chosen:
            self._waiting.setdefault(each, {})[reply] = None
        timer = self._timers.at_end_of_wait(deadline_ns, lambda _at: reply.resolve(None))

        def forget(_reply: Reply[None]) -> None:
            timer.cancel()
            for each in chosen:
                waiting = self._waiting[each]
                waiting.pop(reply, None)
                if not waiting:
                    del self._waiting[each]

        reply.then(forget)
        return reply

    def removed(self, topic: str) -> None:
        for place in [place for place in self._waiting if place[0] == topic]:
            self.appended(*place)

    def appended(self, topic: str, partition: int) -> None:
        for reply in list(self._waiting.get((topic, partition), ())):
            reply.resolve(None)
