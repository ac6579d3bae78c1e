from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from broker_core.messages import MessageRun
from broker_core.queues.states import LeaseState
from broker_core.snapshots import AttemptView

_PAGE_BITS = 6
_PAGE = 1 << _PAGE_BITS
_MASK = _PAGE - 1


class SpanLease(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The journal entry and saved state of messages that were delivered, or returned, together.

    `attempts` counts deliveries that were not released, including the present one; `history` holds those that ended.
    `deadline_ns` is the end of the lease (ACQUIRED) or of the retry delay (DELAYED). `doomed` messages are
    dead-lettered as soon as the dead letter queue can be written.
    """

    attempts: int = 0
    holder: str = ""
    since_ns: int = 0
    deadline_ns: int = 0
    history: tuple[AttemptView, ...] = ()
    doomed: bool = False
    priority: int = 0  # within a table that delivers by priorities


NEVER_LEASED = SpanLease()


class LeaseSpan(msgspec.Struct, eq=False, gc=False):
    """Messages from `offset` up to `end` that were delivered, or returned, together.

    Members can leave one by one: `open` counts those that are left, and the index knows which. `ticket` is the order of
    the deadline among timers of the same time. `sizes` are bytes of key and value, from the message at `base` on.
    """

    offset: int
    end: int
    state: LeaseState
    published_ns: int
    sizes: tuple[int, ...]
    base: int
    open: int
    lease: SpanLease = NEVER_LEASED
    ticket: int = -1

    def size_bytes(self, first: int, end: int) -> int:
        return sum(self.sizes_of(first, end))

    def sizes_of(self, first: int, end: int) -> tuple[int, ...]:
        return self.sizes[first - self.base : end - self.base]


def shares_of(run: MessageRun) -> tuple[int, ...]:
    """An estimate of the size of each message of `run`, of which the log knows only the total."""
    whole, count = run.size_bytes, run.count
    if whole % count:
        return tuple([whole * (n + 1) // count - whole * n // count for n in range(count)])
    return (whole // count,) * count


def part_of(span: LeaseSpan, first: int, end: int, state: LeaseState) -> LeaseSpan:
    lease = span.lease
    if lease is not NEVER_LEASED:
        lease = SpanLease(lease.attempts, history=lease.history, priority=lease.priority)
    return LeaseSpan(first, end, state, span.published_ns, span.sizes_of(first, end), first, end - first, lease)


def _slots(first: int, end: int) -> Iterator[tuple[int, int, int]]:
    """(page, start, stop) for each page of the offsets from `first` up to `end`."""
    while first < end:
        start = first & _MASK
        stop = min(_PAGE, start + end - first)
        yield first >> _PAGE_BITS, start, stop
        first += stop - start


class SpanIndex:
    """Maps offsets to spans in O(1), with eight bytes for each unfinished message."""

    __slots__ = ("_pages", "_used")

    def __init__(self) -> None:
        self._pages: dict[int, list[LeaseSpan | None]] = {}
        self._used: dict[int, int] = {}

    def get(self, offset: int) -> LeaseSpan | None:
        page = self._pages.get(offset >> _PAGE_BITS)
        return None if page is None else page[offset & _MASK]

    def put(self, first: int, end: int, span: LeaseSpan) -> None:
        for number, start, stop in _slots(first, end):
            page = self._pages.get(number)
            if page is None:
                page = self._pages[number] = [None] * _PAGE
                self._used[number] = 0
            self._used[number] += page[start:stop].count(None)
            page[start:stop] = [span] * (stop - start)

    def clear(self, first: int, end: int) -> None:
        for number, start, stop in _slots(first, end):
            used = self._used[number] - (stop - start)
            if used:
                self._used[number] = used
                self._pages[number][start:stop] = [None] * (stop - start)
            else:
                del self._used[number], self._pages[number]

    def end_of(self, span: LeaseSpan, first: int, end: int) -> int:
        """The end of the run of members of `span` that begins at `first`, at most `end`."""
        for number, start, stop in _slots(first, end):
            page = self._pages.get(number)
            members = 0 if page is None else page[start:stop].count(span)
            if page is None or members < stop - start:
                offset = (number << _PAGE_BITS) + start
                while self.get(offset) is span:
                    offset += 1
                return offset
        return end

    def segments(self, span: LeaseSpan) -> Iterator[tuple[int, int]]:
        """The runs (first, end) of the remaining members of `span`."""
        end = span.end
        if span.open == end - span.offset:
            yield span.offset, end
            return
        first: int | None = None
        for offset in range(span.offset, end):
            if self.get(offset) is span:
                first = offset if first is None else first
            elif first is not None:
                yield first, offset
                first = None
        if first is not None:
            yield first, end

    def first_offset(self) -> int | None:
        if not self._pages:
            return None
        number = min(self._pages)
        slots = self._pages[number]
        return number * _PAGE + next(slot for slot in range(_PAGE) if slots[slot] is not None)

    def newest(self, is_wanted: Callable[[LeaseSpan], bool]) -> int | None:
        for number in sorted(self._pages, reverse=True):
            slots = self._pages[number]
            for slot in range(_MASK, -1, -1):
                span = slots[slot]
                if span is not None and is_wanted(span):
                    return number * _PAGE + slot
        return None

    def runs(self) -> Iterator[tuple[int, int, LeaseSpan]]:
        first, end, current = 0, 0, None
        for number in sorted(self._pages):
            for slot, span in enumerate(self._pages[number]):
                offset = number * _PAGE + slot
                if current is not None and (span is not current or offset != end):
                    yield first, end, current
                    current = None
                if span is not None:
                    if current is None:
                        first, current = offset, span
                    end = offset + 1
        if current is not None:
            yield first, end, current
