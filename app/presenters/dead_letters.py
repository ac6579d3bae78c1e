from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import chain
from operator import attrgetter
from typing import Any

from PySide6.QtCore import Signal

from app.presenters.beyond_snapshot import DeadLetterSync
from app.presenters.columns import Column, number_column, state_column, time_column
from app.presenters.dead_letter_topics import DeadLetterTopics, TopicLetter
from app.presenters.panel_presenter import Sources, TablePresenter, overfull_words
from app.presenters.table import SnapshotModel, TableModel
from app.sessions.event_text import event_word
from app.sessions.history.life import Place
from app.sessions.history.redeliveries import RedrivenMessage, redriven_messages
from broker_core.clock import NS_PER_S
from broker_core.filters import Field
from broker_core.snapshots import AttemptView, DeadLetterView, QueueView, Snapshot
from widgets.formats import Times, duration, plain_text, session_time
from widgets.i18n import localized, mark, tr
from widgets.panels.dead_letters import DeadLetterFacts, DeadLettersPanel


class RedrivenModel(TableModel[RedrivenMessage]):
    def __init__(self, times: Times) -> None:
        columns: tuple[Column[RedrivenMessage], ...] = (
            time_column("Redriven (session)", lambda row: row.redriven.time_ns, times, (130,), field="redriven_at"),
            Column("Queue", lambda row: row.redriven.group, (90, 1, 3)),
            number_column(
                "Dead letter",
                lambda row: row.redriven.offset,
                (84, 0, 4),
                field="letter",
                about="Its offset in the dead-letter queue.",
            ),
            Column(
                "Now at",
                lambda row: str(place_of(row)),
                (130, 2),
                "place",
                field="place",
                about="Where the redrive appended it.",
            ),
            Column(
                "Key",
                lambda row: "" if row.redriven.key is None else plain_text(row.redriven.key, 40),
                (90, 1, 2),
                "mono",
            ),
            Column("Cause", lambda row: row.redriven.cause, (100, 3, 1), field="cause"),
            state_column(
                "Since then",
                lambda row: event_word(row.fate) if row.fate is not None else "Waiting",
                (130, 1),
                field="fate",
                about="The last event of the message since the redrive.",
            ),
            number_column("Deliveries", lambda row: row.deliveries, (84, 0, 6)),
            Column("By", lambda row: row.fate.client if row.fate else "", (90, 1, 5), field="client"),
            number_column(
                "After",
                lambda row: row.fate.time_ns - row.redriven.time_ns if row.fate else None,
                (76, 0, 7),
                shown=lambda after_ns: "" if after_ns is None else duration(after_ns),
                kind="duration",
                about="Time from the redrive until then.",
            ),
        )
        all_of_them = (Field("redriven", "flag", "Redriven, like all in this list."), lambda _row: True)
        super().__init__(columns, key=lambda row: row.redriven.seq, more=(all_of_them,))


def place_of(row: RedrivenMessage) -> Place:
    event = row.redriven
    return Place(event.to_topic, event.to_partition or 0, event.to_offset or 0)


PREVIEW_CHARS = 80
# More than this is not laid out as text: the pane says how much there is.
DETAIL_CHARS = 20_000
OF_TOPICS = mark(
    "Topics with names such as orders.DLT, orders-dlq and dlq.orders contain dead letters; to mark another one, use "
    "Dead letters > Dead-letter topic."
)


letter_key: Callable[[DeadLetterView], tuple[str, int]] = attrgetter("queue", "offset")
"""The key of a dead letter: its queue and its offset."""


def is_programs(key: Hashable) -> bool:
    """Whether a program wrote the dead letter into a topic: there, `queue` is topic/partition."""
    return isinstance(key, tuple) and "/" in key[0]


def _header_texts(letter: DeadLetterView) -> tuple[str, ...]:
    return tuple(f"{name}: {value.decode(errors='replace')}" for name, value in letter.headers)


_MORE = (
    (Field("dlq", "flag", "A dead letter, like all in this list."), lambda _row: True),
    (Field("redriven", "flag", "Sent back to its origin at least once."), lambda row: row.redrives > 0),
    (Field("queue"), attrgetter("queue")),
    (Field("header", "text", "Any header, as name: value."), _header_texts),
    (Field("published", "time"), attrgetter("published_ns")),
    (
        Field("holder", "text", "The holder in any of the attempts."),
        lambda row: tuple(one.holder for one in row.attempts),
    ),
)


class DeadLettersModel(SnapshotModel[DeadLetterView]):
    """Dead letters, the latest first. `source` gives those of a queue: a snapshot holds the newest ones only.

    `causes_changed` comes with (cause, count) pairs, the most frequent first."""

    causes_changed = Signal(list)

    def __init__(self, times: Times) -> None:
        self._now_ns = 0
        self._bins: tuple[Sequence[DeadLetterView], ...] = ()
        self.source: Callable[[QueueView], Sequence[DeadLetterView]] = attrgetter("dead_letters")
        self.of_topics: Callable[[Snapshot], Iterable[Sequence[DeadLetterView]]] = lambda _snapshot: ()
        self._has_programs = False
        self.causes: list[tuple[str, int]] = []
        self.whole = 0
        self.size_of: Callable[[DeadLetterView], int] = lambda letter: len(letter.value or b"")
        size = (Field("size", "size", "Bytes of the value."), self._size)
        columns: tuple[Column[DeadLetterView], ...] = (
            time_column("Died (session)", lambda row: row.dead_ns, times, (106, 0, 4), field="died"),
            Column(
                "Cause",
                lambda row: plain_text(row.cause.encode(), 120),
                (110, 3),
                kind="text",
                value=attrgetter("cause"),
            ),
            Column("Key", lambda row: "" if row.key is None else plain_text(row.key, 40), (90, 1, 2), "mono"),
            Column(
                "Payload",
                lambda row: plain_text(row.value, PREVIEW_CHARS),
                (110, 4),
                "mono",
                hint=lambda row: plain_text(row.value, 400),
                about="The beginning of the value as text; unprintable characters are escaped.",
            ),
            Column(
                "Origin",
                lambda row: _origin(row, "{topic}/{partition} at {offset:,}"),
                (130, 1, 3),
                "place",
                sort=lambda row: (row.origin_topic, row.origin_partition, row.origin_offset),
                about="Topic or queue, partition and offset that the message came from.",
            ),
            number_column("Attempts", _attempts, (80, 0, 1), shown=_counted),
            number_column(
                "Age",
                lambda row: self._now_ns - row.dead_ns,
                (86,),
                text=self._age,
                sort=lambda row: -row.dead_ns,
                live=True,
                about="Time since it died.",
                kind="duration",
            ),
            number_column(
                "Redrives",
                lambda row: None if isinstance(row, TopicLetter) else row.redrives,
                (80,),
                shown=_counted,
                about="How often it has been sent back to its origin; a high count indicates a loop.",
            ),
        )
        super().__init__(columns, key=letter_key, haystack=_haystack, more=(*_MORE, size))

    def _size(self, row: DeadLetterView) -> int:
        return self.size_of(row)

    def _age(self, row: DeadLetterView) -> str:
        # Whole seconds: the column is drawn again only when they change.
        seconds = max(0, self._now_ns - row.dead_ns) // 1_000_000_000
        return f"{seconds} s" if seconds < 60 else duration(seconds * 1_000_000_000)

    def forget(self) -> None:
        self._bins, self.causes = (), []
        self.causes_changed.emit([])

    def set_snapshot(self, snapshot: Snapshot) -> None:
        """Show the dead letters of a snapshot; `whole` counts all of them, listed or not."""
        tick = snapshot.time_ns // 1_000_000_000 != self._now_ns // 1_000_000_000
        self._now_ns = snapshot.time_ns
        self.whole = sum(queue.dead for queue in snapshot.queues)
        bins = (*(self.source(queue) for queue in snapshot.queues), *self.of_topics(snapshot))
        same = len(bins) == len(self._bins) and all(a is b for a, b in zip(bins, self._bins, strict=True))
        if not same and bins != self._bins:
            self._bins = bins
            self._has_programs = any(one and isinstance(one[0], TopicLetter) for one in bins)
            letters = sorted(chain.from_iterable(bins), key=attrgetter("dead_ns"), reverse=True)
            causes = Counter(map(attrgetter("cause"), letters)).most_common()
            self.set_rows(tuple(letters))
            if causes != self.causes:
                self.causes = causes
                self.causes_changed.emit(causes)
        if tick:
            self.touch_live()

    def programs_count(self, keys: Sequence[Hashable] | None = None) -> int:
        """How many of the rows with `keys`, or else of all that are shown, programs wrote into topics."""
        return sum(map(is_programs, self.keys() if keys is None else keys)) if self._has_programs else 0

    def set_cause(self, cause: str | None) -> None:
        self.set_only(None if cause is None else lambda letter: letter.cause == cause)


def _counted(count: int | None) -> str:
    return "" if count is None else localized(f"{count:,}")


def _attempts(letter: DeadLetterView) -> int | None:
    return letter.origin.attempts if isinstance(letter, TopicLetter) else len(letter.attempts)


def _origin(letter: DeadLetterView, words: str) -> str:
    if not letter.origin_topic:
        return tr("not given")
    if letter.origin_partition < 0 or letter.origin_offset < 0:
        return letter.origin_topic
    place = {"partition": letter.origin_partition, "offset": letter.origin_offset}
    return tr(words, topic=letter.origin_topic, **place)


def _haystack(letter: DeadLetterView) -> str:
    value = letter.value[:1000].decode(errors="replace") if letter.value else ""
    key = letter.key.decode(errors="replace") if letter.key else ""
    return f"{letter.cause}\n{key}\n{value}\n{letter.origin_topic}/{letter.origin_partition}\n{letter.queue}"


def dead_letter_facts(letter: DeadLetterView, times: Times) -> DeadLetterFacts:
    value = letter.value or b""
    text = _readable(value[:DETAIL_CHARS])
    if len(value) > DETAIL_CHARS:
        text += tr("\n… {count:,} more bytes", count=len(value) - DETAIL_CHARS)
    return DeadLetterFacts(
        key=letter_key(letter),
        cause=letter.cause,
        facts=(
            (tr("Key"), "none" if letter.key is None else plain_text(letter.key, 400)),
            (tr("Origin"), _origin(letter, mark("{topic}/{partition} at offset {offset:,}"))),
            (tr("Dead letter"), tr("{queue}, number {offset:,}", queue=letter.queue, offset=letter.offset)),
            *_told(letter, times),
            (tr("Died"), _moment(letter.dead_ns, times)),
            (tr("Size"), tr("no value") if letter.value is None else tr("{count:,} bytes", count=len(value))),
        ),
        headers=tuple((name, plain_text(data, 400)) for name, data in letter.headers),
        attempts=tuple((f"{number}.", _attempt(attempt)) for number, attempt in enumerate(letter.attempts, 1)),
        hints=tuple(times.hint(attempt.delivered_ns) for attempt in letter.attempts),
        payload=tr("(no value)") if letter.value is None else text,
    )


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


def _readable(value: bytes) -> str:
    return "\n".join("\t".join(plain_text(cell) for cell in line.split(b"\t")) for line in value.split(b"\n"))


class DeadLettersPresenter(TablePresenter[DeadLettersPanel]):
    panel_class = DeadLettersPanel

    def __init__(self, sources: Sources) -> None:
        self.model = DeadLettersModel(sources.times)
        self.redriven = RedrivenModel(sources.times)
        super().__init__(sources, self.model, self.redriven)
        self._history, self._times, self._redriven_ns = sources.history, sources.times, -1
        self._chosen: Hashable = None
        self.topics = DeadLetterTopics(sources.controller, sources.times, self)
        self._sync = DeadLetterSync(sources.controller, self)
        self.model.of_topics = lambda snapshot: self.topics.bins(snapshot, live=sources.controller.live)
        self.model.source, self.model.size_of = self._sync.rows, self._sync.size_of
        self.model.causes_changed.connect(self.panel.set_causes)
        self.panel.causeChosen.connect(self.model.set_cause)
        self.panel.currentChanged.connect(self._show_letter)
        self.topics.changed.connect(self.show_again)
        self._sync.changed.connect(self.show_again)
        sources.controller.acted.connect(lambda _performed, _source: self.topics.look_again())
        self.panel.programs_count = self.model.programs_count
        self.panel.viewChanged.connect(self._turn)

    def restart(self) -> None:
        super().restart()
        self.model.forget()
        self.topics.restart()
        self._sync.restart()
        self._redriven_ns = -1
        self.redriven.set_rows(())

    def _turn(self, redriven: bool) -> None:
        self.filter_in(self.redriven if redriven else self.model)
        self._redriven_ns = -1
        self.show_again()

    def thing_of(self, key: Any) -> str:
        letter = self.model.row_of(key)
        if letter is None or letter.origin_offset < 0:
            return ""
        return Place(letter.origin_topic, letter.origin_partition, letter.origin_offset).id

    def _look_redriven(self, now_ns: int) -> None:
        least_ns = NS_PER_S if self._controller.live else 1
        if self._redriven_ns < 0 or abs(now_ns - self._redriven_ns) >= least_ns:
            self._redriven_ns = now_ns
            self._history.ask(
                lambda past: redriven_messages(past, now_ns), lambda found: self.redriven.set_rows(tuple(found))
            )

    def show_around(self, snapshot: Snapshot) -> None:
        if self._controller.live:
            self._sync.update(snapshot)
        if self.panel.shows_redriven:
            self._look_redriven(snapshot.time_ns)
        self.panel.set_totals(snapshot.totals.dead_lettered, snapshot.totals.redriven)
        if self.topics.problem and not self.model.rowCount():
            self.panel.set_empty_words(tr("The dead letters of topics cannot be read."), self.topics.problem)
        elif not self._controller.source.knows("leases"):
            self.panel.set_empty_words(tr("No dead-letter topic has a message."), tr(OF_TOPICS))
        whole = self.model.whole + sum(self.topics.counts(snapshot).values())
        self.panel.set_note(overfull_words(self.model.total, whole, tr("dead letters")))
        # What was chosen may have been redriven or purged meanwhile, and an undo brings it back.
        if (self.panel.selected_count() > 0) != (self.panel.details.shown is not None):
            self._show_letter(self._chosen)

    def tab_count(self, snapshot: Snapshot) -> int:
        return sum(queue.dead for queue in snapshot.queues) + sum(self.topics.counts(snapshot).values())

    def _show_letter(self, key: Hashable) -> None:
        self._chosen = key
        letter = self.model.row_of(key) if self.panel.selected_count() else None
        self.panel.details.set_facts(None if letter is None else dead_letter_facts(letter, self._times))
