from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from functools import partial

from PySide6.QtCore import QObject, Signal

from app.sessions.core_sentences import error_text
from app.sessions.event_text import event_line
from app.sessions.queries import Replies
from app.sessions.simulated import SimulatedSource
from app.sessions.source import Source
from app.sessions.timeline_position import TimelinePosition
from broker_core.clock import ns_from_s
from broker_core.engine.runner import BackgroundTask, Engine, Mode
from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import Event
from widgets.i18n import tr

FAST_TIMES = 10.0


class SessionTime(QObject):
    """How time goes on: in a session that runs, or in the past of one while the window shows that.

    `reported` with a sentence for the status bar, `failed` with one to be seen.
    """

    reported = Signal(str)
    failed = Signal(str)

    def __init__(self, travel: TimelinePosition, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._travel = travel
        self._source = Source()
        self._newest: Callable[[], Event | None] = lambda: None
        self.speed = 1.0
        self.fast = False
        self.stopped = True
        self.open_ended = False  # it goes on past the end of its scenario
        self.background_tasks = 0  # that are asked for and have not ended
        self._replies = Replies(self)

    def attach(self, source: Source, newest: Callable[[], Event | None]) -> None:
        """Another session, with its `newest` event."""
        self._source, self._newest = source, newest
        self.stopped = not source.has_present
        self.fast = self.open_ended = False

    @property
    def passed_end_ns(self) -> int | None:
        """Where the scenario ends, once the session has gone on past that; else None."""
        until_ns = 0 if self._source.scenario is None else ns_from_s(self._source.scenario.until_s)
        return until_ns if 0 < until_ns < self._source.end_ns else None

    @property
    def moving(self) -> bool:
        if self._travel.looking_back:
            return self._travel.playing
        if (standing := self._source.standing) is not None and standing.stale:
            return False
        running = self.background_tasks > 0 or self._source.status.mode in {Mode.RUNNING, Mode.EXPRESS}
        return not self.stopped and running

    def is_past_the_end(self, time_ns: int) -> bool:
        return self._source.scenario is not None and time_ns >= ns_from_s(self._source.scenario.until_s)

    def run(self, speed: float | None = None, *, fast: bool = False) -> None:
        if speed is not None:
            self.speed = speed
        self.fast = fast
        at = self.speed * (FAST_TIMES if fast else 1)
        if self._travel.looking_back:
            self._travel.play(at)
        else:
            self._with_engine(lambda engine: engine.run(at))

    def express(self) -> None:
        self._with_engine(lambda engine: engine.express())

    def pause(self) -> None:
        if self._travel.looking_back:
            self._travel.pause()
        elif self._source.engine is None:
            self._travel.stay_at_latest()  # what is shown does not go on, the source does
        else:
            self._with_engine(lambda engine: engine.pause())

    def step(self) -> None:
        if self._travel.looking_back:
            self._travel.step(1)
        else:
            self._with_engine(lambda engine: self._replies.bring(engine.step(), self._report_step))

    def go_past_the_end(self) -> None:
        self.open_ended = True
        self._with_engine(lambda engine: engine.run_open_ended())

    def run_background(self, task: BackgroundTask, then: Callable[[bool], str]) -> None:
        """Let `task` move the session; `reported` tells what `then(done)` makes of it."""

        def start(engine: Engine) -> None:
            self.background_tasks += 1
            self._replies.bring(engine.run_background(task), partial(self._report_background, then))

        self._with_engine(start)

    def run_until(self, time_ns: int) -> None:
        """Run to `time_ns` at full speed and pause; for screenshots, as it blocks."""
        source = self._source
        assert isinstance(source, SimulatedSource)
        loop, look = source.session.simulation.loop, source.session.take_due_keyframe

        def run() -> None:
            while loop.run_next(time_ns):
                look()
            loop.advance_to(time_ns)

        source.engine.post(run).result()
        source.engine.refresh()

    def grant(self, budget_s: float) -> None:
        self._with_engine(lambda engine: engine.grant(budget_s))

    def _with_engine(self, call: Callable[[Engine], None]) -> None:
        if self._source.engine is not None and not self.stopped:
            call(self._source.engine)

    def _report_step(self, done: Future[None]) -> None:
        error, event = done.exception(), self._newest()
        if error is not None:
            # The simulation broke at this step; nothing can go on from here.
            self.failed.emit(error_text(error))
        elif event is not None:
            self.reported.emit(tr("Stepped to {event}", event=event_line(event)))

    def _report_background(self, then: Callable[[bool], str], done: Future[bool]) -> None:
        self.background_tasks -= 1
        error = done.exception()
        if error is None:
            if message := then(done.result()):
                self.reported.emit(message)
        elif isinstance(error, BrokerError):
            if error.code is not ErrorCode.CLOSED:
                self.failed.emit(error_text(error))
        else:
            raise error
