"""Transactions of a cluster's producers, as far as what passes tells of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import msgspec

from broker_core.events import EventKind, EventStream
from broker_core.listeners.between.seen import Seen
from broker_core.listeners.between.seen_logs import Arrived, SeenLog
from broker_core.messages import TopicPartition

_MARKERS_WAIT_NS: Final = 10_000_000_000


class _Producer(NamedTuple):
    client: str = ""
    transactional_id: str = ""
    epoch: int = -1
    timeout_ms: int = 0


class _Ending(msgspec.Struct):
    """A transaction that has ended, until its markers have been seen."""

    due_ns: int
    client: str
    detail: dict[str, Any]
    waits: set[TopicPartition]
    commits: list[tuple[Seen, Any]] = []
    markers: list[list[Any]] = []
    aborted: list[list[Any]] = []


class SeenTransactions:
    """A transaction begins with its first batch or commit, and is over when its markers have been seen."""

    def __init__(self, events: EventStream, log: Callable[[TopicPartition], SeenLog]) -> None:
        self._events, self._log = events, log
        self._producers: dict[int, _Producer] = {}
        self._written: dict[int, set[TopicPartition]] = {}  # by open transactions
        self._commits: dict[int, list[tuple[Seen, Any]]] = {}  # TxnOffsetCommits of open ones
        self._ending: list[_Ending] = []

    def init_producer_id_answered(self, seen: Seen, asked: Any, answer: Any) -> None:
        if not answer.error_code and asked.transactional_id:
            self._finish(seen.time_ns, answer.producer_id, committed=False)  # the coordinator has aborted what was open
            self._producers[answer.producer_id] = _Producer(
                seen.client, asked.transactional_id, answer.producer_epoch, asked.transaction_timeout
            )

    def begins(self, now_ns: int, producer_id: int, client: str) -> None:
        """A producer has sent a batch or a commit; the first of its transaction begins it."""
        if producer_id in self._commits:
            return
        _client, name, epoch, timeout_ms = self._producers.setdefault(producer_id, _Producer(client))
        self._commits[producer_id] = []
        detail = {"transactional_id": name, "producer_id": producer_id, "epoch": epoch, "timeout_ms": timeout_ms}
        self._events.emit(now_ns, EventKind.TRANSACTION_STARTED, client=client, detail=detail)

    def writes(self, producer_id: int, place: TopicPartition) -> None:
        self._written.setdefault(producer_id, set()).add(place)

    def txn_offset_commit_answered(self, seen: Seen, asked: Any, answer: Any) -> None:
        if not any(part.error_code for topic in answer.topics for part in topic.partitions):
            self.begins(seen.time_ns, asked.producer_id, seen.client)
            self._commits.setdefault(asked.producer_id, []).append((seen, asked))

    def end_txn_answered(self, now_ns: int, seen: Seen, asked: Any, answer: Any) -> tuple[list[tuple[Seen, Any]], bool]:
        """The TxnOffsetCommits that take effect by it, and whether it has markers, which are still to come."""
        producer_id, committed = asked.producer_id, bool(asked.committed)
        if answer.error_code:
            return [], False
        known = self._producers.get(producer_id, _Producer(seen.client))
        name, epoch = asked.transactional_id, asked.producer_epoch
        self._producers[producer_id] = known._replace(transactional_id=name, epoch=epoch)
        if (ending := self._finish(now_ns, producer_id, committed=committed)) is None:
            return [], False
        return ending.commits if committed else [], bool(ending.waits)

    def _finish(self, now_ns: int, producer_id: int, *, committed: bool) -> _Ending | None:
        """Its open transaction, whose markers are waited for from now on; None if it has none."""
        if producer_id not in self._commits and producer_id not in self._written:
            return None
        commits, places = self._commits.pop(producer_id, []), self._written.pop(producer_id, set())
        client, name, epoch, _ = self._producers.get(producer_id, _Producer())
        detail = {"transactional_id": name, "producer_id": producer_id, "epoch": epoch, "committed": committed}
        ending = _Ending(now_ns + _MARKERS_WAIT_NS, client, detail, places, commits)
        self._ending.append(ending)
        for place in places:
            self._log(place).markers_due += 1
        if not places:
            self._end(now_ns, ending)
        return ending

    def marked(self, now_ns: int, place: TopicPartition, marker: Arrived) -> None:
        waiting = [each for each in self._ending if place in each.waits]
        ending = next((each for each in waiting if marker.producer_id in {-1, each.detail["producer_id"]}), None)
        if ending is None and not marker.is_commit and place in self._written.get(marker.producer_id, ()):
            ending = self._finish(now_ns, marker.producer_id, committed=False)  # it has timed out
            self._log(place).markers_due -= 1
        if ending is None:  # of a producer that does not come through here
            detail = {"producer_id": marker.producer_id, "transactional_id": "", "epoch": -1}
            ending = _Ending(0, "", detail | {"committed": marker.is_commit}, {place})
            self._ending.append(ending)
        self._end_in(place, ending)
        ending.markers.append([*place, marker.start])
        ending.waits.discard(place)
        if not ending.waits:
            self._end(now_ns, ending)

    def settle(self, now_ns: int) -> None:
        """End those whose markers have not been seen in time."""
        for ending in [each for each in self._ending if each.due_ns <= now_ns]:
            self._end(now_ns, ending)

    def _end_in(self, place: TopicPartition, ending: _Ending) -> None:
        """The transaction ends in a partition; if it is aborted, so are the messages that it has published there."""
        spans = self._log(place).transactions.pop(ending.detail["producer_id"], [])
        if not ending.detail["committed"]:
            self._log(place).aborted(spans)
            ending.aborted += [[*place, span.start, len(span)] for span in spans]

    def _end(self, now_ns: int, ending: _Ending) -> None:
        self._ending.remove(ending)
        for place in ending.waits:
            self._end_in(place, ending)
            self._log(place).markers_due = max(0, self._log(place).markers_due - 1)
        cause = "committed" if ending.detail["committed"] else "aborted"
        detail = {**ending.detail, "markers": ending.markers, "aborted": ending.aborted}
        self._events.emit(now_ns, EventKind.TRANSACTION_ENDED, client=ending.client, cause=cause, detail=detail)
