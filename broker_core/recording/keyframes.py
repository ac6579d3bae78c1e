"""Keyframes: snapshots of a session while it runs, one a session second, in its folder.

A keyframe costs the broker a snapshot, so `Cadence` takes them at most so often that they cost a fixed share of the
time. Dead letters do not change: a keyframe names them, their payloads and attempts are written once, into a file of
their own.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import struct
import time
import zlib
from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

import msgspec
import pyarrow as pa
from msgspec.structs import replace

from broker_core.clock import NS_PER_S
from broker_core.decoding import from_msgpack
from broker_core.files import private
from broker_core.recording import schema
from broker_core.snapshots import DeadLetterView, Snapshot

T = TypeVar("T")

MAX_REBALANCES: Final = 50
EVERY_NS: Final = NS_PER_S
EVERY_EVENTS: Final = 10_000  # so that a seek never has to fold more than a few of these
MOST_SHARE: Final = 0.04  # of the time that passes; encoding, in the recorder's thread, takes as much again

_HEADER = struct.Struct("<4sIIIqq")
_FRAME, _LETTERS = b"KEYF", b"LETT"
_ENCODER = msgspec.msgpack.Encoder()


class _Record(NamedTuple):
    """The header of a record, and where what it is about begins in the file."""

    magic: bytes
    stored_bytes: int
    plain_bytes: int
    crc32: int  # of what is stored
    time_ns: int
    events: int
    at: int

    @property
    def end(self) -> int:
        return self.at + self.stored_bytes


class Cadence:
    """When the next keyframe is due: each session second, and every `EVERY_EVENTS` events, within `MOST_SHARE`."""

    def __init__(self) -> None:
        self._next_ns = 0
        self._next_events = 0
        self._not_before_s = 0.0
        self._cost_s = 0.0

    def due(self, now_ns: int, events: int) -> bool:
        """Whether to take one now; cheap, for it is asked between any two steps."""
        return (now_ns >= self._next_ns or events >= self._next_events) and time.perf_counter() >= self._not_before_s

    def took(self, now_ns: int, events: int, cost_s: float) -> None:
        self._cost_s = max(cost_s, 0.9 * self._cost_s)
        self._next_ns = (now_ns // EVERY_NS + 1) * EVERY_NS
        self._next_events = events + EVERY_EVENTS
        self._not_before_s = time.perf_counter() + self._cost_s / MOST_SHARE


def _framed(magic: bytes, value: object, time_ns: int = 0, events: int = 0) -> bytes:
    plain = _ENCODER.encode(value)
    stored: bytes = pa.compress(plain, codec="zstd", asbytes=True)
    return _HEADER.pack(magic, len(stored), len(plain), zlib.crc32(stored), time_ns, events) + stored


def _append(file: io.FileIO, record: bytes) -> None:
    """Write all of it. Raises OSError for a part: on a full disk `write` returns a smaller number."""
    if file.write(record) != len(record):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class KeyframeWriter:
    """Appends keyframes to a session folder. Every method may raise OSError."""

    def __init__(self, session: Path) -> None:
        folder = session / schema.KEYFRAMES
        private.make_directory(folder)
        self._frames = private.create(folder / schema.FRAMES_FILE).open("ab", buffering=0)
        self._letters = private.create(folder / schema.LETTERS_FILE).open("ab", buffering=0)
        self._known: set[tuple[str, int, int]] = set()

    def write(self, snapshot: Snapshot) -> None:
        """Write a keyframe, after the payloads of dead letters that it needs."""
        fresh: list[DeadLetterView] = []
        queues = []
        for queue in snapshot.queues:
            for letter in queue.dead_letters:
                key = (letter.queue, letter.offset, letter.dead_ns)
                if key not in self._known:
                    self._known.add(key)
                    fresh.append(letter)
            letters = tuple(replace(letter, value=None, headers=(), attempts=()) for letter in queue.dead_letters)
            queues.append(replace(queue, dead_letters=letters))
        if fresh:
            _append(self._letters, _framed(_LETTERS, fresh))
        lean = replace(snapshot, queues=tuple(queues), rebalances=snapshot.rebalances[-MAX_REBALANCES:])
        _append(self._frames, _framed(_FRAME, lean, snapshot.time_ns, snapshot.events))

    def close(self) -> None:
        self._frames.close()
        self._letters.close()


class Keyframes:
    """The keyframes of a session folder; `refresh` finds those that came since. `problem` is a sentence."""

    def __init__(self, session: Path) -> None:
        self._frames_path = session / schema.KEYFRAMES / schema.FRAMES_FILE
        self._letters_path = session / schema.KEYFRAMES / schema.LETTERS_FILE
        self._index: list[_Record] = []
        self._letters: dict[tuple[str, int], DeadLetterView] = {}
        self._frames_end = self._letters_end = 0
        self._last: tuple[_Record, Snapshot] | None = None  # that was read: most ask for it again
        self.problem = ""
        self.refresh()

    def refresh(self) -> None:
        for frame in self._records(self._frames_path, self._frames_end, _FRAME):
            # Headers have no checksum. Of two in the wrong order the one that does not fit its keyframe is left out.
            while self._index and not _in_order(self._index[-1], frame) and self._decoded(self._index[-1]) is None:
                self._index.pop()
            if not self._index or _in_order(self._index[-1], frame):
                self._index.append(frame)
            else:
                self._decoded(frame)
            self._frames_end = frame.end

    def check(self) -> None:
        """Verify all bytes of a recording that has ended; `problem` then names the damage."""
        problems = []
        for path, magic, lost in (
            (self._frames_path, _FRAME, "keyframes are damaged; their moments are folded from events"),
            (self._letters_path, _LETTERS, "lists of dead letters are damaged; the payloads in them are missing"),
        ):
            damaged = count = whole = 0
            with contextlib.suppress(OSError), path.open("rb") as file:
                for record in self._records(path, 0, magic):
                    file.seek(record.at)
                    count, whole = count + 1, record.end
                    damaged += zlib.crc32(file.read(record.stored_bytes)) != record.crc32
                if damaged:
                    problems.append(f"{damaged} of {count} {lost}.")
                elif not self.problem and whole != path.stat().st_size:
                    problems.append(f"{path.name} ends in the middle of a record.")
        self.problem = " ".join(filter(None, (self.problem, *problems)))

    def spread(self, most: int) -> Iterator[Snapshot]:
        """At most `most` keyframes, evenly from the first to the last."""
        count, last = min(most, len(self._index)), len(self._index) - 1
        for number in range(count):
            yield self._read(number * last // max(1, count - 1))

    def before(self, time_ns: int) -> Snapshot:
        """The last keyframe at or before `time_ns`; the empty state before the first."""
        return self._read(bisect_right(self._index, time_ns, key=lambda frame: frame.time_ns) - 1)

    def before_event(self, events: int) -> Snapshot:
        """The last keyframe with at most so many events in it."""
        return self._read(bisect_right(self._index, events, key=lambda frame: frame.events) - 1)

    def letter(self, queue: str, offset: int) -> DeadLetterView | None:
        """The dead letter of `queue` at `offset`, with its payload; None if no keyframe lists it."""
        if (queue, offset) not in self._letters:
            for record in self._records(self._letters_path, self._letters_end, _LETTERS):
                self._letters_end = record.end
                letters = self._content(self._letters_path, record, list[DeadLetterView], "Payloads of dead letters")
                self._letters.update(((letter.queue, letter.offset), letter) for letter in letters or ())
        return self._letters.get((queue, offset))

    def _read(self, place: int) -> Snapshot:
        for frame in reversed(self._index[: place + 1]):
            if (found := self._decoded(frame)) is not None:
                return found
        return Snapshot(0, 0)

    def _decoded(self, frame: _Record) -> Snapshot | None:
        """The keyframe at its place in the file; None if it is damaged, or its header is."""
        if self._last is not None and self._last[0] == frame:
            return self._last[1]
        called = f"The keyframe at {frame.time_ns / NS_PER_S:.3f} s"
        found = self._content(self._frames_path, frame, Snapshot, called)
        if found is not None and (found.time_ns, found.events) != (frame.time_ns, frame.events):
            self.problem = f"{called} cannot be read: its header does not fit."
            return None
        if found is not None:
            self._last = frame, found
        return found

    def _content(self, path: Path, record: _Record, kind: type[T], called: str) -> T | None:
        """The content of a record; None, and a `problem`, if it is damaged."""
        try:
            with path.open("rb") as file:
                file.seek(record.at)
                return from_msgpack(_plain(record, file.read(record.stored_bytes)), kind)
        except (OSError, ValueError, pa.ArrowException, msgspec.MsgspecError) as error:
            self.problem = f"{called} cannot be read: {error}."
            return None

    def _records(self, path: Path, start: int, magic: bytes) -> Iterator[_Record]:
        """The whole records from `start` on."""
        try:
            size = path.stat().st_size
            with path.open("rb") as file:
                at = start
                while at + _HEADER.size <= size:
                    file.seek(at)
                    record = _Record._make((*_HEADER.unpack(file.read(_HEADER.size)), at + _HEADER.size))
                    if record.magic != magic:
                        self.problem = f"{path.name} is damaged from byte {at} on; what follows is missing."
                        return
                    if record.end > size:
                        return  # torn, or being written
                    yield record
                    at = record.end
        except OSError:
            return


def _in_order(one: _Record, other: _Record) -> bool:
    return one.time_ns <= other.time_ns and one.events <= other.events


def _plain(record: _Record, stored: bytes) -> bytes:
    """Raises ValueError if the bytes are not those that were written."""
    if len(stored) != record.stored_bytes or zlib.crc32(stored) != record.crc32:
        raise ValueError("its checksum is wrong")
    plain: bytes = pa.decompress(stored, decompressed_size=record.plain_bytes, codec="zstd", asbytes=True)
    return plain
