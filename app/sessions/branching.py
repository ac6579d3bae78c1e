"""A session that is run again up to a moment, and goes on from there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from app.sessions.stored import BRANCHED_FROM, StoredSession
from broker_core.clock import s_from_ns
from broker_core.engine.runner import BackgroundTask
from broker_core.errors import BrokerError, ErrorCode
from broker_core.recording.live_session import LiveSession
from broker_core.simulation.replay import RecordedAction, Rerun
from broker_core.simulation.scenario import Scenario
from broker_core.simulation.simulation import Simulation
from broker_core.snapshots import Snapshot
from widgets.formats import session_time
from widgets.i18n import tr


@dataclass(frozen=True)
class Branch:
    """Everything that a branch needs, taken from the session that it leaves."""

    scenario: Scenario
    text: str
    seed: int
    actions: tuple[RecordedAction, ...]
    moment: Snapshot
    by_event: bool
    origin: str
    extra: dict[str, Any]

    def task(self, simulation: Simulation) -> BackgroundTask:
        """The rerun up to the moment, for the engine."""
        events = max(1, self.moment.events) if self.by_event else None
        replayed = Rerun(simulation, self.actions, until_ns=self.moment.time_ns, until_events=events)

        def go_on(enough: Any) -> bool:
            done = replayed.go_on(enough)
            if done and simulation.events.count != self.moment.events:
                raise BrokerError(
                    ErrorCode.INVALID_REQUEST,
                    tr(
                        "this version runs the session otherwise: {count:,} events up to {time}, {events:,} "
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
        return tr("This branch was stopped before it came to {at}: it is live from there.", at=at)


def branch_of(stored: StoredSession | None, live: LiveSession | None, moment: Snapshot, *, by_event: bool) -> Branch:
    """A branch at `moment` of a recorded session, or else of the one that goes on.

    `by_event`: right after its last event, whatever else came at the same time; else after all that was due then.

    Raises BrokerError where its inputs cannot be had again.
    """
    why = why_no_branch(stored, live)
    if why:
        raise BrokerError(ErrorCode.INVALID_REQUEST, why.rstrip("."))
    actions: Sequence[RecordedAction]
    if stored is not None:
        scenario, text, seed, actions = stored.scenario, stored.text, stored.seed, stored.actions()
        source, name = stored.metadata.session_id, stored.folder.name
    else:
        assert live is not None
        scenario, text, seed, actions = live.simulation.scenario, live.text, live.simulation.seed, live.actions
        source = live.recorder.session_id if live.recorder is not None else ""
        name = live.folder.name if live.folder is not None else "a session that was not recorded"
    return Branch(
        scenario,
        text,
        seed,
        tuple(actions),
        moment,
        by_event,
        f"branched from {name}",
        {BRANCHED_FROM: {"session_id": source, "name": name, "at_s": s_from_ns(moment.time_ns)}},
    )


def why_no_branch(stored: StoredSession | None, live: LiveSession | None) -> str:
    """Why there can be no branch; "" where there can."""
    if stored is not None:
        return stored.why_no_rerun()
    if live is None:
        return tr("No session is open.")
    if live.outside_clients:
        return tr("Clients from outside take part in this session: it can be replayed, not branched.")
    return ""
