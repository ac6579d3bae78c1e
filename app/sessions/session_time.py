from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from app.sessions.event_text import error_text, event_line
from app.sessions.queries import Replies
from app.sessions.simulated import SimulatedSource
from app.sessions.source import Inputs, Source
from app.sessions.stored import BRANCHED_FROM, StoredSession
from broker_core.clock import NS_PER_S, ns_from_s, s_from_ns
from broker_core.engine.runner import BackgroundTask, Engine, Mode
from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import Event
from broker_core.recording.live_session import LiveSession
from broker_core.recording.playback import Playback
from broker_core.simulation.replay import Rerun
from broker_core.snapshots import Snapshot
from widgets.formats import session_time
from widgets.i18n import tr

FAST_TIMES = 10.0


PLAY_EVERY_MS = 40

#: A moment, and the event it was asked for by.
Seen = tuple[Snapshot, Event | None]


class TimelinePosition(QObject):
    """Shows an earlier moment while the session goes on. `snapshot` and `shown_event` are None in the present.

    `changed` when another moment is shown, `turned` when the window goes from the present to the past or back. What is
    asked for while an earlier request is under way replaces it: a scrubber that is dragged asks often.
    """

    changed = Signal()
    turned = Signal()
    failed = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._source = Source()
        self.looking_back = False
        self._playback: Playback | None = None
        self._worker: ThreadPoolExecutor | None = None
        self._target_ns = 0
        self._speed, self._anchor = 0.0, (0.0, 0)
        self._timer = QTimer(self, interval=PLAY_EVERY_MS)
        self._timer.timeout.connect(self._play_on)
        self._replies = Replies(self)
        self.close()

    def attach(self, source: Source) -> None:
        """Another session. Without a present, as of one that was recorded long ago, the past is all there is."""
        self.close()
        self._source = source
        self.looking_back = False

    def close(self) -> None:
        self.pause()
        self._replies.drop()
        worker, self._worker, self._playback = self._worker, None, None
        self._request: Callable[[], Seen] | None = None
        self.snapshot: Snapshot | None = None
        self.shown_event: Event | None = None
        self.busy = False  # while a moment that was asked for is not shown yet
        if worker is not None:
            worker.shutdown(wait=False, cancel_futures=True)

    @property
    def target_ns(self) -> int:
        """The moment that was asked for last; it is shown a moment later."""
        return self._target_ns if self.looking_back and self._playback is not None else self._source.end_ns

    @property
    def exact(self) -> bool:
        """Whether every moment and every event can be shown."""
        return self._playback is None or self._playback.exact

    def to(self, time_ns: int) -> None:
        """Show the state at `time_ns`; at the present, if that is not yet past."""
        if self._source.has_present and time_ns >= self._source.end_ns:
            self.to_present()
        else:
            self._look_at(min(max(0, time_ns), self._source.end_ns))
            self._anchor = (time.perf_counter(), self._target_ns)

    def by(self, delta_ns: int) -> None:
        self.to(self.target_ns + delta_ns)

    def step(self, events: int) -> None:
        """So many events on, or back, nothing before the first; from the present, back from its last."""
        self.pause()
        self.to_event(max(0, (self.snapshot or self._source.latest).events - 1 + events))

    def to_event(self, seq: int) -> None:
        self._target_ns = self.target_ns

        def read(playback: Playback) -> Seen:
            found = list(playback.events(seq, seq))
            return playback.after_event(seq), found[0] if found else None

        self._ask(read)

    def to_present(self) -> None:
        if not self._source.has_present or not self.looking_back:
            return
        self.close()
        self.looking_back = False
        self.turned.emit()
        self.changed.emit()

    def stand_still(self) -> None:
        self._look_at(self._source.end_ns)

    @property
    def playing(self) -> bool:
        return self._timer.isActive()

    def play(self, speed: float) -> None:
        """Let the past go on at `speed` seconds a second, up to where the session has come."""
        if self._playback is not None:
            self._speed, self._anchor = speed, (time.perf_counter(), self._target_ns)
            self._timer.start()

    def pause(self) -> None:
        self._timer.stop()

    def _play_on(self) -> None:
        if self.busy:
            return
        began_s, began_ns = self._anchor
        due_ns = began_ns + round((time.perf_counter() - began_s) * self._speed * NS_PER_S)
        if due_ns >= (end_ns := self._source.end_ns):
            self.pause()
        self._look_at(min(due_ns, end_ns))

    def _look_at(self, time_ns: int) -> None:
        self._target_ns = time_ns
        self._ask(lambda playback: (playback.at(time_ns), None))

    def _ask(self, read: Callable[[Playback], Seen]) -> None:
        if self._playback is None and self._source.scenario is not None:
            self._playback = self._source.open_playback()
            self._worker = ThreadPoolExecutor(1, thread_name_prefix="playback")
        if (playback := self._playback) is not None:
            self._request = lambda: read(playback)
            if not self.busy:
                self._go()

    def _go(self) -> None:
        request, self._request = self._request, None
        if request is not None and self._worker is not None:
            self.busy = True
            self._replies.bring(self._worker.submit(request), self._show)

    def _show(self, done: Future[Seen]) -> None:
        self.busy = False
        error = done.exception()
        if error is None:
            self.snapshot, self.shown_event = done.result()
            if self.shown_event is not None:
                self._target_ns = self.snapshot.time_ns
            before, self.looking_back = self.looking_back, True
            if not before:
                self.turned.emit()
            self.changed.emit()
        elif isinstance(error, BrokerError | OSError | ValueError):
            self.failed.emit(tr("This moment cannot be shown: {error}", error=error))
        else:
            raise error
        self._go()


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
            self._travel.stand_still()  # what is shown does not go on, the source does
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


#: Makes a session of inputs, with more metadata, in place of the one before. Raises BrokerError, ScenarioError.
Begin = Callable[[Inputs, dict[str, Any]], LiveSession]


class Branching:
    """Runs the session again, as a new one, up to a moment of it. `origin` says which session a branch has left, and
    `at_ns` where: up to there it is that session.
    """

    def __init__(self, time: SessionTime, travel: TimelinePosition, begin: Begin) -> None:
        self._time, self._travel, self._begin = time, travel, begin
        self.attach(Source())

    def attach(self, source: Source) -> None:
        self._source = source
        self.origin = ""
        self.at_ns: int | None = None
        self.rerun_until_ns = 0  # of a branch, and of what was continued: up to where it is run again
        self.at_end: Snapshot | None = None  # right before the session was ended

    @property
    def rerunning(self) -> bool:
        return self._time.background_tasks > 0 and self._source.end_ns < self.rerun_until_ns

    def branch(self) -> None:
        """Run the session again up to the moment that is shown, as a new one, which is live from there.

        From the end of the scenario on it has no other end. Raises BrokerError, ScenarioError if its inputs cannot be
        had again; the session before goes on then.
        """
        shown, event = self._travel.snapshot, self._travel.shown_event
        moment = shown or self._source.latest
        inputs, task = self._run_again(moment, by_event=event is not None or shown is None)
        self.origin, self.at_ns = tr("branched from {name}", name=inputs.name), moment.time_ns
        at, origin = session_time(moment.time_ns), self.origin
        if self._time.is_past_the_end(moment.time_ns):
            self._time.go_past_the_end()

        def there(done: bool) -> str:
            """It stays in the status bar, and true, when the branch runs on."""
            if done:
                return tr("This is a branch: live from {at}, {origin}.", at=at, origin=origin)
            return tr("This branch was stopped before it reached {at}; it is live from there.", at=at)

        self._time.run_background(task, there)

    def why_not_continued(self) -> str:
        source, time = self._source, self._time
        if isinstance(source, StoredSession):
            return tr(source.why_past)
        if why := source.why_not(Engine):
            return why
        if not time.stopped:
            return tr("The session is already continuing past its end.") if time.open_ended else ""
        if self.at_end is None or not self.at_end.events or source.status.error:
            return tr("There is nothing to continue from; start it again (Ctrl+R).")
        return source.why_no_branch()

    def go_on(self) -> None:
        """Go on where the session has ended, or past the end of its scenario without another end.

        A session that has ended is run again up to there, as a new one. One that was stopped before the end of its
        scenario still ends with it. Raises BrokerError, ScenarioError if its inputs cannot be had again.
        """
        time, past_the_end = self._time, tr("The session continues past the end of its scenario; F8 ends it.")
        if not time.stopped:
            time.go_past_the_end()
            time.reported.emit(past_the_end)
            return
        end, has_no_end = self.at_end, time.open_ended or time.is_past_the_end(self._source.end_ns)
        assert end is not None
        branched = self.origin, self.at_ns
        _inputs, task = self._run_again(end, by_event=not has_no_end)
        # It is the session that has ended, not another one.
        self.origin, self.at_ns = branched
        if has_no_end:
            time.go_past_the_end()
        at = session_time(end.time_ns)

        def there(done: bool) -> str:
            if not done:
                return tr("The session was stopped before it reached {at} again.", at=at)
            time.run()
            return past_the_end if has_no_end else tr("The session continues from {at}, where it was stopped.", at=at)

        time.reported.emit(tr("Rerunning it up to {time}...", time=at))
        time.run_background(task, there)

    def _run_again(self, moment: Snapshot, *, by_event: bool) -> tuple[Inputs, BackgroundTask]:
        """Begin anew what the task then runs up to `moment`.

        `by_event`: right after its last event, whatever else came at the same time; else after all that was due then.
        """
        if why := self._source.why_no_branch():
            raise BrokerError(ErrorCode.INVALID_REQUEST, why.rstrip("."))
        inputs = self._source.inputs()
        left = {"session_id": inputs.session_id, "name": inputs.name, "at_s": s_from_ns(moment.time_ns)}
        simulation = self._begin(inputs, {BRANCHED_FROM: left}).simulation
        self.rerun_until_ns = moment.time_ns
        events = max(1, moment.events) if by_event else None
        replayed = Rerun(simulation, inputs.actions, until_ns=moment.time_ns, until_events=events)

        def go_on(enough: Any) -> bool:
            done = replayed.go_on(enough)
            if done and simulation.events.count != moment.events:
                about = tr(
                    "this version runs the session differently: {count:,} events up to {time}, but {events:,} "
                    "were recorded",
                    count=simulation.events.count,
                    time=session_time(moment.time_ns),
                    events=moment.events,
                )
                raise BrokerError(ErrorCode.INVALID_REQUEST, about)
            return done

        return inputs, go_on
