from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import chain
from operator import attrgetter

import msgspec
from PySide6.QtCore import Signal

from app.presenters.columns import Column, key_column, number_column, state_column, time_column
from app.presenters.table import SnapshotModel, TableModel
from app.sessions.browsing.dead_letter_topics import TopicLetter
from app.sessions.event_text import event_word
from app.sessions.history.redriven import RedrivenMessage
from broker_core.clock import NS_PER_S
from broker_core.filters import Field
from broker_core.messages import header_texts
from broker_core.queues.dead_letter_record import DeadLetterEdit
from broker_core.snapshots import DeadLetterView, QueueView, Snapshot
from widgets.formats import Times, duration, plain_text
from widgets.i18n import mark, tr


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
                lambda row: str(row.place),
                (130, 2),
                "place",
                field="place",
                about="Where the redrive appended it.",
            ),
            key_column(lambda row: row.redriven.key, (90, 1, 2)),
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
                shown=duration,
                absent="",
                kind="duration",
                about="Time from the redrive until then.",
            ),
        )
        all_of_them = (Field("redriven", "flag", "Redriven, like all in this list."), lambda _row: True)
        super().__init__(columns, key=lambda row: row.redriven.seq, more=(all_of_them,))


PREVIEW_CHARS = 80
letter_key: Callable[[DeadLetterView], tuple[str, int]] = attrgetter("queue", "offset")
"""The key of a dead letter: its queue and its offset."""


def is_topic_letter(key: Hashable) -> bool:
    """Whether a program wrote the dead letter into a topic: there, `queue` is topic/partition."""
    return isinstance(key, tuple) and "/" in key[0]


_MORE = (
    (Field("dlq", "flag", "A dead letter, like all in this list."), lambda _row: True),
    (Field("redriven", "flag", "Sent back to its origin at least once."), lambda row: row.redrives > 0),
    (Field("queue"), attrgetter("queue")),
    (Field("header", "text", "Any header, as name: value."), lambda letter: header_texts(letter.headers)),
    (Field("published", "time"), attrgetter("published_ns")),
    (
        Field("holder", "text", "The holder in any of the attempts."),
        lambda row: tuple(one.holder for one in row.attempts),
    ),
)


class EditedLetter(DeadLetterView, frozen=True):
    """A dead letter with an edit: the value, key and headers that a redrive appends."""

    @classmethod
    def of(cls, letter: DeadLetterView, edit: DeadLetterEdit | None) -> DeadLetterView:
        if edit is None:
            return letter
        new = {name: getattr(edit, name) for name in ("value", "key", "headers")}
        changed = {name: each for name, each in new.items() if each is not msgspec.UNSET}
        return cls(**{**msgspec.structs.asdict(letter), **changed})


def _payload(letter: DeadLetterView) -> str:
    payload = plain_text(letter.value, PREVIEW_CHARS)
    return tr("Edited: {payload}", payload=payload) if isinstance(letter, EditedLetter) else payload


class DeadLettersModel(SnapshotModel[DeadLetterView]):
    """Dead letters, the latest first. `of_queue` gives those of a queue: a snapshot holds the newest ones only.

    `size_of` gives the size of a value that may be here in part; `of_topics` what programs wrote into topics;
    `edits` the edits by their keys. `causes_changed` comes with (cause, count) pairs, the most frequent first.
    """

    causes_changed = Signal(list)

    def __init__(
        self,
        times: Times,
        of_queue: Callable[[QueueView], Sequence[DeadLetterView]] = attrgetter("dead_letters"),
        size_of: Callable[[DeadLetterView], int] = lambda letter: len(letter.value or b""),
        of_topics: Callable[[Snapshot], Iterable[Sequence[DeadLetterView]]] = lambda _snapshot: (),
        edits: Callable[[], dict[Hashable, DeadLetterEdit]] = dict,
    ) -> None:
        self._of_queue, self._of_topics, self._edits = of_queue, of_topics, edits
        self._now_ns = 0
        self._bins: tuple[Sequence[DeadLetterView], ...] = ()
        self._edited: dict[Hashable, DeadLetterEdit] = {}
        self._has_topic_letters = False
        self.causes: list[tuple[str, int]] = []
        self.whole = 0
        size = (Field("size", "size", "Bytes of the value."), size_of)
        columns: tuple[Column[DeadLetterView], ...] = (
            time_column("Died (session)", lambda row: row.dead_ns, times, (106, 0, 4), field="died"),
            Column(
                "Cause",
                lambda row: plain_text(row.cause.encode(), 120),
                (110, 3),
                kind="text",
                value=attrgetter("cause"),
            ),
            key_column(lambda row: row.key, (90, 1, 2)),
            Column(
                "Payload",
                _payload,
                (110, 4),
                "mono",
                hint=lambda row: plain_text(row.value, 400),
                about="The beginning of the value as text; unprintable characters are escaped.",
            ),
            Column(
                "Origin",
                lambda row: origin_words(row, mark("{topic}/{partition} at {offset:,}")),
                (130, 1, 3),
                "place",
                sort=lambda row: (row.origin_topic, row.origin_partition, row.origin_offset),
                about="Topic or queue, partition and offset that the message came from.",
            ),
            number_column("Attempts", _attempts, (80, 0, 1), absent=""),
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
                absent="",
                about="How often it has been sent back to its origin; a high count indicates a loop.",
            ),
        )
        super().__init__(columns, key=letter_key, haystack=_haystack, more=(*_MORE, size))

    def _age(self, row: DeadLetterView) -> str:
        # Whole seconds: the column is drawn again only when they change.
        seconds = max(0, self._now_ns - row.dead_ns) // NS_PER_S
        return f"{seconds} s" if seconds < 60 else duration(seconds * NS_PER_S)

    def forget(self) -> None:
        self._bins, self.causes = (), []
        self.causes_changed.emit([])

    def set_snapshot(self, snapshot: Snapshot) -> None:
        """Show the dead letters of a snapshot; `whole` counts all of them, listed or not."""
        tick = snapshot.time_ns // NS_PER_S != self._now_ns // NS_PER_S
        self._now_ns = snapshot.time_ns
        self.whole = sum(queue.dead for queue in snapshot.queues)
        bins = (*map(self._of_queue, snapshot.queues), *self._of_topics(snapshot))
        if (bins, edits := self._edits()) != (self._bins, self._edited):
            self._bins, self._edited = bins, edits
            self._has_topic_letters = any(one and isinstance(one[0], TopicLetter) for one in bins)
            letters = sorted(chain.from_iterable(bins), key=attrgetter("dead_ns"), reverse=True)
            if edits:
                letters = [EditedLetter.of(letter, edits.get(letter_key(letter))) for letter in letters]
            causes = Counter(map(attrgetter("cause"), letters)).most_common()
            self.set_rows(tuple(letters))
            if causes != self.causes:
                self.causes = causes
                self.causes_changed.emit(causes)
        if tick:
            self.touch_live()

    def topic_letter_count(self, keys: Sequence[Hashable] | None = None) -> int:
        """How many of the rows with `keys`, or else of all that are shown, programs wrote into topics."""
        return sum(map(is_topic_letter, self.keys() if keys is None else keys)) if self._has_topic_letters else 0

    def set_cause(self, cause: str | None) -> None:
        self.set_only(None if cause is None else lambda letter: letter.cause == cause)


def _attempts(letter: DeadLetterView) -> int | None:
    return letter.origin.attempts if isinstance(letter, TopicLetter) else len(letter.attempts)


def origin_words(letter: DeadLetterView, words: str) -> str:
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
