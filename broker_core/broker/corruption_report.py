"""What was found damaged, said aloud once: as an event, and kept for those who come later."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from broker_core.events import EventKind, EventStream
from broker_core.log.partition_log import PartitionLog

KEPT = 1_000


class CorruptionReport:
    """`sentences` holds the last that were said, the oldest first."""

    def __init__(self, events: EventStream) -> None:
        self._events = events
        self._told: dict[PartitionLog, frozenset[str]] = {}
        self._of_offsets = ""
        self.sentences: deque[str] = deque(maxlen=KEPT)

    def say(self, now_ns: int, sentence: str, topic: str = "", partition: int | None = None) -> None:
        """Tell of one damage."""
        self.sentences.append(f"{topic}/{partition}: {sentence}" if topic else sentence)
        self._events.emit(now_ns, EventKind.DAMAGE, topic=topic, partition=partition, cause=sentence)

    def look(self, now_ns: int, logs: Iterable[PartitionLog], of_offsets: str) -> None:
        """Say what is new: of these logs, found when they were opened or read, and of the store of offsets."""
        if of_offsets != self._of_offsets:
            self._of_offsets = of_offsets
            self.say(now_ns, of_offsets)
        known, self._told = self._told, {}
        for log in logs:
            sentences = dict.fromkeys((*log.recovery.notes, *(lost.sentence for lost in log.lost)))
            for sentence in sentences:
                if sentence not in known.get(log, ()):
                    self.say(now_ns, sentence, log.topic, log.partition)
            if sentences:
                self._told[log] = frozenset(sentences)
