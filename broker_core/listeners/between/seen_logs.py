"""Partitions of a cluster, as far as what passes tells of them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, NamedTuple

import msgspec

from broker_core.broker.delivery_record import PUBLISHED_NOT_KNOWN
from broker_core.log.batch import CONTROL_BIT, HEADER, HEADER_BYTES, LENGTH_FIELD_END, MAGIC, TRANSACTIONAL_BIT
from broker_core.messages import MessageRun, TopicPartition, grouped

_MOST_RUNS: Final = 50_000  # of a partition; of older ones only the number is known
_MARKER_TYPE_AT: Final = HEADER_BYTES + 8  # the lower byte of the type in a marker's key: 0 aborts, 1 commits
WAIT_NS: Final = 500_000_000  # for the answer that says who published what is missing


class Batch(NamedTuple):
    """The header of a record batch. `start` is 0 in a request; the CRC stays the same wherever the batch goes."""

    start: int
    messages: int
    size_bytes: int
    crc: int
    producer_id: int
    is_control: bool
    is_transactional: bool
    is_commit: bool  # of a control batch

    @property
    def end(self) -> int:
        return self.start + self.messages


def batches_in(records: bytes | memoryview | None) -> Iterator[Batch]:
    """The complete record batches in `records`, up to the first that is not of format version 2."""
    data, at = records or b"", 0
    while len(data) - at >= HEADER_BYTES:
        start, length, _, magic, crc, attributes, last, _, _, producer_id, *_ = HEADER.unpack_from(data, at)
        size = length + LENGTH_FIELD_END
        if magic != MAGIC or length <= 0 or at + size > len(data):
            return
        control, transactional = bool(attributes & CONTROL_BIT), bool(attributes & TRANSACTIONAL_BIT)
        commit = control and size > _MARKER_TYPE_AT and data[at + _MARKER_TYPE_AT] == 1
        yield Batch(start, last + 1, size, crc, producer_id, control, transactional, commit)
        at += size


def aborted_spans(batches: list[Batch], transactions: Iterable[Any]) -> list[range]:
    """Where messages of the aborted `transactions` of a Fetch response are; those of a producer end one by one."""
    aborted = grouped((each.producer_id, each.first_offset) for each in transactions)
    spans = []
    for batch in batches:
        starts = aborted.get(batch.producer_id)
        if batch.is_transactional and starts and batch.start >= starts[0]:
            if batch.is_control:
                del starts[0]
            else:
                spans.append(range(batch.start, batch.end))
    return spans


class Arrived(NamedTuple):
    """A run of messages that is in the log. `client` is "" if it did not come through here."""

    start: int
    messages: int
    size_bytes: int = 0
    client: str = ""
    producer_id: int = -1
    is_marker: bool = False
    since_ns: int | None = None  # it came between then and now
    is_commit: bool = True  # of a marker


class SeenLog:
    """A partition. Of what is before `start`, where the observation began, only the number of messages is known."""

    start_offset = 0  # nothing that is committed is known to have been deleted

    def __init__(
        self, place: TopicPartition, end: int, published_ns: Callable[[TopicPartition, int], int | None]
    ) -> None:
        self._place, self._start, self.first_offset = place, end, end
        self._published_ns = published_ns
        self.end_offset = end
        self._runs: list[MessageRun] = []
        self._markers: list[int] = []
        self._aborted: list[range] = []
        self._ahead: dict[int, tuple[Arrived, int]] = {}  # what came before what is in front of it, and when
        self._outside: tuple[int, int, int | None] | None = None  # an end that others tell of, when, since when
        self.transactions: dict[int, list[range]] = {}  # of producers with an open one: what they have published
        self.markers_due = 0  # of transactions that have ended

    # -- what is in it

    def arrived(self, found: Arrived, now_ns: int) -> list[Arrived]:
        """What is now known to be in the log, by offset; a batch after a gap is held back until the gap is filled."""
        if 0 < found.start - self.end_offset == self.markers_due:
            return self.fetched(found)
        if found.start > self.end_offset:
            self._ahead[found.start] = found, now_ns
            return []
        return self._taken(found)

    def fetched(self, found: Arrived) -> list[Arrived]:
        """As `arrived`, for what a client has fetched: whatever lies before it in the log must exist."""
        return [*self._filled(found.start, None), *self._taken(found)]

    def ends(self, end: int, now_ns: int, since_ns: int | None) -> None:
        """Others tell of an end, which is `settled` if nothing that passes does so soon."""
        if self._outside is not None:
            self._outside = max(end, self._outside[0]), *self._outside[1:]
        elif end > self.end_offset:
            self._outside = end, now_ns, since_ns

    @property
    def waits(self) -> bool:
        return bool(self._ahead or self._outside)

    def settled(self, now_ns: int) -> list[Arrived]:
        """Messages that are in the log but did not pass through the ports, told after `WAIT_NS`."""
        found: list[Arrived] = []
        if self._ahead:
            first = min(self._ahead)
            if now_ns - self._ahead[first][1] >= WAIT_NS:
                found += self._filled(first, None)
        if self._outside is not None and now_ns - self._outside[1] >= WAIT_NS:
            end, _, since_ns = self._outside
            self._outside = None
            found += self._filled(end, since_ns)
        return found

    def _filled(self, end: int, since_ns: int | None) -> list[Arrived]:
        found: list[Arrived] = []
        while self._ahead and self.end_offset < end:
            first = min(self._ahead)
            if first >= end:
                break
            found += self._gap(first, since_ns)
            found += self._taken(self._ahead.pop(first)[0])
        return found + self._gap(end, since_ns)

    def _gap(self, end: int, since_ns: int | None) -> list[Arrived]:
        count = end - self.end_offset
        if count <= 0:
            return []
        markers = min(count, self.markers_due)
        start = self.end_offset
        found = [Arrived(start, count - markers, since_ns=since_ns)] if count > markers else []
        found += [Arrived(end - markers + number, 1, is_marker=True) for number in range(markers)]
        return [each for run in found for each in self._taken(run)]

    def _taken(self, found: Arrived) -> list[Arrived]:
        if found.start < self.end_offset:
            return []
        self.end_offset = found.start + found.messages
        if found.is_marker:
            self._markers.append(found.start)
            self.markers_due = max(0, self.markers_due - 1)
        if self._outside is not None and self.end_offset >= self._outside[0]:
            self._outside = None
        following = self._ahead.pop(self.end_offset, None)
        return [found, *(() if following is None else self._taken(following[0]))]

    def keep(self, found: Arrived, time_ns: int) -> None:
        """Remember a run as published at a time."""
        self._runs.append(MessageRun(found.start, found.messages, found.size_bytes, time_ns))
        if found.producer_id >= 0:
            self.transactions.setdefault(found.producer_id, []).append(range(found.start, found.start + found.messages))
        if len(self._runs) > _MOST_RUNS:
            del self._runs[: _MOST_RUNS // 2]
            self._start = self._runs[0].offset

    def aborted(self, spans: list[range]) -> None:
        known = {span.start for span in self._aborted}
        self._aborted += [span for span in spans if span.start not in known]
        self._aborted.sort(key=lambda span: span.start)
        del self._aborted[:-_MOST_RUNS]

    # -- as `DeliveryRecord` asks a log

    @property
    def segments(self) -> SeenLog:
        return self

    def aborted_ranges(self, start: int, end: int) -> list[range]:
        return [span for span in self._aborted if span.start < end and span.stop > start]

    def messages_between(self, start: int, end: int) -> int:
        return max(0, end - start) - (bisect_left(self._markers, end) - bisect_left(self._markers, start))

    def runs(self, start: int, end: int) -> list[MessageRun]:
        """The messages at offsets `start` to `end`, which is excluded; offsets that hold no message are in no run."""
        found: list[MessageRun] = []
        if start < self._start:
            stop = min(end, self._start)
            published_ns = self._published_ns(self._place, start)
            since_ns = PUBLISHED_NOT_KNOWN if published_ns is None else published_ns
            found.append(MessageRun(start, stop - start, 0, since_ns))
        at = max(0, bisect_right(self._runs, start, key=lambda run: run.offset) - 1)
        for run in self._runs[at:]:
            if run.offset >= end:
                break
            first, stop = max(start, run.offset), min(end, run.end_offset)
            if stop - first == run.count:
                found.append(run)
            elif first < stop:
                size_bytes = run.size_bytes * (stop - first) // run.count
                found.append(msgspec.structs.replace(run, offset=first, count=stop - first, size_bytes=size_bytes))
        return found
