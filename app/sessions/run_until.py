"""A session runs until a condition is met: by an event, or by the state right after it."""

from __future__ import annotations

from collections.abc import Callable

from app.sessions.event_text import event_line
from broker_core.broker.occurrences import FIELDS, BrokerState, occurrences, tester
from broker_core.events import Event
from broker_core.filters import Filter, FilterError, parse
from broker_core.simulation.simulation import Simulation
from widgets.i18n import tr


class RunUntil:
    """A background task for the engine: steps until an event, or the state right after it, fits `condition`.

    `found` is that event afterwards, None if the session came to `until_ns` before; then it is `over`.
    """

    def __init__(self, simulation: Simulation, condition: Filter, until_ns: int) -> None:
        self._simulation = simulation
        self._fits = tester(condition)
        self._state = BrokerState(simulation.broker, simulation.actors)
        self._until_ns = until_ns
        self._pending: list[Event] = []
        self.found: Event | None = None
        self.over = False

    def go_on(self, enough: Callable[[], bool]) -> bool:
        """Run on, in the engine's thread, until `enough()`. True once the event is found, or nothing more comes."""
        simulation, loop, pending = self._simulation, self._simulation.loop, self._pending
        simulation.events.attach(pending.append)
        try:
            while not enough():
                for _ in range(8):
                    if not loop.run_next(self._until_ns):
                        loop.advance_to(self._until_ns)
                        self.over = True
                        return True
                    if pending and self._look():
                        return True
            return False
        finally:
            simulation.events.detach(pending.append)

    def _look(self) -> bool:
        for event in self._pending:
            if any(self._fits(each) for each in occurrences(event, self._state)):
                self.found = event
                break
        self._pending.clear()
        return self.found is not None

    def summary(self, done: bool) -> str:
        if self.found is not None:
            return tr("Stopped right after {found}", found=event_line(self.found))
        return self.why_unmet() if done else ""

    def why_unmet(self) -> str:
        return tr("The condition was not met before the end.") if self.over else ""


def why_no_condition(text: str) -> str:
    if not text.strip():
        return tr("A condition is needed.")
    try:
        parse(text, FIELDS)
    except FilterError as error:
        return error.translated(tr)
    return ""
