"""Topics, groups and queues, moved on by events: what the state at a moment and the levels over time are read from."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from broker_core.events import Event, EventKind
from broker_core.recording.fold_groups import FoldedGroups
from broker_core.recording.fold_queues import FindLetter, FoldedQueues, nobody_knows
from broker_core.recording.fold_topics import Bounds, FoldedGates, FoldedTopics
from broker_core.snapshots import Snapshot

_HANDED_OVER = frozenset({EventKind.ACKNOWLEDGED, EventKind.DELIVERED, EventKind.PASSED_OVER})
_BACK = frozenset({EventKind.NACKED, EventKind.RELEASED, EventKind.LEASE_EXPIRED})


class FoldedBroker:
    """The broker after `keyframe` and each event that is `add`ed. Grows with its contents, not with its past."""

    def __init__(self, keyframe: Snapshot, find_letter: FindLetter = nobody_knows) -> None:
        """`find_letter(queue, offset)` knows the payloads and attempts of dead letters."""
        gates = [topic.gate for topic in keyframe.topics] + [queue.gate for queue in keyframe.queues]
        self.gates = FoldedGates(gates, keyframe.time_ns)
        self.topics = FoldedTopics(keyframe.topics, self.gates, keyframe.transactions)
        self.groups = FoldedGroups(keyframe, self.topics)
        self.queues = FoldedQueues(keyframe.queues, find_letter)
        self._handlers: dict[EventKind, list[Callable[[Event], object]]] = {}
        own: dict[EventKind, Callable[[Event], object]] = {
            EventKind.USER_ACTION: self._user_action,
            EventKind.TOPIC_DELETED: self._topic_deleted,
        }
        for handlers in (self.gates.handlers, self.topics.handlers, self.groups.handlers, self.queues.handlers, own):
            for kind, handler in handlers.items():
                self._handlers.setdefault(kind, []).append(handler)

    def add(self, event: Event) -> None:
        kind = event.kind
        if kind is EventKind.PUBLISHED:
            self.topics.published(event)
            self.queues.published(event.topic, event.count)
        elif kind in _HANDED_OVER:
            self._hand_over(event)
        elif kind in _BACK:
            queue = self.queues.find(event.group)
            if queue is not None:
                queue.ended(event)
        else:
            for handler in self._handlers.get(kind, ()):
                handler(event)

    def _hand_over(self, event: Event) -> None:
        delivered = EventKind.ACKNOWLEDGED not in {event.kind, event.cause}
        queue = self.queues.find(event.group)
        if queue is not None:
            (queue.delivered if delivered else queue.ended)(event)
            return
        group = self.groups.find(event.group) or (None if delivered else self.groups.found(event))
        if group is not None:
            (group.delivered if delivered else group.acknowledged)(event)

    def deepest(self, topic: str, bounds: Sequence[Bounds]) -> tuple[int, str]:
        """As the gate of `topic` counts it: see `FoldedGroups.deepest`; subscriptions have limits of their own."""
        depth, slowest = self.groups.deepest(topic, bounds)
        return (depth, slowest) if slowest or not self.queues.has_subscription(topic) else (0, "")

    def _topic_deleted(self, event: Event) -> None:
        if not self.queues.remove(event.group or event.topic):
            self.topics.remove(event.topic)
            for _, group in self.groups.items():
                group.forget(event.topic)

    def _user_action(self, event: Event) -> None:
        if event.told.get("action") == "create_group":
            self.groups.create(str(event.told.get("group", "")), event.time_ns)
