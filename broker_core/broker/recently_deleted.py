from __future__ import annotations

import contextlib
from collections.abc import Callable

import msgspec

from broker_core.clock import ns_from_ms
from broker_core.errors import BrokerError, ErrorCode
from broker_core.limits import UNDO_WINDOW_MS
from broker_core.log.topic_log import TopicLog
from broker_core.snapshots import Totals
from broker_core.timers import Timer, Timers


class Deleted(msgspec.Struct):
    """A deleted topic, queue or subscription, with its logs, whose files are still there.

    `restore(now_ns)` brings it back where `why_not()` is "".
    """

    logs: tuple[TopicLog, ...]
    is_queue: bool
    restore: Callable[[int], object]
    why_not: Callable[[], str]
    totals: Totals = Totals()
    timer: Timer | None = None

    def remove(self) -> None:
        for log in self.logs:
            log.remove()


class RecentlyDeleted:
    """Keeps what was deleted for the undo window, or until its name is used again; with a window of 0 it keeps nothing.

    `counted` holds the totals of everything that was deleted.
    """

    def __init__(self, timers: Timers, *, undo_window_ms: float = UNDO_WINDOW_MS) -> None:
        self.counted = Totals()
        self._timers = timers
        self._undo_window_ns = ns_from_ms(undo_window_ms)
        self._deleted: dict[str, Deleted] = {}

    def add(self, now_ns: int, name: str, deleted: Deleted) -> None:
        self.counted = self.counted.plus(deleted.totals)
        self._deleted[name] = deleted
        if self._undo_window_ns:
            deleted.timer = self._timers.at(now_ns + self._undo_window_ns, lambda _at: self._remove(name))
        else:
            self._remove(name)

    def why_not_restored(self, name: str) -> str:
        found = self._deleted.get(name)
        return f"{name} was deleted too long ago, or not at all" if found is None else found.why_not()

    def is_queue(self, name: str) -> bool:
        """Whether `name`, which can be brought back, is a queue or a subscription."""
        found = self._deleted.get(name)
        return found is not None and found.is_queue

    def restore(self, now_ns: int, name: str) -> None:
        """Bring back the topic, queue or subscription `name` as it was.

        Raises INVALID_REQUEST if it is no longer kept, or its name is not free.
        """
        if why := self.why_not_restored(name):
            raise BrokerError(ErrorCode.INVALID_REQUEST, why)
        found = self._pop(name)
        self.counted = self.counted.minus(found.totals)
        found.restore(now_ns)

    def make_way(self, name: str) -> None:
        """Remove what has files called `name`, in whatever case, because something new gets that name."""
        for kept, deleted in list(self._deleted.items()):
            if any(name.lower() == each.lower() for each in (kept, *(log.name for log in deleted.logs))):
                self._remove(kept)

    def close(self) -> None:
        for name in list(self._deleted):
            with contextlib.suppress(BrokerError):  # what stays is put aside if its name is used again
                self._remove(name)

    def _remove(self, name: str) -> None:
        """It stays known until all of its files are gone, so that nothing new of its name takes them over."""
        deleted = self._deleted[name]
        deleted.why_not = lambda: f"{name} was deleted too long ago"
        deleted.remove()
        self._pop(name)

    def _pop(self, name: str) -> Deleted:
        deleted = self._deleted.pop(name)
        if deleted.timer is not None:
            deleted.timer.cancel()
        return deleted
