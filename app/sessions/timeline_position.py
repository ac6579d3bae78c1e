from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from app.sessions.playback import PlaybackPosition
from broker_core.events import Event
from broker_core.recording.playback import Playback
from broker_core.snapshots import Snapshot


class TimelinePosition(QObject):
    """The session goes on while an earlier moment is shown.

    `changed` when another moment is shown, `turned` when the window goes from the present to the past or back.
    """

    changed = Signal()
    turned = Signal()
    failed = Signal(str)

    def __init__(self, end_ns: Callable[[], int], parent: QObject | None = None) -> None:
        """`end_ns()` is how far the session has come."""
        super().__init__(parent)
        self._end_ns = end_ns
        self._make: Callable[[], Playback] | None = None
        self._position: PlaybackPosition | None = None
        self._has_present = True
        self.looking_back = False

    def attach(self, make_playback: Callable[[], Playback] | None, *, has_present: bool = True) -> None:
        """Another session. Without a present, as of one that was recorded long ago, the past is all there is."""
        self.close()
        self._make = make_playback
        self._has_present = has_present
        self.looking_back = False

    def close(self) -> None:
        if self._position is not None:
            self._position.close()
            self._position.deleteLater()
            self._position = None

    @property
    def snapshot(self) -> Snapshot | None:
        position = self._position
        return position.snapshot if self.looking_back and position is not None else None

    @property
    def shown_event(self) -> Event | None:
        return self._position.shown_event if self.looking_back and self._position is not None else None

    @property
    def target_ns(self) -> int:
        """The moment that was asked for last; it is shown a moment later."""
        return self._position.target_ns if self.looking_back and self._position is not None else self._end_ns()

    @property
    def exact(self) -> bool:
        """Whether every moment can be shown, and every event."""
        return self._position is None or self._position.playback.exact

    @property
    def busy(self) -> bool:
        """True while a moment that was asked for is not shown yet."""
        return self._position is not None and self._position.busy

    def to(self, time_ns: int) -> None:
        """Show the state at `time_ns`; at the present, if that is not yet past."""
        if self._has_present and time_ns >= self._end_ns():
            self.to_present()
        elif (position := self._there()) is not None:
            position.seek(min(max(0, time_ns), self._end_ns()))

    def by(self, delta_ns: int) -> None:
        self.to(self.target_ns + delta_ns)

    def step(self, events: int, present: Snapshot) -> None:
        """So many events on, or back; from the present, back from `present`."""
        position = self._there()
        if position is None:
            return
        if position.snapshot is None:
            position.seek_event(max(0, present.events - 1 + events))
        else:
            position.step(events)

    def to_present(self) -> None:
        if not self._has_present or not self.looking_back:
            return
        self.close()
        self.looking_back = False
        self.turned.emit()
        self.changed.emit()

    def _there(self) -> PlaybackPosition | None:
        if self._position is None and self._make is not None:
            self._position = PlaybackPosition(self._make(), self)
            self._position.changed.connect(self._arrived)
            self._position.failed.connect(self.failed)
            self._position.target_ns = self._end_ns()
        return self._position

    def _arrived(self) -> None:
        if self.sender() is not self._position:
            return
        before, self.looking_back = self.looking_back, True
        if not before:
            self.turned.emit()
        self.changed.emit()

    @property
    def playing(self) -> bool:
        return self._position is not None and self._position.playing

    def play(self, speed: float) -> None:
        """Let the past go on at `speed` seconds a second, up to where the session has come."""
        if self._position is not None:
            self._position.play(speed, self._end_ns)

    def stand_still(self) -> None:
        """Show the present as it is now, while it goes on."""
        if (position := self._there()) is not None:
            position.seek(self._end_ns())

    def pause(self) -> None:
        if self._position is not None:
            self._position.pause()
