"""Queues and subscriptions, folded from events: what waits, what is leased, what is dead."""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter

import msgspec

from broker_core.clock import NS_PER_MS
from broker_core.events import RESET_OFFSETS, UNDO_PURGE, Event, EventKind
from broker_core.queues.config import RetryPolicy
from broker_core.recording.fold_topics import FoldedGates
from broker_core.snapshots import DeadLetterView, LeaseView, QueueView, WaitView

LeasePlace = tuple[int, int]  # partition, offset

LIKELY = 0.5  # of a delay that chance has drawn
_ATTEMPT_ENDS = frozenset({EventKind.NACKED, EventKind.LEASE_EXPIRED})

#: The dead letter at an offset of a dead-letter queue, with payload and attempts, if known.
FindLetter = Callable[[str, int], DeadLetterView | None]


def nobody_knows(_queue: str, _offset: int) -> DeadLetterView | None:
    """The letters that no keyframe holds."""
    return None


class FoldedQueue:
    """One queue while it is folded. Lists may begin incomplete, counts never do."""

    def __init__(self, view: QueueView) -> None:
        self._view = view
        self.topic = view.topic or view.name
        self.dead_letter_topic = view.dead_letter_topic
        self.subscription = self.topic != view.name
        self.waiting = view.ready + view.delayed  # to be taken, now or after a delay
        self._retry = msgspec.convert(msgspec.structs.asdict(view.retry), RetryPolicy)
        self._due: dict[LeasePlace, int | None] = {(wait.partition, wait.offset): wait.due_ns for wait in view.waits}
        self._unlisted = view.delayed - len(view.waits)  # delayed messages without a known due time
        self._in_flight = view.in_flight
        self.dead = view.dead
        self._counts = {name: getattr(view, name) for name in _COUNTED}
        self._leases = {(lease.partition, lease.offset): lease for lease in view.leases}
        self._letters = {letter.offset: letter for letter in view.dead_letters}
        self._gone: dict[int, DeadLetterView] = {}
        self._evicted = 0

    def came(self, count: int) -> None:
        """New, or ready again."""
        self.waiting += count

    def delivered(self, event: Event) -> None:
        self.waiting -= event.count
        self._in_flight += event.count
        if (event.attempt or 1) > 1:
            self._counts["redelivered"] += event.count
        view = self._view
        for place in self._places(event):
            self._due.pop(place, None)
            self._leases[place] = LeaseView(
                view.name,
                *place,
                event.key,
                event.client,
                event.time_ns,
                event.time_ns + view.lease_ms * NS_PER_MS,
                event.attempt or 1,
                view.max_attempts,
            )

    def ended(self, event: Event) -> None:
        self._in_flight -= event.count
        if event.kind is EventKind.ACKNOWLEDGED:
            self._counts["acknowledged"] += event.count
        else:
            self.waiting += event.count
        for place in self._places(event):
            self._leases.pop(place, None)
            self._wait(place, event)

    def _wait(self, place: LeasePlace, event: Event) -> None:
        attempt = event.attempt or 1
        if event.kind in _ATTEMPT_ENDS and attempt >= self._view.max_attempts > 0:
            # It waits for the dead-letter queue; an event follows when that has taken it, mostly at once.
            self._due[place] = None
        elif event.kind is EventKind.NACKED and (delay_ns := self._retry.delay_ns(attempt, LIKELY)):
            self._due[place] = event.time_ns + delay_ns

    def extended(self, event: Event) -> None:
        """Leases last longer: by a whole one, as events do not tell other lengths."""
        deadline_ns = event.time_ns + self._view.lease_ms * NS_PER_MS
        for place in self._places(event):
            lease = self._leases.get(place)
            if lease is not None and lease.has_limits:
                self._leases[place] = msgspec.structs.replace(lease, deadline_ns=deadline_ns)

    def taken_out(self, event: Event) -> None:
        if event.offset is None:
            return
        self.waiting -= event.count
        self._forget(event)
        if event.kind is EventKind.EVICTED:
            self._evicted += event.count

    def dead_lettered(self, event: Event) -> None:
        """A message became a dead letter, after its last attempt had ended."""
        self.waiting -= event.count
        self._forget(event)
        self._counts["dead_lettered"] += event.count
        self.dead += event.count
        if event.to_offset is None:
            return
        self.dead_letter_topic = self.dead_letter_topic or event.to_topic
        self._letters[event.to_offset] = DeadLetterView(
            queue=self._view.name,
            offset=event.to_offset,
            origin_topic=event.topic,
            origin_partition=-1 if event.partition is None else event.partition,
            origin_offset=-1 if event.offset is None else event.offset,
            key=event.key,
            value=None,
            headers=(),
            cause=event.cause,
            published_ns=event.published_ns or 0,
            dead_ns=event.time_ns,
            redrives=0,
            attempts=(),
        )

    def redriven(self, event: Event) -> None:
        self._counts["redriven"] += event.count
        self._remove_dead(event)
        if not self.subscription:  # a queue's log appends it without an event; for a topic there is a published event
            self.came(event.count)

    def purged(self, event: Event) -> None:
        if event.topic == self.topic:
            self.taken_out(event)
        else:
            self._remove_dead(event)

    def _remove_dead(self, event: Event) -> None:
        self.dead -= event.count
        offset = event.offsets.start
        letter = self._letters.pop(offset, None)
        if letter is not None:
            self._gone[offset] = letter

    def dead_letter_restored(self, offset: int, find: FindLetter, *, unseen: bool) -> bool:
        """Whether the dead letter that is back at `offset` is this queue's; an `unseen` one is counted."""
        letter = self._gone.pop(offset, None) or find(self._view.name, offset)
        if letter is not None:
            self._letters[offset] = letter
        if letter is not None or unseen:
            self.dead += 1
            return True
        return False

    def _whole(self, letter: DeadLetterView, find: FindLetter) -> DeadLetterView:
        known = find(self._view.name, letter.offset)
        return letter if known is None or known.dead_ns != letter.dead_ns else known

    def _forget(self, event: Event) -> None:
        for place in self._places(event):
            self._due.pop(place, None)

    def _places(self, event: Event) -> list[LeasePlace]:
        if event.partition is None or event.offset is None:
            return []
        return [(event.partition, offset) for offset in event.offsets]

    def view(self, time_ns: int, gates: FoldedGates, find: FindLetter) -> QueueView:
        waits = tuple(
            WaitView(*place, due_ns)
            for place, due_ns in sorted(self._due.items(), key=itemgetter(0))
            if due_ns is None or due_ns > time_ns
        )
        delayed = min(len(waits) + self._unlisted, self.waiting)
        depth = self.waiting if self.subscription else self.waiting + self._in_flight
        gate = gates.view(self._view.name, time_ns, depth, self._view.name)
        if gate is not None:
            gate = msgspec.structs.replace(gate, evicted=gate.evicted + self._evicted)
        return msgspec.structs.replace(
            self._view,
            ready=self.waiting - delayed,
            delayed=delayed,
            in_flight=self._in_flight,
            dead=self.dead,
            leases=tuple(lease for _, lease in sorted(self._leases.items())),
            waits=waits,
            dead_letters=tuple(self._whole(letter, find) for _, letter in sorted(self._letters.items())),
            gate=gate,
            **self._counts,
        )


_COUNTED = ("acknowledged", "redelivered", "dead_lettered", "redriven")
_TAKEN: dict[EventKind, Callable[[FoldedQueue, Event], object]] = {
    **dict.fromkeys((EventKind.NACKED, EventKind.RELEASED, EventKind.LEASE_EXPIRED), FoldedQueue.ended),
    **dict.fromkeys((EventKind.EVICTED, EventKind.EXPIRED, EventKind.DAMAGE), FoldedQueue.taken_out),
    EventKind.DEAD_LETTERED: FoldedQueue.dead_lettered,
    EventKind.REDRIVEN: FoldedQueue.redriven,
    EventKind.PURGED: FoldedQueue.purged,
    EventKind.LEASE_EXTENDED: FoldedQueue.extended,
}


class FoldedQueues:
    """All queues by name."""

    def __init__(self, queues: tuple[QueueView, ...], find: FindLetter) -> None:
        self.by_name = {view.name: FoldedQueue(view) for view in queues}
        self._of_topic: dict[str, list[FoldedQueue]] = {}
        self._find = find
        for queue in self.by_name.values():
            self._of_topic.setdefault(queue.topic, []).append(queue)
        self.handlers: dict[EventKind, Callable[[Event], object]] = {
            EventKind.PUBLISHED: self._published,
            EventKind.QUEUE_CREATED: self._created,
            **dict.fromkeys(_TAKEN, self._taken),
            EventKind.USER_ACTION: self._undone,
        }

    def _published(self, event: Event) -> None:
        for queue in self._of_topic.get(event.topic, ()):
            queue.came(event.count)

    def remove(self, name: str) -> bool:
        queue = self.by_name.pop(name, None)
        if queue is None:
            return False
        self._of_topic[queue.topic].remove(queue)
        return True

    def has_subscription(self, topic: str) -> bool:
        return any(queue.subscription for queue in self._of_topic.get(topic, ()))

    def _created(self, event: Event) -> None:
        name = event.group or event.topic
        # Events do not hold settings: 0 is "not known" until the next keyframe.
        view = QueueView(name, event.count, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, (), (), None, topic=event.topic)
        queue = self.by_name[name] = FoldedQueue(view)
        self._of_topic.setdefault(queue.topic, []).append(queue)

    def _taken(self, event: Event) -> None:
        if (queue := self.by_name.get(event.group)) is not None:
            _TAKEN[event.kind](queue, event)

    def _undone(self, event: Event) -> None:
        offsets = event.told.get("offsets")
        if event.cause in {UNDO_PURGE, "undo redrive"} and isinstance(offsets, list):
            sharing = [queue for queue in self.by_name.values() if queue.dead_letter_topic == event.topic]
            for offset in offsets:
                any(
                    queue.dead_letter_restored(int(offset), self._find, unseen=queue is sharing[-1])
                    for queue in sharing
                )
        elif event.cause in {UNDO_PURGE, RESET_OFFSETS} and event.group in self.by_name:
            self.by_name[event.group].came(event.count)

    def views(self, time_ns: int, gates: FoldedGates) -> tuple[QueueView, ...]:
        return tuple(queue.view(time_ns, gates, self._find) for queue in self.by_name.values())
