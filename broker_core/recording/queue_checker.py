"""The history checker's rules of queues: one holder for each message, attempts that count up, dead letters, depths."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from broker_core.events import RESET_OFFSETS, Event, EventKind
from broker_core.recording.checked_history import CheckedHistory
from broker_core.recording.violation import MAX_HISTORY
from resources.account import STATES

LeasePlace = tuple[str, str, int, int]


class QueueChecker:
    """`rules` are those of events that concern queues alone; the others are asked by `Checker`."""

    def __init__(self, history: CheckedHistory, max_attempts: dict[str, int], max_depth: dict[str, int]) -> None:
        """`max_attempts` and `max_depth` are limits of queues, and may grow."""
        self._history = history
        self._max_attempts, self.max_depth = max_attempts, max_depth
        self._attempts: Counter[LeasePlace] = Counter()
        self._is_dead_letter: dict[tuple[str, int | None], bool] = {}  # by dead letter queue and offset
        self._dead_letter_queue_of: dict[str, str] = {}
        self.rules: dict[EventKind, Callable[[Event], object]] = {
            EventKind.REDRIVEN: self.redriven,
            **dict.fromkeys((EventKind.NACKED, EventKind.LEASE_EXPIRED, EventKind.RELEASED), self.gives_back),
            EventKind.LEASE_EXTENDED: self.held,
            EventKind.DEAD_LETTERED: self.dead_lettered,
            EventKind.PURGED: self.purged,
        }

    def created_anew(self, name: str, *, is_queue: bool) -> None:
        """Forget what is known of a topic, or of a queue of that name."""
        self._max_attempts.pop(name, None)
        self.max_depth.pop(name, None)
        known: list[dict[Any, Any]] = [self._attempts, self._is_dead_letter]
        for each in known if is_queue else [*known, self._history.ends]:
            for key in [key for key in each if key[0] in {name, self._dead_letter_queue_of.get(name, name)}]:
                del each[key]

    def published(self, event: Event) -> None:
        limit = self.max_depth.get(event.topic)
        # What goes beside the gate, as a redrive does, may lift it above; then nothing more is let in.
        if limit is not None and (depth := self._depth(event.topic) + event.count) > limit:
            told = f"{event.topic} holds {depth} messages, but its limit is {limit}"
            self._history.fail(told, event, history=self._waiting(event.topic))

    def _depth(self, queue: str) -> int:
        states = self._history.account.delivery_states
        ends = [(place, end) for place, end in self._history.ends.items() if place[0] == queue]
        found = [each for place, end in ends for each in states(queue, place, 0, end)]
        return sum(stop - first for first, stop, delivery in found if STATES[delivery.state].open)

    def _waiting(self, queue: str) -> list[Event]:
        states = self._history.delivery_states
        came = [event for event in self._history.events if event.kind is EventKind.PUBLISHED and event.topic == queue]
        there = [event for event in came if any(STATES[delivery.state].open for _, _, delivery in states(event, queue))]
        return there[-MAX_HISTORY:]

    def leased(self, event: Event) -> None:
        for offset, _, delivery in self._history.delivery_states(event):
            if not STATES[delivery.state].open:
                self._history.fail(f"{event.topic} delivers {offset}, which is finished", event, offset)
            if delivery.state == "in_hand":
                self._history.fail(
                    f"{event.topic} hands {offset} to {event.client} while {delivery.client} holds it", event, offset
                )
        for offset in event.offsets:
            place = (event.group, *event.place, offset)
            self._attempts[place] += 1
            if event.attempt != self._attempts[place]:
                told = f"{event.topic} counts delivery {self._attempts[place]} of {offset} as attempt {event.attempt}"
                self._history.fail(told, event, offset)

    def held(self, event: Event) -> None:
        for offset, _, delivery in self._history.delivery_states(event):
            if delivery.state != "in_hand" or delivery.client != event.client:
                holder = delivery.client if delivery.state == "in_hand" else "nobody"
                self._history.fail(f"{event.client} ends the lease of {offset}, which {holder} holds", event, offset)

    def gives_back(self, event: Event) -> None:
        self.held(event)
        if event.kind is EventKind.RELEASED:
            self._attempts.subtract((event.group, *event.place, offset) for offset in event.offsets)

    def dead_lettered(self, event: Event) -> None:
        limit = self._max_attempts.get(event.group)
        # One that a schema kept out of its topic was never stored there.
        for offset, _, delivery in self._history.delivery_states(event) if event.offset is not None else ():
            if not STATES[delivery.state].open:
                self._history.fail(f"{offset} is dead-lettered after it was finished", event, offset)
        for offset in event.offsets if event.offset is not None else ():
            attempts = self._attempts[event.group, *event.place, offset]
            if limit is not None and attempts > limit:
                self._history.fail(f"{offset} was tried {attempts} times, {limit} are allowed", event, offset)
        if self._is_dead_letter.get((event.to_topic, event.to_offset)):
            told = f"two dead letters lie at {event.to_offset} of {event.to_topic}"
            self._history.fail(told, event, topic=event.to_topic)
        self._is_dead_letter[event.to_topic, event.to_offset] = True
        self._dead_letter_queue_of[event.group] = event.to_topic

    def redriven(self, event: Event) -> None:
        if not self._is_dead_letter.get((event.topic, event.offset)):
            self._history.fail(f"a dead letter that is not in {event.topic} is redriven", event)
        self._is_dead_letter[event.topic, event.offset] = False
        if self._history.account.queues.get(event.group, event.group) == event.group:
            assert event.to_partition is not None
            self._history.append(event, (event.to_topic, event.to_partition), event.to_offset)
        # What a subscription redrives is published to its topic, with a published event.

    def purged(self, event: Event) -> None:
        for offset in [offset for offset in event.offsets if self._is_dead_letter.get((event.topic, offset))]:
            self._is_dead_letter[event.topic, offset] = False

    def undone(self, event: Event) -> None:
        """A purge or a redrive was undone, or the offsets reset: what was finished is ready again."""
        for offset in event.told.get("offsets") or ():
            self._is_dead_letter[event.topic, offset] = True
        if event.cause == RESET_OFFSETS:  # as never delivered
            for partition, first, end in event.told.get("runs", ()):
                for offset in range(first, end):
                    self._attempts.pop((event.group, event.topic, partition, offset), None)
