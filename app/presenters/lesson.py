from __future__ import annotations

from collections.abc import Callable

from app.sessions.collectors.lesson import LessonCollector
from broker_core.simulation.lesson import Step
from widgets.formats import session_time
from widgets.i18n import tr
from widgets.panels.lesson import LessonFacts, StepFacts


def lesson_facts(
    title: str,
    collector: LessonCollector,
    *,
    by_ns: int | None,
    kept: frozenset[str] = frozenset(),
    next_title: str = "",
    why_not: Callable[[Step], str] = lambda _step: "",
) -> LessonFacts | None:
    """The steps that this run had done at session time `by_ns`; None is all so far, and those of earlier runs as well.

    `kept` holds the texts of all that were ever done; `why_not` says why a step can no longer be done, "" if it can.
    None if the session has no lesson.
    """
    lesson = collector.lesson
    if lesson is None:
        return None
    done = collector.done_steps(by_ns)
    current = next((number for number in range(len(lesson.steps)) if number not in done), -1)
    earlier = kept if by_ns is None else frozenset[str]()
    steps = tuple(
        StepFacts(
            shown(step.text),
            shown(step.seen),
            number in done,
            _by(collector, number) if number in done else "",
            number == current,
            step.point_at is not None,
            step.text in earlier,
            "" if number in done or (step.text in earlier and number != current) else why_not(step),
        )
        for number, step in enumerate(lesson.steps)
    )
    question = lesson.question
    return LessonFacts(
        title,
        steps,
        "" if question is None else shown(question.text),
        "" if question is None else shown(question.answer),
        next_title,
        "" if by_ns is None else tr("As it was at {time}.", time=session_time(by_ns)),
    )


def shown(text: str) -> str:
    """A text of a lesson on one line, in the language of the program where the lesson comes with it."""
    return tr(" ".join(text.split()))


def _by(collector: LessonCollector, number: int) -> str:
    done = collector.done[number]
    if done is None:
        return ""
    at = session_time(done.time_ns)
    return tr("Done by {event}", event=done.by) if done.by else tr("Done at {time}", time=at)
