"""Incremental fetch sessions (KIP-227): a client names its partitions once, then only changes; so does the broker.

A session is kept for who began it, and forgotten when it is not used and others need its place.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Hashable, Iterable
from typing import Any

import msgspec

from broker_core.errors import BrokerError, ErrorCode

MOST_SESSIONS = 1_000  # Kafka's max.incremental.fetch.session.cache.slots
MOST_PLACES = 20_000  # of one session, which are all looked at for each answer
MOST_PLACES_TOGETHER = 200_000
INITIAL_EPOCH, FINAL_EPOCH = 0, -1
_LAST_EPOCH = (1 << 31) - 1

Key = tuple[Hashable, int]  # (topic name or id, partition)


class FetchSession(msgspec.Struct):
    """The partitions that a client fetches, by (topic, partition), each with what the last response said of it."""

    number: int
    principal: str
    places: OrderedDict[Key, Any]
    told: dict[Key, Any] = {}
    epoch: int = 1

    def take(self, changed: Iterable[tuple[Key, Any]], forgotten: Iterable[Key]) -> None:
        """Partitions that are new or have moved, and those that are fetched no longer."""
        for key, place in changed:
            self.places[key] = place
        for key in forgotten:
            self.places.pop(key, None)
            self.told.pop(key, None)
        if len(self.places) > MOST_PLACES:
            about = f"{self.number} has {len(self.places)} partitions, where {MOST_PLACES} are the most"
            raise BrokerError(ErrorCode.FETCH_SESSION_ID_NOT_FOUND, about)

    def is_news(self, key: Key, said: Any, *, has_records: bool) -> bool:
        """Whether the response lists the partition; one with records goes behind the others then."""
        old = self.told.get(key)
        self.told[key] = said
        if has_records:
            self.places.move_to_end(key)
        return has_records or old != said


class FetchSessions:
    """The sessions of a listener. Used under the host's lock."""

    def __init__(self) -> None:
        self._sessions: OrderedDict[int, FetchSession] = OrderedDict()

    def begin(self, principal: str, places: OrderedDict[Key, Any]) -> FetchSession:
        """A new session; those that were not used longest give way."""
        number = secrets.randbelow((1 << 31) - 1) + 1
        made = self._sessions[number] = FetchSession(number, principal, places)
        self.make_room()
        return made

    def make_room(self) -> None:
        """Drop the least recently used sessions while there are too many, or too many partitions in all of them."""
        while len(self._sessions) > 1 and (
            len(self._sessions) > MOST_SESSIONS
            or sum(len(each.places) for each in self._sessions.values()) > MOST_PLACES_TOGETHER
        ):
            self._sessions.popitem(last=False)

    def find(self, number: int, epoch: int, principal: str) -> FetchSession:
        """The session, at its next epoch. Raises FETCH_SESSION_ID_NOT_FOUND, INVALID_FETCH_SESSION_EPOCH."""
        found = self._sessions.get(number)
        if found is None or found.principal != principal:
            raise BrokerError(ErrorCode.FETCH_SESSION_ID_NOT_FOUND, str(number))
        if epoch != found.epoch:
            raise BrokerError(ErrorCode.INVALID_FETCH_SESSION_EPOCH, f"{epoch} instead of {found.epoch}")
        self._sessions.move_to_end(number)
        found.epoch = 1 if found.epoch == _LAST_EPOCH else found.epoch + 1
        return found

    def places(self, number: int, principal: str) -> Iterable[Any]:
        found = self._sessions.get(number)
        return () if found is None or found.principal != principal else found.places.values()

    def end(self, number: int, principal: str) -> None:
        found = self._sessions.get(number)
        if found is not None and found.principal == principal:
            del self._sessions[number]
