"""Going back in the session that the window shows, and forward again to where it is now."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from app.sessions.playback import Past
from broker_core.events import Event
from broker_core.recording.playback import Playback
from broker_core.snapshots import Snapshot


class Travel(QObject):
    """Where in the session the window looks: at the present, or at a moment of the past. The session goes on behind.

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
        self._past: Past | None = None
        self._has_present = True
        self.looking_back = False

    def follow(self, make_film: Callable[[], Playback] | None, *, has_present: bool = True) -> None:
        """Another session. Without a present, as of one that was recorded long ago, the past is all there is."""
        self.close()
        self._make = make_film
        self._has_present = has_present
        self.looking_back = False

    def close(self) -> None:
        """No past any more."""
        if self._past is not None:
            self._past.close()
            self._past.deleteLater()
            self._past = None

    # -- where it looks

    @property
    def snapshot(self) -> Snapshot | None:
        """The moment of the past that is shown; None while the present is."""
        past = self._past
        return past.snapshot if self.looking_back and past is not None else None

    @property
    def shown_event(self) -> Event | None:
        """The event that it was sent to, where it was sent to one."""
        return self._past.shown_event if self.looking_back and self._past is not None else None

    @property
    def target_ns(self) -> int:
        """The moment that was asked for last; it is shown a moment later."""
        return self._past.target_ns if self.looking_back and self._past is not None else self._end_ns()

    @property
    def exact(self) -> bool:
        """Whether every moment can be shown, and every event."""
        return self._past is None or self._past.film.exact

    @property
    def busy(self) -> bool:
        """True while it is on its way."""
        return self._past is not None and self._past.busy

    # -- going

    def to(self, time_ns: int) -> None:
        """Show the state at `time_ns`; at the present, where that is not yet past."""
        if self._has_present and time_ns >= self._end_ns():
            self.to_present()
        elif (past := self._there()) is not None:
            past.seek(min(max(0, time_ns), self._end_ns()))

    def by(self, delta_ns: int) -> None:
        """Go so far from the moment that was asked for last."""
        self.to(self.target_ns + delta_ns)

    def to_event(self, seq: int) -> None:
        """Show the state right after event `seq`."""
        past = self._there()
        if past is not None:
            past.seek_event(max(0, seq))

    def step(self, events: int, present: Snapshot) -> None:
        """So many events on, or back; from the present, back from `present`."""
        past = self._there()
        if past is None:
            return
        if past.snapshot is None:
            past.seek_event(max(0, present.events - 1 + events))
        else:
            past.step(events)

    def to_present(self) -> None:
        """Follow what happens now."""
        if not self._has_present or not self.looking_back:
            return
        self.close()
        self.looking_back = False
        self.turned.emit()
        self.changed.emit()

    def _there(self) -> Past | None:
        if self._past is None and self._make is not None:
            self._past = Past(self._make(), self)
            self._past.changed.connect(self._arrived)
            self._past.failed.connect(self.failed)
            self._past.target_ns = self._end_ns()
        return self._past

    def _arrived(self) -> None:
        if self.sender() is not self._past:
            return
        before, self.looking_back = self.looking_back, True
        if not before:
            self.turned.emit()
        self.changed.emit()

    # -- playing

    @property
    def playing(self) -> bool:
        """True while the past goes on by itself."""
        return self._past is not None and self._past.playing

    def play(self, speed: float) -> None:
        """Let the past go on at `speed` seconds a second, up to where the session has come."""
        if self._past is not None:
            self._past.play(speed, self._end_ns)

    def pause(self) -> None:
        """Stand still in the past."""
        if self._past is not None:
            self._past.pause()
