"""The way of a producer's batches to one partition: one after the other."""

from __future__ import annotations

from collections import deque

from broker_core.clients.batches import Batch


class PartitionQueue:
    """`sending` is under way to the log, `waiting` go after it, `open` is being filled; `sequence` comes next."""

    __slots__ = ("open", "pumping", "sending", "sequence", "waiting")

    def __init__(self) -> None:
        self.open: Batch | None = None
        self.waiting: deque[Batch] = deque()
        self.sending: Batch | None = None
        self.sequence = 0
        self.pumping = False
