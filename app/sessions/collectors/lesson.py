from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from app.sessions.event_text import event_line
from broker_core.broker.occurrences import FIELDS, Occurrence, SnapshotState, occurrences, only_state, tester
from broker_core.events import Event
from broker_core.filters import parse
from broker_core.simulation.lesson import Lesson, Step
from broker_core.snapshots import Snapshot


class Done(NamedTuple):
    """When a step was done, in session ns, and the event that did it; "" for a state or a command of the window."""

    time_ns: int
    by: str = ""


class LessonCollector:
    """A sink of the event stream and of keyframes; called by the engine's thread, read by the window's.

    Conditions on the state alone are asked of each keyframe, all others of each event with the last keyframe's state.
    """

    def __init__(self, lesson: Lesson | None = None) -> None:
        self.lesson = lesson
        steps = () if lesson is None else lesson.steps
        self.done: list[Done | None] = [None] * len(steps)
        self._of_events: dict[int, Callable[[Occurrence], bool]] = {}
        self._of_states: dict[int, Callable[[Occurrence], bool]] = {}
        for number, step in enumerate(steps):
            if step.when:
                condition = parse(step.when, FIELDS)
                (self._of_states if only_state(condition) else self._of_events)[number] = tester(condition)
        self._state = SnapshotState(Snapshot(0, 0))

    def __call__(self, event: Event) -> None:
        if not self._of_events:
            return
        asked = list(occurrences(event, self._state))
        met = [number for number, fits in self._of_events.items() if any(fits(each) for each in asked)]
        for number in met:
            del self._of_events[number]
            self.done[number] = self.done[number] or Done(event.time_ns, event_line(event))

    def keyframe(self, snapshot: Snapshot) -> None:
        """Take the state at a moment, after the events before it."""
        self._state = SnapshotState(snapshot)
        state = Occurrence(None, "", self._state)
        met = [number for number, fits in self._of_states.items() if fits(state)]
        for number in met:
            del self._of_states[number]
            self.done[number] = self.done[number] or Done(snapshot.time_ns)

    def did(self, command: str, time_ns: int) -> None:
        self._by_hand(lambda step: command in step.commands, time_ns)

    def selected(self, item_id: str, time_ns: int) -> None:
        kind = item_id.partition(":")[0]
        self._by_hand(lambda step: bool(step.select) and step.select in {item_id, kind}, time_ns)

    def _by_hand(self, fits: Callable[[Step], bool], time_ns: int) -> None:
        for number, step in enumerate(() if self.lesson is None else self.lesson.steps):
            if self.done[number] is None and fits(step):
                self.done[number] = Done(time_ns)
