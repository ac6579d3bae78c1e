from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from PySide6.QtCore import QObject, QTimer, Signal

from broker_core.clock import NS_PER_S
from broker_core.errors import BrokerError
from broker_core.events import Event
from broker_core.recording.playback import Playback
from broker_core.snapshots import Snapshot
from widgets.i18n import tr

PLAY_EVERY_MS = 40

#: A moment, and the event it was asked for by.
Seen = tuple[Snapshot, Event | None]


class PlaybackPosition(QObject):
    """Shows one moment of `playback` at a time. `changed` comes in the window's thread when another one is shown.

    What is asked for while an earlier request is under way replaces it: a scrubber that is dragged asks often.
    """

    changed = Signal()
    failed = Signal(str)
    _arrived = Signal(object)

    def __init__(self, playback: Playback, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.playback = playback
        self.snapshot: Snapshot | None = None
        self.shown_event: Event | None = None
        self.target_ns = 0
        self.speed = 0.0
        self._request: Callable[[], Seen] | None = None
        self.busy = self._closed = False
        self._anchor = (0.0, 0)
        self._end_ns: Callable[[], int] = lambda: 0
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="playback")
        self._arrived.connect(self._show)
        self._timer = QTimer(self, interval=PLAY_EVERY_MS)
        self._timer.timeout.connect(self._play_on)

    def seek(self, time_ns: int) -> None:
        time_ns = max(0, time_ns)
        self.target_ns = time_ns
        if self.playing:
            self._anchor = (time.perf_counter(), time_ns)
        playback = self.playback
        self._ask(lambda: (playback.at(time_ns), None))

    def step(self, events: int) -> None:
        """Go `events` on, or back where that is negative; nothing before the first."""
        if self.snapshot is None:
            return
        self.pause()
        seq = max(0, self.snapshot.events - 1 + events)
        self.seek_event(seq)

    def seek_event(self, seq: int) -> None:
        playback = self.playback

        def read() -> Seen:
            found = list(playback.events(seq, seq))
            return playback.after_event(seq), found[0] if found else None

        self._ask(read)

    @property
    def playing(self) -> bool:
        return self.speed > 0

    def play(self, speed: float, end_ns: Callable[[], int]) -> None:
        self.speed = speed
        self._end_ns = end_ns
        self._anchor = (time.perf_counter(), self.target_ns)
        self._timer.start()

    def pause(self) -> None:
        self.speed = 0.0
        self._timer.stop()

    def _play_on(self) -> None:
        if self.busy:
            return
        began_s, began_ns = self._anchor
        due_ns = began_ns + round((time.perf_counter() - began_s) * self.speed * NS_PER_S)
        end_ns = self._end_ns()
        if due_ns >= end_ns:
            self.pause()
        self.target_ns = min(due_ns, end_ns)
        playback, time_ns = self.playback, self.target_ns
        self._ask(lambda: (playback.at(time_ns), None))

    def _ask(self, request: Callable[[], Seen]) -> None:
        self._request = request
        if not self.busy:
            self._go()

    def _go(self) -> None:
        request, self._request = self._request, None
        if request is not None:
            self.busy = True
            self._worker.submit(request).add_done_callback(self._report)

    def _report(self, done: Future[Seen]) -> None:
        """In the worker's thread; this object may have been closed or deleted since."""
        if not self._closed:
            with contextlib.suppress(RuntimeError):
                self._arrived.emit(done)

    def _show(self, done: Future[Seen]) -> None:
        self.busy = False
        if done.cancelled():
            return
        error = done.exception()
        if error is None:
            self.snapshot, self.shown_event = done.result()
            if self.shown_event is not None:
                self.target_ns = self.snapshot.time_ns
            self.changed.emit()
        elif isinstance(error, BrokerError | OSError | ValueError):
            self.failed.emit(tr("This moment cannot be shown: {error}", error=error))
        else:
            raise error
        self._go()

    def close(self) -> None:
        self._closed = True
        self.pause()
        self._request = None
        self._worker.shutdown(wait=False, cancel_futures=True)
