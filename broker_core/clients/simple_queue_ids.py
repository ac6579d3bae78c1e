"""The message ids in a queue, shared by all its `SimpleQueue` objects."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from weakref import WeakKeyDictionary

from broker_core.messages import StoredMessage
from broker_core.queues.queue import Queue

Place = tuple[int, int]  # partition, offset
ReadPage = Callable[[int, int], Sequence[StoredMessage]]  # of a partition, from an offset on


class StoredIds:
    """The ids of one queue. Hold `lock` from the lookup of an id to the end of storing under it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.places: dict[str, Place] = {}
        self._read_to: dict[int, int] = {}

    def catch_up(self, partitions: int, page_of: ReadPage, id_of: Callable[[StoredMessage], str | None]) -> None:
        """Read what has been stored since the last call. Messages without an id are skipped."""
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
    """The shared `StoredIds` of `queue`; a recreated queue has new ones."""
    with _lock:
        found = _of_queues.get(queue)
        if found is None:
            found = _of_queues[queue] = StoredIds()
        return found
