"""Reruns: a scenario, its seed and the user's actions give the same events, to the byte."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from broker_core.events import Event, EventStream
from broker_core.simulation.actions import UserAction
from broker_core.simulation.simulation import Simulation


class RecordedAction(msgspec.Struct, frozen=True):
    """A user's action at `time_ns`, after `step` steps of the loop (None: after all that were due then)."""

    time_ns: int
    action: UserAction
    step: int | None = None


def recorded_action(time_ns: int, plain: Mapping[str, Any]) -> RecordedAction:
    """The action in the plain values that a recording keeps. Raises `msgspec.ValidationError` for anything else."""
    fields = dict(plain)
    step = fields.pop("step", None)
    return RecordedAction(time_ns, msgspec.convert(fields, UserAction), step)


STEPS_PER_LOOK = 8


class Rerun:
    """A run that is done again up to a moment, in as many pieces as one likes; `simulation` has been started.

    It stops after the first `until_events` events, if they are given, or when all that is due at `until_ns` is done.
    """

    def __init__(
        self,
        simulation: Simulation,
        actions: Iterable[RecordedAction],
        *,
        until_ns: int,
        until_events: int | None = None,
        before: Callable[[RecordedAction], object] = lambda _recorded: None,
    ) -> None:
        """`before(recorded)` is called right before each of `actions` is done."""
        self._before = before
        self._simulation = simulation
        self._actions = [recorded for recorded in actions if recorded.time_ns <= until_ns]
        self._place = 0
        self._until_ns = until_ns
        self._until_events = until_events

    def go_on(self, enough: Callable[[], bool]) -> bool:
        """Go on until it is done: True; or until `enough()`, which is asked every few steps: False.

        Raises what `Simulation.perform` raises where an action cannot be done: then it was another run.
        """
        while self._place < len(self._actions):
            recorded = self._actions[self._place]
            if not self._advance(recorded.time_ns, recorded.step, enough):
                return False
            if self._there():
                return True
            self._before(recorded)
            self._simulation.perform(recorded.action)
            self._place += 1
        return self._advance(self._until_ns, None, enough)

    def _there(self) -> bool:
        return self._until_events is not None and self._simulation.events.count >= self._until_events

    def _advance(self, time_ns: int, step: int | None, enough: Callable[[], bool]) -> bool:
        loop = self._simulation.loop
        while not enough():
            for _ in range(STEPS_PER_LOOK):
                if self._there():
                    return True
                if (step is not None and loop.steps >= step) or not loop.run_next(time_ns):
                    loop.advance_to(time_ns)
                    return True
        return False


class EventDigest:
    """A sink that keeps a SHA-256 of all events, with every field, in their order."""

    def __init__(self, stream: EventStream) -> None:
        self._hash = hashlib.sha256()
        self._encode = msgspec.json.Encoder()
        stream.attach(self)

    def __call__(self, event: Event) -> None:
        self._hash.update(self._encode.encode(event) + b"\n")

    @property
    def hex(self) -> str:
        return self._hash.hexdigest()
