from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from app.sessions.source import Inputs, Source
from app.sessions.stored import BRANCHED_FROM
from broker_core.clock import s_from_ns
from broker_core.engine.runner import BackgroundTask
from broker_core.errors import BrokerError, ErrorCode
from broker_core.simulation.replay import Rerun
from broker_core.simulation.simulation import Simulation
from broker_core.snapshots import Snapshot
from widgets.formats import session_time
from widgets.i18n import tr


@dataclass(frozen=True)
class Branch:
    """A session that is run again up to `moment`.

    `by_event`: right after its last event, whatever else came at the same time; else after all that was due then.
    """

    inputs: Inputs
    moment: Snapshot
    by_event: bool

    @property
    def origin(self) -> str:
        return tr("branched from {name}", name=self.inputs.name)

    @property
    def extra(self) -> dict[str, Any]:
        left = {"session_id": self.inputs.session_id, "name": self.inputs.name, "at_s": s_from_ns(self.moment.time_ns)}
        return {BRANCHED_FROM: left}

    def task(self, simulation: Simulation) -> BackgroundTask:
        events = max(1, self.moment.events) if self.by_event else None
        replayed = Rerun(simulation, self.inputs.actions, until_ns=self.moment.time_ns, until_events=events)

        def go_on(enough: Any) -> bool:
            done = replayed.go_on(enough)
            if done and simulation.events.count != self.moment.events:
                raise BrokerError(
                    ErrorCode.INVALID_REQUEST,
                    tr(
                        "this version runs the session differently: {count:,} events up to {time}, but {events:,} "
                        "were recorded",
                        count=simulation.events.count,
                        time=session_time(self.moment.time_ns),
                        events=self.moment.events,
                    ),
                )
            return done

        return go_on

    def done(self, finished: bool) -> str:
        """The sentence for the end of the task. It stays in the status bar, and true, when the branch runs on."""
        at = session_time(self.moment.time_ns)
        if finished:
            return tr("This is a branch: live from {at}, {origin}.", at=at, origin=self.origin)
        return tr("This branch was stopped before it reached {at}; it is live from there.", at=at)


def branch_of(source: Source, moment: Snapshot, *, by_event: bool) -> Branch:
    """Raises BrokerError if the inputs of the session cannot be had again."""
    if why := source.why_no_branch():
        raise BrokerError(ErrorCode.INVALID_REQUEST, why.rstrip("."))
    return Branch(source.inputs(), moment, by_event)
