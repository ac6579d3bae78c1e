"""Redrives that take a while: each is a job, which can be cancelled, and *Stop the redrive* stops all of them."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeVar

from PySide6.QtCore import QObject

from app.commands.context import CommandContext
from app.sessions.jobs import Cancelled, Work
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
LOOK_S, PATIENCE_S = 0.1, 5.0


P = TypeVar("P", RedriveAnswer, RedriveRun)


class Redrives(QObject):
    def __init__(self, context: CommandContext, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._parts: deque[Redrive] = deque()  # of large redrives, each to be done after the one before
        self._stops: dict[str, UserAction] = {}  # of those that the broker runs at a rate, by queue or topic
        context.controller.acted.connect(self._acted)
        context.controller.refused.connect(lambda *_args: self._next())

    def forget(self) -> None:
        self._parts.clear()
        self._stops.clear()

    def add(self, letters: Mapping[str, tuple[int, ...]], rate_per_s: float | None = None) -> None:
        """Redrive `letters`, offsets by queue."""
        if why := self._context.controller.why_not():
            self._context.show_message(why)
            return
        for queue, offsets in letters.items():
            if rate_per_s is not None:
                self._context.controller.perform(Redrive(queue=queue, offsets=list(offsets), rate_per_s=rate_per_s))
                continue
            self._parts += [
                Redrive(queue=queue, offsets=list(offsets[first : first + AT_ONCE]))
                for first in range(0, len(offsets), AT_ONCE)
            ]
        if len(self._parts) > 1:
            parts, total = self._parts, self._left()
            self._follow(
                total,
                lambda: RedriveAnswer(running=bool(parts), total=total, done=total - self._left()),
                parts.clear,
                lambda _progress: _finished(total),
            )
        self._next()

    def why_no_stop(self) -> str:
        return "" if self._parts or self._stops else tr("No redrive is under way.")

    def stop(self) -> None:
        self._parts.clear()
        while self._stops:
            self._context.controller.perform(self._stops.popitem()[1])

    def _next(self) -> None:
        if self._parts and not self._context.controller.why_not():
            self._context.controller.perform(self._parts.popleft())
        else:
            self._parts.clear()

    def _left(self) -> int:
        return sum(len(part.offsets or ()) for part in tuple(self._parts))

    def _acted(self, performed: Performed, _source: str) -> None:
        action = performed.action
        if isinstance(action, RedriveTopic):
            asked, stop = TopicRedriveProgress(topic=action.topic), StopTopicRedrive(topic=action.topic)
            self._follow_in_broker(action.topic, action.plan.letters, asked, stop, _topic_sentence)
        elif isinstance(action, Redrive) and action.rate_per_s is not None:
            total, queue = len(action.offsets or ()), action.queue
            asked_queue, stop_queue = RedriveProgress(queue=queue), StopRedrive(queue=queue)
            self._follow_in_broker(queue, total, asked_queue, stop_queue, lambda run: _finished(run.done))
        self._next()

    def _follow_in_broker(
        self, name: str, total: int, asked: Request[P], stop: UserAction, told: Callable[[P], str]
    ) -> None:
        source = self._context.controller.source
        self._stops[name] = stop

        def look() -> P:
            return source.ask(asked).result(PATIENCE_S)

        def cancel() -> None:
            self._stops.pop(name, None)
            source.perform(stop).result(PATIENCE_S)

        def end(run: P) -> str:
            self._stops.pop(name, None)
            return told(run)

        self._follow(total, look, cancel, end)

    def _follow(self, total: int, look: Callable[[], P], stop: Callable[[], object], told: Callable[[P], str]) -> None:
        title = tr("Redrive of dead letters: {count}", count=f"{total:,}")
        self._context.jobs.work(title, partial(_watch, total, look, stop), told)


def _watch(total: int, look: Callable[[], P], stop: Callable[[], object], work: Work) -> P:
    """Follow a redrive to its end, in the job's thread, and report progress; a cancelled job calls `stop`."""
    try:
        while (run := look()).running:
            work.report(run.done / max(1, total), tr("{done} of {total}", done=f"{run.done:,}", total=f"{total:,}"))
            time.sleep(LOOK_S)
    except Cancelled:
        stop()
        raise
    return run


def _finished(count: int) -> str:
    return tr("The redrive of {count} has finished; the view Redriven lists the results.", count=f"{count:,}")


def _topic_sentence(run: RedriveRun) -> str:
    topic, counts = run.plan.choice.topic, {"done": f"{run.done:,}", "total": f"{run.plan.letters:,}"}
    found = tr("{done} of {total} dead letters of {topic} were redriven.", topic=topic, **counts)
    if run.duplicates:
        found += " " + tr("Two copies, for a run was killed: {places}.", places=", ".join(run.duplicates))
    more = [run.error, *run.refused[:3]]
    return " ".join((found, *(sentence(each) for each in more if each)))
