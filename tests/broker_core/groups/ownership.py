"""Judges an event stream: who owns what, and that nothing changes hands but by revoke, then assign."""

from __future__ import annotations

from broker_core.events import Event, EventKind


class Ownership:
    """An event sink that folds the ownership of one group and raises AssertionError on the first violation."""

    def __init__(self) -> None:
        self.owner: dict[tuple[str, int], str] = {}
        self.ever: dict[tuple[int, str, int], str] = {}
        self.generation = 0
        self.running = False

    def __call__(self, event: Event) -> None:
        detail = event.detail or {}
        assert event.generation is None or event.generation >= self.generation, "the generation went back"
        self.generation = event.generation or 0
        if event.kind is EventKind.REBALANCE_STARTED:
            assert not self.running, "a rebalance began inside another"
            self.running = True
            assert self._rows() == detail["before"]
        elif event.kind is EventKind.PARTITIONS_REVOKED:
            assert self.running
            for topic, partition in detail["partitions"]:
                assert self.owner.pop((topic, partition)) == event.client, "revoked from somebody else"
        elif event.kind is EventKind.PARTITIONS_ASSIGNED:
            assert self.running
            for topic, partition in detail["partitions"]:
                assert (topic, partition) not in self.owner, "assigned before it was revoked"
                self.owner[topic, partition] = event.client
                first = self.ever.setdefault((self.generation, topic, partition), event.client)
                assert first == event.client, "two owners in one generation"
        elif event.kind is EventKind.REBALANCE_COMPLETED:
            assert self.running and event.cause
            self.running = False
            assert self._rows() == detail["after"]

    def _rows(self) -> list[list[object]]:
        return [[topic, partition, client] for (topic, partition), client in sorted(self.owner.items())]
