"""The broker's events as server-sent events, with a bounded buffer for each client and a count of missed events."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncGenerator, Callable, Sequence

import msgspec

from broker_core.events import Event
from broker_core.listeners.served import ServedHost
from broker_core.operations.values import text_of

BUFFER_EVENTS = 10_000
_PIECE_EVENTS = 500  # what a client that does not read has in memory beside its buffer
_PAUSE_S = 0.02  # events are gathered for so long, for one write of many
_BEAT_S = 15.0  # a comment, so that proxies and clients see the connection alive


class Subscriber:
    """Events that `wanted` accepts, from now on; the newest are dropped while the buffer is full.

    Unless `told`, without their causes and details, which may name things that the client may not read.
    """

    def __init__(
        self, host: ServedHost, wanted: Callable[[Event], bool], most: int = BUFFER_EVENTS, *, told: bool = True
    ) -> None:
        self._host = host
        self._wanted = wanted
        self._most = most
        self._left_out = () if told else ("cause", "detail")
        self._buffer: deque[Event] = deque()
        self._dropped = 0
        self._loop = asyncio.get_running_loop()
        self._there = asyncio.Event()
        self._woken = False

    def _take(self, event: Event) -> None:
        # Called under the host's lock, in the thread that published.
        if not self._wanted(event):
            return
        if len(self._buffer) >= self._most:
            self._dropped += 1
            return
        self._buffer.append(event)
        if not self._woken:
            self._woken = True
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._there.set)

    def _drain(self) -> tuple[list[Event], int]:
        events, dropped = list(self._buffer), self._dropped
        self._buffer.clear()
        self._dropped, self._woken = 0, False
        self._there.clear()
        return events, dropped

    async def stream(self, closing: asyncio.Event, limit: int | None = None) -> AsyncGenerator[bytes]:
        """The text of the stream, until `closing` is set, the client disconnects, or after `limit` events."""
        self._host.call(lambda _now: self._host.events.attach(self._take))
        closed = asyncio.ensure_future(closing.wait())
        try:
            yield b": events of the broker\n\n"
            while not closing.is_set():
                there = asyncio.ensure_future(self._there.wait())
                try:
                    await asyncio.wait((there, closed), timeout=_BEAT_S, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    there.cancel()
                if not there.done():
                    if not closing.is_set():
                        yield b": still here\n\n"
                    continue
                await asyncio.sleep(_PAUSE_S)
                events, dropped = self._host.call(lambda _now: self._drain())
                events = events[:limit]
                for start in range(0, len(events), _PIECE_EVENTS):
                    piece = events[start : start + _PIECE_EVENTS]
                    yield b"".join(_text(event, self._left_out) for event in piece)
                if dropped:
                    yield b'event: missed\ndata: {"count":%d}\n\n' % dropped
                if limit is not None:
                    limit -= len(events)
                    if limit <= 0:
                        return
        finally:
            closed.cancel()
            if not self._host.closing:
                self._host.call(lambda _now: self._host.events.detach(self._take))


def _text(event: Event, left_out: Sequence[str]) -> bytes:
    row = {name: value for name, value in row_of(event).items() if name not in left_out}
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (event.seq, event.kind.encode(), msgspec.json.encode(row))


def row_of(event: Event) -> dict[str, object]:
    """An event without the fields that its kind does not use."""
    row: dict[str, object] = {"seq": event.seq, "time_ns": event.time_ns, "kind": event.kind}
    for field in event.__struct_fields__[3:]:
        value = getattr(event, field)
        if value is None or value == "":
            continue
        if field == "key":
            row["key"], encoding = text_of(value)
            if encoding != "text":
                row["key_encoding"] = encoding
        elif field not in {"count", "size_bytes"} or value:
            row[field] = value
    return row
