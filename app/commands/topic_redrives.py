"""The redrive of a program's dead letters: planned, looked at, carried out as a job."""

from __future__ import annotations

import time
from collections.abc import Hashable, Sequence
from functools import partial

from PySide6.QtCore import QObject

from app.commands.context import CommandContext
from app.commands.forms import Given, form_of
from app.commands.reviews import open_review
from app.presenters.plan_review import redrive_review
from app.sessions.history.life import place_of
from app.sessions.work import Cancelled, Work
from broker_core.guarded.redrive import DEFAULT_RATE, RedriveRun
from broker_core.operations.guarded import LetterPlace, PlanTopicRedrive, TopicRedriveProgress
from broker_core.simulation.actions.dead_letters import RedriveTopic, StopTopicRedrive
from broker_core.simulation.handlers import Performed
from widgets.formats import sentence
from widgets.i18n import tr

_LOOK_S, _PATIENCE_S = 0.2, 5.0


class TopicRedrives(QObject):
    def __init__(self, context: CommandContext, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._running: dict[str, None] = {}
        context.controller.acted.connect(self._begun)

    def forget(self) -> None:
        self._running.clear()

    def stop(self) -> bool:
        """Whether one was under way."""
        stopped = list(self._running)
        self._running.clear()
        for topic in stopped:
            self._context.controller.perform(StopTopicRedrive(topic=topic))
        return bool(stopped)

    def ask(self, keys: Sequence[Hashable]) -> None:
        """Plan the redrive of these letters, a topic at a time, and show what it would do."""
        by_topic: dict[str, list[LetterPlace]] = {}
        for key in keys:
            if isinstance(key, tuple) and (place := place_of(f"{key[0]}/{key[1]}")) is not None:
                at = LetterPlace(partition=place.partition, offset=place.offset)
                by_topic.setdefault(place.topic, []).append(at)
        for topic, places in by_topic.items():
            self._open(topic, tuple(places))

    def _open(self, topic: str, places: tuple[LetterPlace, ...]) -> None:
        context = self._context
        topics = [each.name for each in context.controller.snapshot.topics if each.name != topic]
        fields: Given = {"to": {"choices": topics}, "rate": {"value": DEFAULT_RATE}}
        open_review(
            context,
            form_of("redrive", fields, count=len(places), topic=topic),
            lambda values: PlanTopicRedrive(
                topic=topic, places=places, to=values["to"] or None, again=values["again"], rate_per_s=values["rate"]
            ),
            lambda _values, plan: redrive_review(plan),
            lambda _values, plan: context.controller.perform(RedriveTopic(topic=topic, plan=plan)),
            RedriveTopic,
        )

    def _begun(self, performed: Performed, _source: str) -> None:
        action = performed.action
        if isinstance(action, RedriveTopic):
            self._running[action.topic] = None
            title = tr("Redrive of dead letters: {count}", count=f"{action.plan.letters:,}")
            self._context.jobs.work(title, partial(self._watch, action), told)

    def _watch(self, action: RedriveTopic, work: Work) -> RedriveRun:
        """In the job's thread. Cancelling it stops the redrive."""
        controller, total = self._context.controller, max(1, action.plan.letters)
        asked = TopicRedriveProgress(topic=action.topic)
        try:
            while True:
                run: RedriveRun = controller.source.ask(asked).result(_PATIENCE_S)
                if not run.running:
                    break
                work.report(run.done / total, tr("{done} of {total}", done=f"{run.done:,}", total=f"{total:,}"))
                time.sleep(_LOOK_S)
        except Cancelled:
            controller.source.perform(StopTopicRedrive(topic=action.topic)).result(_PATIENCE_S)
            raise
        self._running.pop(action.topic, None)
        return run


def told(run: RedriveRun) -> str:
    topic, counts = run.plan.choice.topic, {"done": f"{run.done:,}", "total": f"{run.plan.letters:,}"}
    found = tr("{done} of {total} dead letters of {topic} were redriven.", topic=topic, **counts)
    if run.duplicates:
        found += " " + tr("Two copies, for a run was killed: {places}.", places=", ".join(run.duplicates))
    more = [run.error, *run.refused[:3]]
    return " ".join((found, *(sentence(each) for each in more if each)))
