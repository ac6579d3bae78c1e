"""Dead letters in topics: what programs write into topics of their own, found by the topic's name and read from the
headers, and what the broker keeps of the values that a topic's schema refuses."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress

from app.sessions.browsing.reader import Kept, Reader
from app.sessions.queries import HasSource
from broker_core.clock import NS_PER_MS
from broker_core.errors import BrokerError
from broker_core.guarded.origins import Origin, is_dead_letter_name, origin_of
from broker_core.messages import StoredMessage
from broker_core.operations.browse import BrowseMessages, ListDeadOffsets, MergeStep, MessageRow
from broker_core.queues.dead_letter_record import PREFIX, decode
from broker_core.snapshots import DeadLetterView, Snapshot, TopicView
from widgets.formats import Times

MOST = 1_000  # of a topic, the newest
STEP_ROWS = 200


class TopicLetter(DeadLetterView, frozen=True, kw_only=True):
    """A program's dead letter in a topic; `queue` is topic/partition, and `dead_ns` when it was written there.

    `published_ns` is only known if `origin` has its time.
    """

    origin: Origin


class DeadLetterTopics(Reader[DeadLetterView]):
    """`by_hand()` are topics that hold dead letters whatever they are called."""

    def __init__(self, asked: HasSource, times: Times, by_hand: Callable[[], Collection[str]]) -> None:
        super().__init__(asked)
        self._times, self._by_hand = times, by_hand
        self._gone: dict[str, int] = {}  # by topic, those that are redriven or purged, and still in the log

    def restart(self) -> None:
        super().restart()
        self._gone.clear()

    def look_again(self) -> None:
        """Call it after a redrive or a purge."""
        for kept in self._kept.values():
            kept.state = None

    def topics(self, snapshot: Snapshot) -> Sequence[TopicView]:
        by_hand = self._by_hand()
        of_queues = {name for queue in snapshot.queues for name in (queue.name, queue.dead_letter_topic)}
        return [
            topic
            for topic in snapshot.topics
            if topic.name not in of_queues and (is_dead_letter_name(topic.name) or topic.name in by_hand)
        ]

    def counts(self, snapshot: Snapshot) -> dict[str, int]:
        return {each.name: each.messages_count - self._gone.get(each.name, 0) for each in self.topics(snapshot)}

    def bins(self, snapshot: Snapshot, *, live: bool) -> Iterable[Sequence[DeadLetterView]]:
        """The letters that are here, by topic; what is there at other offsets is asked for."""
        for topic in self.topics(snapshot):
            ends = {part.partition: part.end_offset for part in topic.partitions}
            state = ends, [part.start_offset for part in topic.partitions], live
            if (kept := self._begin(topic.name, state)) is not None:
                kept.state = state
                self._read(topic.name, kept, ends, live=live)
            yield self._kept[topic.name].rows

    def _read(self, topic: str, kept: Kept[DeadLetterView], ends: dict[int, int], *, live: bool) -> None:
        found: list[DeadLetterView] = []

        def ask(cursors: dict[int, int]) -> None:
            request = BrowseMessages(topic=topic, cursors=cursors, back=True, ends=ends, most=STEP_ROWS)
            self._ask(kept, request, answered)

        def answered(step: MergeStep) -> None:
            found.extend(self.letter_of(row) for row in step.rows)
            owner = next((letter.queue for letter in found if not isinstance(letter, TopicLetter)), "")
            if not step.done and len(found) < MOST:
                ask(step.cursors)
            elif owner and live:  # what was there in the past nobody can be asked
                self._answers.ask(ListDeadOffsets(queue=owner), show_only, lambda _why: show(found))
            else:
                show(found)

        def show_only(offsets: list[int]) -> None:
            there = set(offsets)
            show([letter for letter in found if letter.offset in there or isinstance(letter, TopicLetter)])

        def show(letters: list[DeadLetterView]) -> None:
            self._gone[topic] = len(found) - len(letters)
            self._show(kept, letters)

        ask(ends)

    def letter_of(self, row: MessageRow) -> DeadLetterView:
        if any(name.startswith(PREFIX) for name, _ in row.headers):
            stored = StoredMessage(
                topic=row.topic,
                partition=row.partition,
                offset=row.offset,
                timestamp_ms=0,
                published_ns=row.published_ns,
                key=row.key,
                value=row.preview,
                headers=row.headers,
            )
            with suppress(BrokerError):  # a program can have copied some of these headers
                return decode(stored)
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
