from __future__ import annotations

from app.presenters.dead_letter_models import EditedLetter, origin_words
from app.sessions.browsing.dead_letter_topics import TopicLetter
from broker_core.snapshots import AttemptView, DeadLetterView
from widgets.facts import Section
from widgets.formats import Times, duration, plain_text, session_time
from widgets.i18n import mark, tr


def dead_letter_sections(letter: DeadLetterView, times: Times) -> tuple[Section, ...]:
    """The facts of a dead letter: its attempts, what else is known of it, and its headers."""
    size = tr("no value") if letter.value is None else tr("{count:,} bytes", count=len(letter.value))
    facts = (
        (tr("Key"), "none" if letter.key is None else plain_text(letter.key, 400)),
        (tr("Origin"), origin_words(letter, mark("{topic}/{partition} at offset {offset:,}"))),
        (tr("Dead letter"), tr("{queue}, number {offset:,}", queue=letter.queue, offset=letter.offset)),
        *_told(letter, times),
        (tr("Died"), _moment(letter.dead_ns, times)),
        (tr("Size"), size),
        *([(tr("Edited"), tr("a redrive appends it as shown here"))] if isinstance(letter, EditedLetter) else ()),
    )
    attempts = [(f"{number}.", _attempt(attempt)) for number, attempt in enumerate(letter.attempts, 1)]
    hints = [times.hint(attempt.delivered_ns) for attempt in letter.attempts]
    headers = [(name, plain_text(data, 400)) for name, data in letter.headers]
    attempts_title = tr("Attempts ({count})", count=len(attempts))
    return (attempts_title, attempts, hints), (tr("Facts"), facts), (tr("Headers"), headers)


def _attempt(attempt: AttemptView) -> str:
    lasted = duration(attempt.ended_ns - attempt.delivered_ns)
    return f"{attempt.outcome}\n{attempt.holder}, {session_time(attempt.delivered_ns)}, {lasted}"


def _told(letter: DeadLetterView, times: Times) -> tuple[tuple[str, str], ...]:
    published = (tr("Published"), _moment(letter.published_ns, times))
    if not isinstance(letter, TopicLetter):
        return published, (tr("Redrives"), str(letter.redrives))
    origin = letter.origin
    found = [published] if origin.published_ms is not None else []
    found += [(tr("Given up by"), origin.reader)] if origin.reader else []
    return (*found, (tr("Attempts"), tr("not given") if origin.attempts is None else f"{origin.attempts:,}"))


def _moment(time_ns: int, times: Times) -> str:
    wall = times.wall(time_ns)
    return f"{session_time(time_ns)}  ({wall})" if wall else session_time(time_ns)
