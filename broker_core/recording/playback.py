from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from operator import attrgetter
from pathlib import Path
from typing import Protocol

from broker_core.events import Event
from broker_core.recording.event_index import EventIndex
from broker_core.recording.fold import Fold
from broker_core.recording.keyframes import Keyframes
from broker_core.recording.publish_times import FolderTimes
from broker_core.recording.recorder import Recorder
from broker_core.snapshots import Snapshot

MOST_FRAMES = 600  # of a session that is not recorded


class Playback(Protocol):
    """States of a session at earlier moments. A call may take 100 ms; one thread at a time makes them."""

    exact: bool
    """False where only some moments were kept, and `at` gives the last of them."""

    def at(self, time_ns: int) -> Snapshot:
        """The state at `time_ns`."""

    def after_event(self, seq: int) -> Snapshot:
        """The state right after event `seq`."""

    def events(self, first_seq: int, to_seq: int) -> Iterator[Event]:
        """The events in between, both included; none where they were not kept."""


class FolderPlayback:
    exact = True

    def __init__(self, folder: Path, recorder: Recorder | None = None) -> None:
        self._recorder = recorder
        self.keyframes = Keyframes(folder)
        self.index = EventIndex(folder, None if recorder is None else recorder.unsealed)
        self._times = FolderTimes(self.index)
        self._fold: Fold | None = None
        self._base = (-1, -1)  # the keyframe that it began at
        self._shown_ns = 0

    def at(self, time_ns: int) -> Snapshot:
        self._catch_up()
        keyframe = self.keyframes.before(time_ns)
        return self._go(keyframe, self._shown_ns <= time_ns, time_ns=time_ns)

    def end(self) -> Snapshot:
        self._catch_up()
        return self._go(self.keyframes.before_event(1 << 62), self._fold is not None)

    def after_event(self, seq: int) -> Snapshot:
        self._catch_up()
        keyframe = self.keyframes.before_event(seq + 1)
        return self._go(keyframe, self._fold is not None and self._fold.events <= seq + 1, to_seq=seq)

    def events(self, first_seq: int, to_seq: int) -> Iterator[Event]:
        self._catch_up()
        return self.index.events(first_seq, to_seq=to_seq)

    def moments(self, most: int) -> Iterator[Snapshot]:
        """At most `most` keyframes from the beginning to the end; none in a session of version 1."""
        self._catch_up()
        return self.keyframes.spread(most)

    def _catch_up(self) -> None:
        if self._recorder is not None:
            self._recorder.flush()
        self.keyframes.refresh()

    def _go(
        self, keyframe: Snapshot, ahead: bool, *, time_ns: int | None = None, to_seq: int | None = None
    ) -> Snapshot:
        """Fold on from what was shown last if that began at `keyframe`: no state depends on another that was shown."""
        fold, base = self._fold, (keyframe.time_ns, keyframe.events)
        if fold is None or not ahead or base != self._base:
            self._base = base
            fold = self._fold = Fold(keyframe, self.keyframes.letter, self._times.of)
        for event in self.index.events(fold.events, to_ns=time_ns, to_seq=to_seq):
            fold.add(event)
        snapshot = fold.snapshot(time_ns)
        self._shown_ns = snapshot.time_ns
        return snapshot


class MemoryPlayback:
    """Playback of a session that is not recorded: only keyframes, which lie closer together in a shorter session."""

    exact = False

    def __init__(self) -> None:
        self._frames: tuple[Snapshot, ...] = ()
        self._every = 1
        self._skipped = 0

    def keyframe(self, snapshot: Snapshot) -> None:
        """Add a keyframe, from the engine's thread. Beyond `MOST_FRAMES`, every other one is forgotten."""
        self._skipped += 1
        if self._frames and self._skipped < self._every:
            return
        self._skipped = 0
        frames = (*self._frames, snapshot)
        if len(frames) > MOST_FRAMES:
            frames = frames[::2]
            self._every *= 2
        self._frames = frames

    def at(self, time_ns: int) -> Snapshot:
        return self._last(time_ns, attrgetter("time_ns"))

    def after_event(self, seq: int) -> Snapshot:
        """The last moment that was kept with at most that event in it."""
        return self._last(seq + 1, attrgetter("events"))

    def _last(self, limit: int, figure: Callable[[Snapshot], int]) -> Snapshot:
        frames = self._frames
        return frames[max(0, bisect_right(frames, limit, key=figure) - 1)] if frames else Snapshot(0, 0)

    def events(self, _first_seq: int, _to_seq: int) -> Iterator[Event]:
        return iter(())
