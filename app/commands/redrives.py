"""Redrives that take a while: each is a job, which can be cancelled, and *Stop the redrive* stops all of them."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeVar

from PySide6.QtCore import QObject

from app.commands.context import CommandContext
from app.sessions.jobs import Cancelled, Work
from broker_core.errors import BrokerError, ErrorCode
from broker_core.guarded.redrive import RedriveRun
from broker_core.operations.dead_letters import RedriveAnswer, RedriveProgress
from broker_core.operations.guarded import TopicRedriveProgress
from broker_core.operations.request import Request
from broker_core.simulation.actions import UserAction
from broker_core.simulation.actions.dead_letters import Redrive, RedriveTopic, StopRedrive, StopTopicRedrive
from broker_core.simulation.handlers import Performed
from widgets.formats import sentence
from widgets.i18n import tr

# What is redriven in one step of the engine: more of them would hold up the window.
AT_ONCE = 500
LOOK_S, REPLY_TIMEOUT_S = 0.1, 5.0
_PART = "part of a redrive"  # the source of such an action


class _Parts:
    """A large redrive: the first of the parts that are `left` is under way, each is done after the one before."""

    def __init__(self, under_way: Sequence[Redrive] = ()) -> None:
        self.left = deque(under_way)
        self.total, self.done = sum(len(part.offsets or ()) for part in under_way), 0  # letters
        self.is_followed = self.is_stopped = False

    @property
    def running(self) -> bool:
        return bool(self.left)

    def stop(self) -> None:
        self.is_stopped = True  # after the part that is under way


P = TypeVar("P", RedriveAnswer, RedriveRun, _Parts)


class Redrives(QObject):
    def __init__(self, context: CommandContext, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._parts = _Parts()
        self._stops: dict[str, UserAction] = {}  # of those that the broker runs at a rate, by queue or topic
        context.controller.acted.connect(self._acted)
        context.controller.refused.connect(lambda _why, source, _later: self._part_ended(source, done=False))

    def forget(self) -> None:
        self._parts.left.clear()
        self._stops.clear()

    def add(self, letters: Mapping[str, tuple[int, ...]], rate_per_s: float | None = None) -> None:
        """Redrive `letters`, offsets by queue."""
        if why := self._context.controller.why_not():
            self._context.show_message(why)
            return
        if rate_per_s is not None:
            for queue, offsets in letters.items():
                self._context.controller.perform(Redrive(queue=queue, offsets=list(offsets), rate_per_s=rate_per_s))
            return
        if self._parts.is_stopped or not self._parts.running:
            before, self._parts = self._parts, _Parts([*self._parts.left][:1])
            before.left.clear()  # what is under way counts for the job of those that follow it
        parts = self._parts
        is_first = not parts.running
        parts.left += [
            Redrive(queue=queue, offsets=list(offsets[first : first + AT_ONCE]))
            for queue, offsets in letters.items()
            for first in range(0, len(offsets), AT_ONCE)
        ]
        parts.total += sum(map(len, letters.values()))
        if len(parts.left) > 1 and not parts.is_followed:
            parts.is_followed = True
            self._follow(parts.total, partial(_watch, lambda: parts, parts.stop), _finished)
        if is_first:
            self._next()

    def why_no_stop(self) -> str:
        return "" if self._parts.running or self._stops else tr("No redrive is under way.")

    def stop(self) -> None:
        self._parts.stop()
        stops, self._stops = self._stops, {}
        for stop in stops.values():
            self._context.controller.perform(stop)

    def _next(self) -> None:
        parts, controller = self._parts, self._context.controller
        if parts.is_stopped or controller.why_not(Redrive):
            parts.left.clear()
        if parts.left:
            controller.perform(parts.left[0], _PART)

    def _part_ended(self, source: str, *, done: bool) -> None:
        if source == _PART and self._parts.left:
            self._parts.done += len(self._parts.left[0].offsets or ()) if done else 0
            self._parts.left.popleft()
            self._next()

    def _acted(self, performed: Performed, source: str) -> None:
        action = performed.action
        if isinstance(action, RedriveTopic):
            asked, stop = TopicRedriveProgress(topic=action.topic), StopTopicRedrive(topic=action.topic)
            self._follow_in_broker(action.topic, action.plan.letters, asked, stop, _topic_sentence)
        elif isinstance(action, Redrive) and action.rate_per_s is not None:
            total, queue = len(action.offsets or ()), action.queue
            self._follow_in_broker(queue, total, RedriveProgress(queue=queue), StopRedrive(queue=queue), _finished)
        self._part_ended(source, done=True)

    def _follow_in_broker(
        self, name: str, total: int, asked: Request[P], stop: UserAction, describe: Callable[[P], str]
    ) -> None:
        source = self._context.controller.source
        self._stops[name] = stop

        def watch(work: Work) -> P:
            try:
                return _watch(
                    lambda: source.ask(asked).result(REPLY_TIMEOUT_S),
                    lambda: source.perform(stop).result(REPLY_TIMEOUT_S),
                    work,
                )
            except TimeoutError:
                about = f"whether the redrive of {name} goes on is not known"
                raise BrokerError(ErrorCode.REQUEST_TIMED_OUT, about) from None
            finally:
                self._stops.pop(name, None)

        self._follow(total, watch, describe)

    def _follow(self, total: int, watch: Callable[[Work], P], describe: Callable[[P], str]) -> None:
        self._context.jobs.work(tr("Redrive of dead letters: {count}", count=f"{total:,}"), watch, describe)


def _watch(look: Callable[[], P], stop: Callable[[], object], work: Work) -> P:
    """Follow a redrive to its end, in the job's thread, and report progress; a cancelled job calls `stop`."""
    try:
        while (run := look()).running:
            done, total = run.done, run.total
            work.report(done / max(1, total), tr("{done} of {total}", done=f"{done:,}", total=f"{total:,}"))
            time.sleep(LOOK_S)
    except Cancelled:
        stop()
        raise
    return run


def _finished(run: RedriveAnswer | _Parts) -> str:
    return tr("The redrive of {count} has finished; the view Redriven lists the results.", count=f"{run.done:,}")


def _topic_sentence(run: RedriveRun) -> str:
    topic, counts = run.plan.choice.topic, {"done": f"{run.done:,}", "total": f"{run.total:,}"}
    found = tr("{done} of {total} dead letters of {topic} were redriven.", topic=topic, **counts)
    if run.duplicates:
        found += " " + tr("Two copies, for a run was killed: {places}.", places=", ".join(run.duplicates))
    more = [run.error, *run.refused[:3]]
    return " ".join((found, *(sentence(each) for each in more if each)))
