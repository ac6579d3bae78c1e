from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from datetime import UTC, datetime
from typing import Any, TypeVar

from app.sessions.source import Inputs, Source
from broker_core.clock import ns_from_s
from broker_core.engine.runner import Engine, EngineStatus
from broker_core.observation.requests import AdvanceClock
from broker_core.operations.request import Request
from broker_core.recording.live_session import LiveSession
from broker_core.recording.playback import Playback
from broker_core.simulation.actions import UserAction
from broker_core.simulation.handlers import Performed
from broker_core.simulation.scenario import Scenario
from broker_core.simulation.simulation import Simulation
from broker_core.snapshots import Snapshot
from widgets.i18n import mark, tr

T = TypeVar("T")


class SimulatedSource(Source):
    """`session` stands at 0 until its `engine` is told to run."""

    has_present = True
    goes_on = mark("Run the scenario (F5) or step (F4).")
    why_past = mark("This is the past: follow live (Alt+Right), or branch here, to change anything.")
    why_over = mark("The session has ended. Continue it (Shift+F8) or start it again (Ctrl+R) to change it.")

    def __init__(self, session: LiveSession) -> None:
        self.session = session
        self.scenario: Scenario = session.simulation.scenario
        self.folder, self.recorder = session.folder, session.recorder
        self.seed: int = session.simulation.seed
        self.started_at = datetime.fromtimestamp(session.epoch_ms / 1_000, UTC)
        until_ns = ns_from_s(self.scenario.until_s)
        self.engine: Engine = Engine(session.simulation, until_ns=until_ns, between=session.take_due_keyframe)
        self._ended = False

    @property
    def status(self) -> EngineStatus:
        return self.engine.status

    @property
    def latest(self) -> Snapshot:
        return self.session.last or self.engine.latest

    @property
    def end_ns(self) -> int:
        return self.engine.latest.time_ns

    @property
    def outside_clients(self) -> bool:
        return self.session.outside_clients

    def open_playback(self) -> Playback:
        return self.session.playback()

    def look(self, call: Callable[[Simulation], T]) -> Future[T]:
        """The result of `call` on the session, run in the engine's thread between two steps: keep it below 2 ms.

        The future gets a CLOSED error once the session has ended; its callbacks run in the engine's thread.
        """
        return self.engine.post(lambda: call(self.session.simulation))

    def ask(self, request: Request[T]) -> Future[T]:
        if not self._ended:
            return self.look(lambda simulation: simulation.ask(request))
        # Its engine is gone: no other thread uses it.
        answer: Future[T] = Future()
        try:
            answer.set_result(self.session.simulation.ask(request))
        except Exception as error:
            answer.set_exception(error)
        return answer

    def perform(self, action: UserAction) -> Future[Performed]:
        return self.look(lambda simulation: simulation.perform(action))

    def why_not(self, what: type[Any]) -> str:
        return tr("The engine controls the time here: run, step or go to a time.") if what is AdvanceClock else ""

    def why_no_branch(self) -> str:
        if self.session.outside_clients:
            return tr("External clients take part in this session: it can be replayed, but not branched.")
        return ""

    def inputs(self) -> Inputs:
        live = self.session
        return Inputs(
            self.scenario,
            live.text,
            self.seed,
            tuple(live.actions),
            live.recorder.metadata.session_id if live.recorder is not None else "",
            live.folder.name if live.folder is not None else "a session that was not recorded",
        )

    def close(self, *, finished: bool = False) -> None:
        """The engine stands still already."""
        if not self._ended:
            self.engine.close()
            self._ended = True
            self.session.cost.add(engine_s=self.engine.worked_s)
            self.session.close(finished=finished)
