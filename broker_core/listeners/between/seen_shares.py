"""Share groups (KIP-932): which records a member acquires, and how it settles them; a queue for each group and topic,
as with a broker of our own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from broker_core.events import EventKind, EventStream
from broker_core.listeners.between.rewriting import SHARE_FETCH
from broker_core.listeners.between.seen import Seen
from broker_core.messages import TopicPartition
from broker_core.observation.kafka.cluster_diff import ClusterDiff

_SETTLED: Final = {
    1: (EventKind.ACKNOWLEDGED, ""),
    2: (EventKind.RELEASED, "released by its share consumer"),
    3: (EventKind.NACKED, "rejected by its share consumer"),
}


class SeenShares:
    def __init__(
        self, diff: ClusterDiff, events: EventStream, parts: Callable[[Any], Iterable[tuple[TopicPartition, Any]]]
    ) -> None:
        self._diff, self._events, self._parts = diff, events, parts
        self._queues: set[str] = set()
        self._held: dict[tuple[str, TopicPartition, int], tuple[str, int]] = {}  # by offset: member, delivery count

    def settles(self, seen: Seen, asked: Any, answer: Any) -> None:
        """The acknowledgements of a request; those that the cluster has refused are none."""
        error = "acknowledge_error_code" if seen.api_key == SHARE_FETCH else "error_code"
        refused = {place for place, part in self._parts(answer.responses) if getattr(part, error)}
        for place, part in self._parts(() if answer.error_code else asked.topics):
            for batch in part.acknowledgement_batches if place not in refused else ():
                self._settle(seen, asked, place, batch)

    def _settle(self, seen: Seen, asked: Any, place: TopicPartition, batch: Any) -> None:
        offsets = range(batch.first_offset, batch.last_offset + 1)
        kinds = batch.acknowledge_types
        types = kinds if len(kinds) == len(offsets) else [kinds[0]] * len(offsets) if kinds else []
        for offset, number in zip(offsets, types, strict=False):
            held = self._held.get((asked.group_id, place, offset))
            if number in _SETTLED and held is not None:
                del self._held[asked.group_id, place, offset]
                kind, cause = _SETTLED[number]
                self._say(seen, asked, kind, place, range(offset, offset + 1), held[1], cause)

    def acquires(self, seen: Seen, asked: Any, place: TopicPartition, part: Any) -> None:
        """Report the messages of one partition that a member of a share group has acquired."""
        for run in part.acquired_records:
            offsets = range(run.first_offset, run.last_offset + 1)
            self._say(seen, asked, EventKind.DELIVERED, place, offsets, run.delivery_count)
            for offset in offsets:
                self._held[asked.group_id, place, offset] = asked.member_id, run.delivery_count

    def _say(
        self,
        seen: Seen,
        asked: Any,
        kind: EventKind,
        place: TopicPartition,
        offsets: range,
        attempt: int,
        cause: str = "",
    ) -> None:
        queue = f"{asked.group_id}.{place[0]}"
        if queue not in self._queues:
            self._queues.add(queue)
            count = self._diff.topics[place[0]].partitions
            self._events.emit(seen.time_ns, EventKind.QUEUE_CREATED, topic=place[0], group=queue, count=count)
        self._events.emit(
            seen.time_ns,
            kind,
            topic=place[0],
            partition=place[1],
            offset=offsets.start,
            count=len(offsets),
            client=seen.client,
            group=queue,
            attempt=attempt,
            cause=cause,
            member=asked.member_id,
        )
