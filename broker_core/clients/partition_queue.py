"""The batches of a producer for one partition."""

from __future__ import annotations

from collections import deque

from broker_core.clients.batches import Batch


class PartitionQueue:
    """`open` is being filled, `waiting` are queued, `sending` is being appended. `sequence` is the next number."""

    __slots__ = ("open", "pumping", "sending", "sequence", "waiting")

    def __init__(self) -> None:
        self.open: Batch | None = None
        self.waiting: deque[Batch] = deque()
        self.sending: Batch | None = None
        self.sequence = 0
        self.pumping = False
