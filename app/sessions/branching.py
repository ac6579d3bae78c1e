from __future__ import annotations

from collections.abc import Callable
from typing import Any

from app.sessions.session_time import SessionTime
from app.sessions.source import Inputs, Source
from app.sessions.stored import BRANCHED_FROM, StoredSession
from app.sessions.timeline_position import TimelinePosition
from broker_core.clock import s_from_ns
from broker_core.engine.runner import BackgroundTask, Engine
from broker_core.errors import BrokerError, ErrorCode
from broker_core.recording.live_session import LiveSession
from broker_core.simulation.replay import Rerun
from broker_core.snapshots import Snapshot
from widgets.formats import session_time
from widgets.i18n import tr

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
            """The message in the status bar when the branch is there; it stays true when the branch runs on."""
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

        def rerun(enough: Any) -> bool:
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

        return inputs, rerun
