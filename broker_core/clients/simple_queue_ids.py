"""Which ids a queue has stored, as all who use it as a simple queue see it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from weakref import WeakKeyDictionary

from broker_core.messages import StoredMessage
from broker_core.queues.queue import Queue

Place = tuple[int, int]  # partition, offset
ReadPage = Callable[[int, int], Sequence[StoredMessage]]  # of a partition, from an offset on


class StoredIds:
    """Whoever stores under an id that may be there already holds `lock` from the look to the end."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.places: dict[str, Place] = {}
        self._read_to: dict[int, int] = {}

    def catch_up(self, partitions: int, page_of: ReadPage, id_of: Callable[[StoredMessage], str | None]) -> None:
        """Read what has been stored since, by whomever; what has no id is passed over."""
        for partition in range(partitions):
            while page := page_of(partition, self._read_to.get(partition, 0)):
                for stored in page:
                    found = id_of(stored)
                    if found is not None:
                        self.places.setdefault(found, (partition, stored.offset))
                self._read_to[partition] = page[-1].offset + 1


_of_queues: WeakKeyDictionary[Queue, StoredIds] = WeakKeyDictionary()
_lock = threading.Lock()


def stored_ids(queue: Queue) -> StoredIds:
    """Those of `queue`, one for all; a queue that was deleted and made again begins anew."""
    with _lock:
        found = _of_queues.get(queue)
        if found is None:
            found = _of_queues[queue] = StoredIds()
        return found
