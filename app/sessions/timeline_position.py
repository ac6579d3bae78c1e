from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from PySide6.QtCore import QObject, QTimer, Signal

from app.sessions.queries import Replies
from app.sessions.source import Source
from broker_core.clock import NS_PER_S
from broker_core.errors import BrokerError
from broker_core.events import Event
from broker_core.recording.playback import Playback
from broker_core.snapshots import Snapshot
from widgets.i18n import tr

PLAY_EVERY_MS = 40

#: A moment, and the event it was asked for by.
Seen = tuple[Snapshot, Event | None]


class TimelinePosition(QObject):
    """Shows an earlier moment while the session goes on. `snapshot` and `shown_event` are None in the present.

    `changed` when another moment is shown, `turned` when the window goes from the present to the past or back. What is
    asked for while an earlier request is under way replaces it: a scrubber that is dragged asks often.
    """

    changed = Signal()
    turned = Signal()
    failed = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._source = Source()
        self._playback: Playback | None = None
        self._worker: ThreadPoolExecutor | None = None
        self._target_ns = 0
        self._speed, self._anchor = 0.0, (0.0, 0)
        self._timer = QTimer(self, interval=PLAY_EVERY_MS)
        self._timer.timeout.connect(self._play_on)
        self._replies = Replies(self)
        self.close()

    def attach(self, source: Source) -> None:
        """Another session. Without a present, as of one that was recorded long ago, the past is all there is."""
        self.close()
        self._source = source

    def close(self) -> None:
        self.pause()
        self._replies.drop()
        worker, self._worker, self._playback = self._worker, None, None
        self._request: Callable[[], Seen] | None = None
        self._asked_seq: int | None = None  # of the event that was asked for last; None for a time
        self.snapshot: Snapshot | None = None
        self.shown_event: Event | None = None
        self.looking_back = False
        self.busy = False  # while a moment that was asked for is not shown yet
        if worker is not None:
            worker.shutdown(wait=False, cancel_futures=True)

    @property
    def target_ns(self) -> int:
        """The moment that was asked for last; it is shown a moment later."""
        return self._target_ns if self.looking_back and self._playback is not None else self._source.end_ns

    @property
    def exact(self) -> bool:
        """Whether every moment and every event can be shown."""
        return self._playback is None or self._playback.exact

    def to(self, time_ns: int) -> None:
        """Show the state at `time_ns`; at the present, if that is not yet past."""
        if self._source.has_present and time_ns >= self._source.end_ns:
            self.to_present()
        else:
            self._look_at(min(max(0, time_ns), self._source.end_ns))
            self._anchor = (time.perf_counter(), self._target_ns)

    def by(self, delta_ns: int) -> None:
        self.to(self.target_ns + delta_ns)

    def step(self, events: int) -> None:
        """Move by `events` events, forwards or, if negative, backwards, up to the first or the last."""
        self.pause()
        asked = self._asked_seq if self.busy else None
        shown, last = (self.snapshot or self._source.latest).events - 1, self._source.latest.events - 1
        self.to_event(max(0, min((shown if asked is None else asked) + events, last)))

    def to_event(self, seq: int) -> None:
        self._target_ns, self._asked_seq = self.target_ns, seq

        def read(playback: Playback) -> Seen:
            found = list(playback.events(seq, seq))
            return playback.after_event(seq), found[0] if found else None

        self._ask(read)

    def to_present(self) -> None:
        if not self._source.has_present or not self.looking_back:
            return
        self.close()
        self.turned.emit()
        self.changed.emit()

    def stay_at_latest(self) -> None:
        self._look_at(self._source.end_ns)

    @property
    def playing(self) -> bool:
        return self._timer.isActive()

    def play(self, speed: float) -> None:
        """Let the past go on at `speed` seconds a second, up to where the session has come."""
        if self._playback is not None:
            self._speed, self._anchor = speed, (time.perf_counter(), self._target_ns)
            self._timer.start()

    def pause(self) -> None:
        self._timer.stop()

    def _play_on(self) -> None:
        if self.busy:
            return
        began_s, began_ns = self._anchor
        due_ns = began_ns + round((time.perf_counter() - began_s) * self._speed * NS_PER_S)
        if due_ns >= (end_ns := self._source.end_ns):
            self.pause()
        self._look_at(min(due_ns, end_ns))

    def _look_at(self, time_ns: int) -> None:
        self._target_ns, self._asked_seq = time_ns, None
        self._ask(lambda playback: (playback.at(time_ns), None))

    def _ask(self, read: Callable[[Playback], Seen]) -> None:
        if self._playback is None and self._source.scenario is not None:
            self._playback = self._source.open_playback()
            self._worker = ThreadPoolExecutor(1, thread_name_prefix="playback")
        if (playback := self._playback) is not None:
            self._request = lambda: read(playback)
            if not self.busy:
                self._go()

    def _go(self) -> None:
        request, self._request = self._request, None
        if request is not None and self._worker is not None:
            self.busy = True
            self._replies.bring(self._worker.submit(request), self._show)

    def _show(self, done: Future[Seen]) -> None:
        self.busy = False
        error = done.exception()
        if error is None:
            self.snapshot, self.shown_event = done.result()
            if self.shown_event is not None:
                self._target_ns = self.snapshot.time_ns
            before, self.looking_back = self.looking_back, True
            if not before:
                self.turned.emit()
            self.changed.emit()
        elif isinstance(error, BrokerError | OSError | ValueError):
            self.failed.emit(tr("This moment cannot be shown: {error}", error=error))
        else:
            raise error
        self._go()
