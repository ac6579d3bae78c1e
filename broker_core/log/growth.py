"""Replies that come when a partition has grown: what a fetch waits for that is not a group's."""

from __future__ import annotations

from collections.abc import Iterable

from broker_core.replies import Reply
from broker_core.timers import Timers

TopicPartition = tuple[str, int]


class Growth:
    """Waits for partitions to grow. Readers look themselves at what there is."""

    def __init__(self, timers: Timers) -> None:
        self._timers = timers
        self._waiting: dict[TopicPartition, dict[Reply[None], None]] = {}

    def wait(self, partitions: Iterable[TopicPartition], deadline_ns: int) -> Reply[None]:
        """A reply that comes when one of `partitions` has something new to read, at the latest at `deadline_ns`."""
        reply: Reply[None] = Reply()
        chosen = tuple(partitions)
        for each in chosen:
            self._waiting.setdefault(each, {})[reply] = None
        timer = self._timers.at(deadline_ns, lambda _at: reply.resolve(None))

        def forget(_reply: Reply[None]) -> None:
            timer.cancel()
            for each in chosen:
                waiting = self._waiting[each]
                waiting.pop(reply, None)
                if not waiting:
                    del self._waiting[each]

        reply.then(forget)
        return reply

    def appended(self, topic: str, partition: int) -> None:
        """The partition has grown."""
        for reply in list(self._waiting.get((topic, partition), ())):
            reply.resolve(None)
