from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

from broker_core.events import EventKind, EventStream
from broker_core.log.partition_log import PartitionLog

KEPT = 1_000


class CorruptionReport:
    """`sentences` holds the last findings, the oldest first."""

    def __init__(self, events: EventStream, of_offsets: Callable[[], str]) -> None:
        """`of_offsets()` returns the finding of the offset store, "" for none."""
        self.sentences: deque[str] = deque(maxlen=KEPT)
        self._events = events
        self._of_offsets = of_offsets
        self._reported_of_offsets = ""
        self._reported: dict[PartitionLog, frozenset[str]] = {}

    def add(self, now_ns: int, sentence: str, topic: str = "", partition: int | None = None) -> None:
        self.sentences.append(f"{topic}/{partition}: {sentence}" if topic else sentence)
        self._events.emit(now_ns, EventKind.DAMAGE, topic=topic, partition=partition, cause=sentence)

    def update(self, now_ns: int, logs: Iterable[PartitionLog]) -> None:
        of_offsets = self._of_offsets()
        if of_offsets != self._reported_of_offsets:
            self._reported_of_offsets = of_offsets
            self.add(now_ns, of_offsets)
        known, self._reported = self._reported, {}
        for log in logs:
            sentences = dict.fromkeys((*log.recovery.notes, *(lost.sentence for lost in log.lost)))
            for sentence in sentences:
                if sentence not in known.get(log, ()):
                    self.add(now_ns, sentence, log.topic, log.partition)
            if sentences:
                self._reported[log] = frozenset(sentences)
