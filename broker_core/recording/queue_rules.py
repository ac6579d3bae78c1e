"""The checker's rules for queues: one holder for each message, attempts that count up, dead letters, depths."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable

from broker_core.events import Event, EventKind
from broker_core.queues.queue_events import RESET_OFFSETS
from broker_core.recording.violation import MAX_HISTORY, Violation, shortest

Place = tuple[str, int]
LeasePlace = tuple[str, str, int, int]


class _Lease:
    """Where one message of a queue stands."""

    __slots__ = ("attempts", "finished", "holder")

    def __init__(self) -> None:
        self.holder = ""
        self.attempts = 0
        self.finished = False


class QueueRules:
    """Raises `Violation` where a queue, a fan-out subscription or a dead-letter queue breaks a promise."""

    def __init__(self, max_attempts: dict[str, int], max_depth: dict[str, int]) -> None:
        self._events: list[Event] = []
        self._deleted_to: dict[Place, int] = defaultdict(int)  # the first offset of each partition that is there
        self._ends: dict[Place, int] = defaultdict(int)  # the next offset of each partition
        self._max_attempts = max_attempts
        self._max_depth = max_depth
        self._depths: dict[str, int] = defaultdict(int)
        # What each queue, or fan-out subscription, reads, and the offset of each partition at which it began.
        self._queues: dict[str, tuple[str, dict[int, int]]] = {}
        self._leases: dict[LeasePlace, _Lease] = defaultdict(_Lease)
        self._letters: dict[tuple[str, int | None], bool] = {}
        self._bins: dict[str, str] = {}

    def _queue_rules(self) -> dict[EventKind, Callable[[Event], None]]:
        return {
            EventKind.PUBLISHED: self._published,
            EventKind.REDRIVEN: self._redriven,
            EventKind.NACKED: self._gives_back,
            EventKind.LEASE_EXPIRED: self._gives_back,
            EventKind.RELEASED: self._released,
            EventKind.LEASE_EXTENDED: self._extended,
            EventKind.DEAD_LETTERED: self._dead_lettered,
            EventKind.EXPIRED: self._taken_out,
            EventKind.EVICTED: self._taken_out,
            EventKind.DAMAGE: self._taken_out,
            EventKind.PURGED: self._purged,
        }

    # -- in

    def _queue_created(self, event: Event) -> None:
        starts = {partition: end for (topic, partition), end in self._ends.items() if topic == event.topic}
        self._queues[event.group or event.topic] = (event.topic, starts)

    def _published(self, event: Event) -> None:
        self._append(event, event.topic, event.partition, event.offset)
        limit = self._max_depth.get(event.topic)
        depth = self._depths[event.topic]
        # What goes beside the gate, as a redrive does, may lift it above; then nothing more is let in.
        if limit is not None and depth > limit:
            self._fail(
                f"{event.topic} holds {depth} messages, and takes {limit}", event, history=self._waiting(event.topic)
            )

    def _append(self, event: Event, topic: str, partition: int | None, offset: int | None) -> None:
        assert partition is not None
        assert offset is not None
        place = (topic, partition)
        if offset != self._ends[place]:
            self._fail(f"{topic}/{partition} goes on at {offset}, not at {self._ends[place]}", event, topic)
        self._ends[place] = offset + max(1, event.count)
        if topic in self._queues:
            self._depths[topic] += max(1, event.count)

    def _records_gone(self, event: Event) -> None:
        assert event.partition is not None
        assert event.offset is not None
        self._deleted_to[event.topic, event.partition] = event.offset + event.count
        for queue, (topic, starts) in self._queues.items():
            if topic == event.topic:
                for offset in range(max(event.offset, starts.get(event.partition, 0)), event.offset + event.count):
                    lease = self._leases[queue, topic, event.partition, offset]
                    # Its holder may still end the lease.
                    if not lease.holder:
                        self._finish(queue, lease)

    def _waiting(self, queue: str) -> list[Event]:
        """How the last of what is in `queue` came there."""
        came = [event for event in self._events if event.kind is EventKind.PUBLISHED and event.topic == queue]
        leases = ((event, self._leases.get((queue, queue, event.partition or 0, event.offset or 0))) for event in came)
        return [event for event, lease in leases if lease is None or not lease.finished][-MAX_HISTORY:]

    # -- leases

    def _leased(self, event: Event, offset: int) -> None:
        lease = self._leases[self._message(event, offset)]
        if lease.finished:
            self._fail(f"{event.topic} hands out {offset}, which is finished", event, event.topic, offset)
        if lease.holder:
            self._fail(
                f"{event.topic} hands {offset} to {event.client} while {lease.holder} holds it",
                event,
                event.topic,
                offset,
            )
        lease.attempts += 1
        if event.attempt != lease.attempts:
            self._fail(
                f"{event.topic} counts delivery {lease.attempts} of {offset} as attempt {event.attempt}",
                event,
                event.topic,
                offset,
            )
        lease.holder = event.client

    def _held(self, event: Event, offset: int) -> _Lease:
        lease = self._leases[self._message(event, offset)]
        if lease.holder != event.client:
            holder = lease.holder or "nobody"
            self._fail(f"{event.client} ends the lease of {offset}, which {holder} holds", event, event.topic, offset)
        return lease

    def _finish(self, queue: str, lease: _Lease) -> None:
        self._depths[queue] -= not lease.finished
        lease.holder, lease.finished = "", True

    def _gives_back(self, event: Event) -> None:
        for offset in self._offsets(event):
            self._held(event, offset).holder = ""

    def _extended(self, event: Event) -> None:
        for offset in self._offsets(event):
            self._held(event, offset)

    def _ended(self, event: Event) -> None:
        for offset in self._offsets(event):
            self._finish(event.group, self._held(event, offset))

    def _released(self, event: Event) -> None:
        for offset in self._offsets(event):
            lease = self._held(event, offset)
            lease.holder = ""
            lease.attempts -= 1

    def _dead_lettered(self, event: Event) -> None:
        limit = self._max_attempts.get(event.group)
        # One that a schema kept out of its topic was never stored there.
        for offset in self._offsets(event) if event.offset is not None else ():
            lease = self._leases[self._message(event, offset)]
            if lease.finished:
                self._fail(f"{offset} is dead-lettered after it was finished", event, event.topic, offset)
            if limit is not None and lease.attempts > limit:
                self._fail(
                    f"{offset} was tried {lease.attempts} times, {limit} are allowed", event, event.topic, offset
                )
            self._finish(event.group, lease)
        if self._letters.get((event.to_topic, event.to_offset)):
            self._fail(f"two dead letters lie at {event.to_offset} of {event.to_topic}", event, event.to_topic)
        self._letters[event.to_topic, event.to_offset] = True
        self._bins[event.group] = event.to_topic

    def _redriven(self, event: Event) -> None:
        if not self._letters.get((event.topic, event.offset)):
            self._fail(f"a dead letter that is not in {event.topic} is redriven", event, event.topic, event.offset)
        self._letters[event.topic, event.offset] = False
        if self._queues.get(event.group, (event.group,))[0] == event.group:
            self._append(event, event.to_topic, event.to_partition, event.to_offset)
        # What a subscription redrives is published to its topic, with a published event.

    def _taken_out(self, event: Event) -> None:
        if event.partition is None or event.offset is None or event.group not in self._queues:
            return
        for offset in self._offsets(event):
            self._finish(event.group, self._leases[self._message(event, offset)])

    def _purged(self, event: Event) -> None:
        letters = [offset for offset in self._offsets(event) if self._letters.get((event.topic, offset))]
        for offset in letters:
            self._letters[event.topic, offset] = False
        if not letters:
            self._taken_out(event)

    def _undone(self, event: Event) -> None:
        """A purge or a redrive was undone, or the offsets reset: what was finished is ready again."""
        detail = event.detail or {}
        for offset in detail.get("offsets") or ():
            self._letters[event.topic, offset] = True
        for partition, first, end in detail.get("runs", ()):
            for offset in range(first, end):
                place = event.group, event.topic, partition, offset
                if event.cause == RESET_OFFSETS:
                    self._leases.pop(place, None)  # as never delivered
                else:
                    self._leases[place].finished = False
            self._depths[event.group] += end - first

    @staticmethod
    def _message(event: Event, offset: int) -> LeasePlace:
        assert event.partition is not None
        return event.group, event.topic, event.partition, offset

    @staticmethod
    def _offsets(event: Event) -> range:
        assert event.offset is not None
        return range(event.offset, event.offset + event.count)

    def _fail(
        self,
        promise: str,
        event: Event | None,
        topic: str = "",
        offset: int | None = None,
        history: Iterable[Event] | None = None,
        *,
        is_loss: bool = False,
    ) -> None:
        if history is None:
            history = shortest(self._events, event, topic or (event.topic if event else ""), offset)
        raise Violation(promise, history, is_loss=is_loss)
