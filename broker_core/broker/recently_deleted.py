"""What was deleted a short while ago: kept as it was, so that a person can have it back."""

from __future__ import annotations

from typing import Any

import msgspec

from broker_core.broker.schemas import BrokerSchemas
from broker_core.broker.state import Topic
from broker_core.broker.views import BrokerViews
from broker_core.clock import ns_from_ms
from broker_core.errors import BrokerError, ErrorCode
from broker_core.groups.offsets import OffsetAndMetadata
from broker_core.queues.dead_letters import DeadLetters
from broker_core.queues.queue import Queue
from broker_core.queues.subscription import Subscription
from broker_core.snapshots import Totals
from broker_core.timers import Timer

Committed = tuple[tuple[str, str, int, OffsetAndMetadata], ...]


class Bygone(msgspec.Struct):
    """A deleted topic, queue or subscription: its logs by name, and whatever else it needs to be what it was."""

    topics: dict[str, Topic]
    letters: DeadLetters | None = None  # of a topic whose schema dead-letters
    queue: Queue | None = None
    subscription: Subscription | None = None
    committed: Committed = ()
    totals: Totals = Totals()
    timer: Timer | None = None


class BrokerBygones(BrokerSchemas, BrokerViews):
    """Deleted things wait here for `undo_window_ms`; then, or when their name is wanted again, their files go."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """As `BrokerState`."""
        super().__init__(*args, **kwargs)
        self._bygones: dict[str, Bygone] = {}

    def why_not_restored(self, name: str) -> str:
        """Why `restore_deleted` cannot bring `name` back; "" where it can."""
        found = self._bygones.get(name)
        if found is None:
            return f"{name} was deleted too long ago, or not at all"
        if found.subscription is not None and found.subscription.topic not in self._topics:
            return f"{name} reads {found.subscription.topic}, which is deleted; bring that back first"
        if found.subscription is not None and found.queue is not None:
            read = self._topics[found.subscription.topic].log.partitions
            if found.queue.levels.tables[0].log not in read:
                return f"{name} read another {found.subscription.topic}, which is gone"
        taken = [each for each in (name, *found.topics) if each in self._topics or each in self._queues]
        return f"there is another {taken[0]} by now" if taken else ""

    def _keep(self, now_ns: int, name: str, bygone: Bygone, undo_window_ms: float) -> None:
        """`bygone`, which is out of everybody's sight already, can be brought back for that long."""
        if undo_window_ms <= 0:
            self._bury_files(bygone)
            return
        self._bygones[name] = bygone
        bygone.timer = self._timers.at(now_ns + ns_from_ms(undo_window_ms), lambda _at: self._forget(name))

    def _take_back(self, name: str) -> Bygone:
        """What was kept of `name`, in everybody's sight again. Raises INVALID_REQUEST."""
        if why := self.why_not_restored(name):
            raise BrokerError(ErrorCode.INVALID_REQUEST, why)
        found = self._bygones.pop(name)
        if found.timer is not None:
            found.timer.cancel()
        for each, topic in found.topics.items():
            self._topics[each] = topic
        self.revision += 1
        if found.letters is not None:
            self._bins[name] = found.letters
        if found.queue is not None:
            self._queues[name] = found.queue
        if found.subscription is not None:
            self._subscriptions[name] = found.subscription
        for group, read, partition, value in found.committed:
            self._offsets.commit(group, read, partition, value.offset, value.metadata, value.leader_epoch)
        self._former = _plus(self._former, found.totals, -1)
        return found

    def is_kept_queue(self, name: str) -> bool:
        """Whether `name`, which can be brought back, is a queue or a subscription."""
        found = self._bygones.get(name)
        return found is not None and found.queue is not None

    def _note_former(self, before: Totals, bygone: Bygone) -> None:
        """What was counted of it stays counted."""
        bygone.totals = _plus(before, self.totals(), -1)
        self._former = _plus(self._former, bygone.totals, 1)

    def count_from_now(self) -> None:
        """Totals begin at nothing: what queues have counted before a restart is told of them alone."""
        self._former = _plus(self._former, self.totals(), -1)

    def _committed_in(self, topic: str) -> Committed:
        return tuple(
            (group, topic, partition, value)
            for group in sorted(self._offsets.groups_of(topic))
            for (name, partition), value in sorted(self._offsets.fetch_all(group).items())
            if name == topic
        )

    def _check_new(self, name: str) -> None:
        super()._check_new(name)
        # Its files would be in the way.
        for kept, bygone in list(self._bygones.items()):
            if any(name.lower() == each.lower() for each in (kept, *bygone.topics)):
                self._forget(kept)

    def _forget(self, name: str) -> None:
        bygone = self._bygones.pop(name)
        if bygone.timer is not None:
            bygone.timer.cancel()
        self._bury_files(bygone)

    def _forget_all(self) -> None:
        for name in list(self._bygones):
            self._forget(name)

    @staticmethod
    def _bury_files(bygone: Bygone) -> None:
        for topic in bygone.topics.values():
            topic.log.remove()


def _plus(one: Totals, other: Totals, times: int) -> Totals:
    fields: dict[str, Any] = {
        name: getattr(one, name) + times * getattr(other, name) for name in Totals.__struct_fields__
    }
    return Totals(**fields)
