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
        self.done: list[Done | None] = [None] * len(self.steps)
        self._of_events: dict[int, Callable[[Occurrence], bool]] = {}
        self._of_states: dict[int, Callable[[Occurrence], bool]] = {}
        for number, step in enumerate(self.steps):
            if step.when:
                condition = parse(step.when, FIELDS)
                (self._of_states if only_state(condition) else self._of_events)[number] = tester(condition)
        self._state = SnapshotState(Snapshot(0, 0))

    @property
    def steps(self) -> tuple[Step, ...]:
        return () if self.lesson is None else self.lesson.steps

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

    def done_steps(self, by_ns: int | None = None) -> set[int]:
        """The numbers of the steps that this session has done, by a session time if it is given."""
        found = ((number, done) for number, done in enumerate(self.done) if done is not None)
        return {number for number, done in found if by_ns is None or done.time_ns <= by_ns}

    def done_texts(self) -> frozenset[str]:
        return frozenset(self.steps[number].text for number in self.done_steps())

    @property
    def current_step(self) -> Step | None:
        done = self.done_steps()
        return next((step for number, step in enumerate(self.steps) if number not in done), None)

    def did(self, command: str, time_ns: int) -> None:
        self._by_hand(lambda step: command in step.commands, time_ns)

    def selected(self, item_id: str, time_ns: int) -> None:
        kind = item_id.partition(":")[0]
        self._by_hand(lambda step: bool(step.select) and step.select in {item_id, kind}, time_ns)

    def _by_hand(self, fits: Callable[[Step], bool], time_ns: int) -> None:
        for number, step in enumerate(self.steps):
            if self.done[number] is None and fits(step):
                self.done[number] = Done(time_ns)
