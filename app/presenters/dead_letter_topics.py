"""Dead letters in topics: what programs write into topics of their own, found by the topic's name and read from the
headers, and what the broker keeps of the values that a topic's schema refuses."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress

from PySide6.QtCore import QObject, Signal

from app.sessions.queries import Answers, HasSource
from broker_core.clock import NS_PER_MS
from broker_core.errors import BrokerError
from broker_core.guarded.origins import Origin, is_named_so, origin_of
from broker_core.messages import StoredMessage
from broker_core.operations.browse import BrowseMessages, ListDeadOffsets, MergeStep, MessageRow
from broker_core.queues.dead_letter_record import PREFIX, decode
from broker_core.snapshots import DeadLetterView, Snapshot, TopicView
from widgets.formats import Times

MOST = 1_000  # of a topic, the newest
STEP_ROWS = 200
READ_EVERY_S = 1.0


class TopicLetter(DeadLetterView, frozen=True, kw_only=True):
    """A program's dead letter in a topic; `queue` is topic/partition, and `dead_ns` when it was written there.

    `published_ns` is only known if `origin` has its time.
    """

    origin: Origin


class _Topic:
    def __init__(self) -> None:
        self.ends: dict[int, int] = {}
        self.starts: tuple[int, ...] = ()
        self.live = False
        self.letters: tuple[DeadLetterView, ...] = ()
        self.gone = 0  # redriven or purged, and still in the log
        self.asking = False
        self.read_s = 0.0


class DeadLetterTopics(QObject):
    """`changed` when more are here; `by_hand()` are topics that hold dead letters whatever they are called."""

    changed = Signal()

    def __init__(self, asked: HasSource, times: Times, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._answers = Answers(asked, self)
        self._times = times
        self._read: dict[str, _Topic] = {}
        self.by_hand: Callable[[], Collection[str]] = tuple
        self.problem = ""

    def restart(self) -> None:
        self._answers.drop()
        self._read.clear()
        self.problem = ""

    def look_again(self) -> None:
        """Call it after a redrive or a purge."""
        for kept in self._read.values():
            kept.ends = {}

    def topics(self, snapshot: Snapshot) -> Sequence[TopicView]:
        by_hand = self.by_hand()
        of_queues = {name for queue in snapshot.queues for name in (queue.name, queue.dead_letter_topic)}
        return [
            topic
            for topic in snapshot.topics
            if topic.name not in of_queues and (is_named_so(topic.name) or topic.name in by_hand)
        ]

    def counts(self, snapshot: Snapshot) -> dict[str, int]:
        topics = self.topics(snapshot)
        return {each.name: each.messages_count - self._read.setdefault(each.name, _Topic()).gone for each in topics}

    def bins(self, snapshot: Snapshot, *, live: bool) -> Iterable[Sequence[DeadLetterView]]:
        """The letters that are here, by topic; what is there at other offsets is asked for."""
        for topic in self.topics(snapshot):
            kept = self._read.setdefault(topic.name, _Topic())
            ends = {part.partition: part.end_offset for part in topic.partitions}
            starts = tuple(part.start_offset for part in topic.partitions)
            is_due = time.perf_counter() - kept.read_s >= READ_EVERY_S
            if (ends, starts, live) != (kept.ends, kept.starts, kept.live) and is_due and not kept.asking:
                kept.ends, kept.starts, kept.live = ends, starts, live
                kept.asking, kept.read_s = True, time.perf_counter()
                self._step(topic.name, kept, ends, [])
            yield kept.letters

    def _step(self, topic: str, kept: _Topic, cursors: dict[int, int], found: list[DeadLetterView]) -> None:
        def show(letters: Sequence[DeadLetterView]) -> None:
            kept.asking, self.problem, kept.gone = False, "", len(found) - len(letters)
            if kept.letters != tuple(letters):
                kept.letters = tuple(letters)
                self.changed.emit()

        def show_only(offsets: list[int]) -> None:
            there = set(offsets)
            show([letter for letter in found if letter.offset in there or isinstance(letter, TopicLetter)])

        def answered(step: MergeStep) -> None:
            found.extend(self.letter_of(row) for row in step.rows)
            owner = next((letter.queue for letter in found if not isinstance(letter, TopicLetter)), "")
            if not step.done and len(found) < MOST:
                self._step(topic, kept, step.cursors, found)
            elif owner and kept.live:  # what was there in the past nobody can be asked
                self._answers.ask(ListDeadOffsets(queue=owner), show_only, lambda _why: show(found))
            else:
                show(found)

        def failed(sentence: str) -> None:
            kept.asking, self.problem = False, sentence
            self.changed.emit()

        request = BrowseMessages(topic=topic, cursors=cursors, back=True, ends=kept.ends, most=STEP_ROWS)
        self._answers.ask(request, answered, failed)

    def letter_of(self, row: MessageRow) -> DeadLetterView:
        if any(name.startswith(PREFIX) for name, _ in row.headers):
            place, at = (row.topic, row.partition, row.offset), (0, row.published_ns)
            with suppress(BrokerError):  # a program can have copied some of these headers
                return decode(StoredMessage(*place, *at, row.key, row.preview, row.headers))
        origin = origin_of(row.headers) or Origin()
        start = self._times.wall_start
        published_ns = row.published_ns
        if origin.published_ms is not None and start is not None:
            published_ns = origin.published_ms * NS_PER_MS - int(start.timestamp() * 1_000) * NS_PER_MS
        return TopicLetter(
            queue=f"{row.topic}/{row.partition}",
            offset=row.offset,
            origin_topic=origin.topic,
            origin_partition=-1 if origin.partition is None else origin.partition,
            origin_offset=-1 if origin.offset is None else origin.offset,
            key=row.key,
            value=row.preview,
            headers=row.headers,
            cause=origin.cause,
            published_ns=published_ns,
            dead_ns=row.published_ns,
            redrives=0,
            attempts=(),
            origin=origin,
        )
