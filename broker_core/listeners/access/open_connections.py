"""How many connections a listener takes, and how much all of them may hold."""

from __future__ import annotations

from typing import Generic, Protocol, TypeVar

from broker_core.listeners.access.limits import Budget

STRANGERS_FRAME_BYTES = 4_096  # before a connection has authenticated
_KEPT_FOR_KNOWN = 10  # one connection in so many


class LimitedConnection(Protocol):
    """A connection. `held_bytes` of it are in the budget."""

    @property
    def held_bytes(self) -> int: ...
    @property
    def is_known(self) -> bool: ...
    def cut(self, why: str) -> object:
        """End it, remove it and give its bytes back to the budget before returning, also while it is closing."""


H = TypeVar("H", bound=LimitedConnection)


class OpenConnections(Generic[H]):
    """The open connections of a listener, at most `max_connections`. Used by the listener's thread only."""

    def __init__(self, max_connections: int, budget: Budget) -> None:
        self.max_connections, self.budget = max_connections, budget
        self.all: dict[H, None] = {}
        self._strangers: dict[H, None] = {}  # of those, who has not shown who it is; the oldest first

    def add(self, connection: H) -> None:
        """Add a connection. If there are too many, or too many strangers, cut the oldest stranger, or else it."""
        self.all[connection] = None
        if not connection.is_known:
            self._strangers[connection] = None
        most_strangers = self.max_connections - self.max_connections // _KEPT_FOR_KNOWN
        if len(self.all) > self.max_connections or len(self._strangers) > most_strangers:
            next(iter(self._strangers), connection).cut("the maximum number of connections is open")

    def authenticated(self, connection: H) -> None:
        self._strangers.pop(connection, None)

    def remove(self, connection: H) -> None:
        self.all.pop(connection, None)
        self._strangers.pop(connection, None)

    def make_room(self) -> None:
        """Where unfinished requests and unread answers hold too many bytes, cut those that hold the most."""
        while self.budget.is_exceeded and self.all:
            max(self.all, key=lambda each: each.held_bytes).cut("its unfinished request or reply held too many bytes")
