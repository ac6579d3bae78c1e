"""What a consumer with the isolation level read_committed gets: no message of an aborted transaction."""

from __future__ import annotations

from collections.abc import Sequence

from broker_core.broker.logs import Logs
from broker_core.clients.partition_runs import partition_runs
from broker_core.groups.protocol import TopicPartition
from broker_core.messages import StoredMessage


class CommittedMessages:
    """Drops aborted messages, and says how far a commit may pass over them."""

    def __init__(self, logs: Logs) -> None:
        self._logs = logs
        # Of each partition, the end of the last committed message, and of what was fetched.
        self._ends: dict[TopicPartition, tuple[int, int]] = {}

    def only(self, messages: Sequence[StoredMessage]) -> list[StoredMessage]:
        """Those of fetched `messages` that were not aborted."""
        found: list[StoredMessage] = []
        for place, first, end in partition_runs(messages):
            start, stop = messages[first].offset, messages[end - 1].offset + 1
            aborted = self._logs.partition(*place).aborted_ranges(start, stop)
            live = [each for each in messages[first:end] if not any(each.offset in span for span in aborted)]
            known_end, known_stop = self._ends.get(place, (start, start))
            before = known_end if known_stop <= start else start
            self._ends[place] = (live[-1].offset + 1 if live else before, stop)
            found += live
        return found

    def behind(self, place: TopicPartition, offset: int) -> int:
        """What to commit for `offset`: where only aborted messages follow, the end of what was fetched."""
        live_end, stop = self._ends.get(place, (offset, offset))
        return max(offset, stop) if live_end <= offset else offset
