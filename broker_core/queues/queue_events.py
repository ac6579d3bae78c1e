from __future__ import annotations

from broker_core.events import EventKind, EventStream
from broker_core.queues.delivery import Skipped
from broker_core.queues.spans import Span

# Causes of user actions by which finished messages are ready again.
UNDO_PURGE, RESET_OFFSETS = "undo purge", "reset offsets"


class QueueEvents:
    """Emits the events of messages of `topic` in queue `name`; the queue is the event's `group`."""

    def __init__(self, name: str, topic: str, stream: EventStream) -> None:
        self._name = name
        self._topic = topic
        self._stream = stream

    def part(
        self,
        now_ns: int,
        kind: EventKind,
        level: int,
        span: Span,
        first: int | None = None,
        end: int | None = None,
        *,
        cause: str = "",
        client: str | None = None,
        key: bytes | None = None,
    ) -> None:
        """Emit `kind` for the members of `span` from `first` up to `end`, or for all."""
        if first is None or end is None:
            first, end = span.offset, span.end
        self._stream.emit(
            now_ns,
            kind,
            topic=self._topic,
            partition=level,
            offset=first,
            count=end - first,
            size_bytes=span.size_bytes(first, end),
            client=span.holder if client is None else client,
            group=self._name,
            attempt=span.attempts or None,
            published_ns=span.published_ns,
            key=key,
            cause=cause,
        )

    def skipped(self, now_ns: int, level: int, skipped: Skipped) -> None:
        self._stream.emit(
            now_ns,
            EventKind.EXPIRED if skipped.error is None else EventKind.DAMAGE,
            topic=self._topic,
            partition=level,
            offset=skipped.offset,
            count=1,
            size_bytes=skipped.size_bytes,
            group=self._name,
            published_ns=skipped.published_ns,
            cause="" if skipped.error is None else str(skipped.error),
        )

    def undone(self, now_ns: int, what: str, client: str, count: int, runs: list[tuple[int, int, int]]) -> None:
        self._stream.emit_action(
            now_ns,
            topic=self._topic,
            group=self._name,
            client=client,
            count=count,
            cause=what,
            detail={"runs": [list(run) for run in runs if run[1] < run[2]]},
        )
