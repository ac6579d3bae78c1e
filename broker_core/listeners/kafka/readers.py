"""Identifies the reader on a connection: a member of a group, a reader that has assigned its partitions by hand, or
nobody known.

A Fetch names neither group nor member. A consumer has a connection of its own for fetches, on which it mostly asks for
the coordinator of its group, too. So a connection is known by that, and by the first partition of a member that it
fetches. If it is no member's, its group is the one it has asked for, or for which its program commits later: what it
has fetched until then is told when that is known. Used under the host's lock.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterable
from typing import NamedTuple, Protocol, TypeVar

import msgspec

from broker_core.broker.delivery_record import DeliveryRecord
from broker_core.broker.partition_owners import Reader
from broker_core.events import is_by_hand, reader_by_hand
from broker_core.listeners.kafka.members import PendingMembers
from broker_core.messages import TopicPartition

_MOST = 10_000
_MOST_PLACES = 1_000  # that a reader whose group is not known has fetched
K = TypeVar("K")
V = TypeVar("V")


class _ReadingMember(Protocol):
    @property
    def client(self) -> str: ...
    @property
    def member_id(self) -> str: ...


class _Commits(Protocol):
    def next_offset(self, group: str, topic: str, partition: int) -> int | None: ...


class Groups(Protocol):
    """What `Readers` needs to know of groups, whether of this broker or of an observed cluster."""

    @property
    def commits(self) -> _Commits: ...
    def reading(self, topic: str, partition: int) -> Iterable[tuple[str, _ReadingMember]]: ...
    def is_member(self, group: str, member_id: str) -> bool: ...
    def committed(self, group: str, topic: str, partition: int) -> int | None: ...
    def seen(self, now_ns: int, group: str, member_id: str) -> object: ...
    def begin(self, now_ns: int, group: str, client: str, topic: str, partition: int, offset: int) -> object: ...


class Attributed(Protocol):
    @property
    def groups(self) -> Groups: ...
    @property
    def delivery_record(self) -> DeliveryRecord: ...


class Fetched(NamedTuple):
    """Offsets that were fetched from one partition before it was known who reads."""

    place: TopicPartition
    start: int
    end: int
    committed: bool


class _ReadingConnection(msgspec.Struct):
    number: int
    client: str
    node: str = ""  # of a cluster that it leads to
    groups: set[str] = set()  # whose coordinator it has asked for
    reader: Reader | None = None
    is_guessed: bool = False  # the reader's group is the only one that clients of that id have asked for
    has_left: bool = False  # the group: what a fetch from before brings is for nobody
    fetched: dict[TopicPartition, Fetched] = {}
    waits_at: dict[TopicPartition, int] = {}  # where it last waited for messages


class Readers:
    """The readers of a listener, by connection."""

    def __init__(self) -> None:
        self._connections: OrderedDict[int, _ReadingConnection] = OrderedDict()
        self._groups: OrderedDict[str, set[str]] = OrderedDict()  # asked for, by client id, until its reader is gone
        self._reading: Counter[str] = Counter()  # connections whose reader is known, by client id
        self._numbers: dict[tuple[str, str], int] = {}  # of connections, by member and node: it has one to each
        self._outside: OrderedDict[TopicPartition, None] = OrderedDict()  # what somebody has read who is not known

    def asks_for(self, connection: int, client: str, group: str) -> None:
        """A client asks who coordinates `group`."""
        self._known(connection, client).groups.add(group)
        _kept(self._groups, client, set()).add(group)

    def left(self, member: str) -> None:
        """A member has left by itself; one that was expelled reads on until it hears of it."""
        for known in self._connections.values():
            known.has_left |= known.reader is not None and known.reader.member == member

    def asks(self, connection: int, client: str, node: str = "") -> None:
        """A connection begins a new fetch: whoever reads after it has left reads by hand, or joins again."""
        known = self._known(connection, client)
        known.node = node
        if known.has_left:
            known.has_left = False
            if known.reader is not None:
                self._numbers.pop((known.reader.member, node), None)
                self._stops(known)

    def of(
        self, now_ns: int, broker: Attributed, connection: int, client: str, place: TopicPartition, offset: int
    ) -> Reader | None:
        """The reader that fetches `place` from `offset`; None if it is unknown or has no group."""
        known = self._known(connection, client)
        reader = known.reader
        if reader is not None and broker.groups.is_member(reader.group, reader.member):
            return reader  # of another member's partition, too: it reads on until it hears that this was taken from it
        found = [
            Reader(group, member.client, member.member_id)
            for group, member in broker.groups.reading(*place)
            if PendingMembers.is_of(member.client, client)
            and (not known.groups or group in known.groups)
            and self._numbers.get((member.member_id, known.node), connection) == connection
        ]
        found.sort(key=lambda each: broker.groups.committed(each.group, *place) != offset)
        if found and not (reader is not None and self._reads_on(broker, reader, place, offset)):
            return self._read_by(now_ns, broker, known, found[0])
        if reader is None:
            groups = known.groups or self._groups.get(client, set())
            if len(groups) != 1:
                return None
            (group,) = groups
            known.is_guessed = not known.groups
            reader = self._read_by(now_ns, broker, known, Reader(group, client, reader_by_hand(connection)))
        return reader

    @staticmethod
    def _reads_on(broker: Attributed, reader: Reader, place: TopicPartition, offset: int) -> bool:
        """Whether a member that was expelled goes on where it was, and not where a member begins."""
        group = reader.group
        return broker.delivery_record.position(group, *place) == offset != broker.groups.committed(group, *place)

    def waits(
        self, now_ns: int, broker: Attributed, connection: int, client: str, place: TopicPartition, offset: int
    ) -> None:
        """A fetch waits for messages from `offset` on. Who reads by hand begins with the first that it gets.

        If it is known who waits, what was fetched before is told: the next to come may be a commit of it.
        """
        reader, known = self.of(now_ns, broker, connection, client, place, offset), self._known(connection, client)
        known.waits_at[place] = offset
        if reader is not None:
            if known.fetched:
                self._deliver(now_ns, broker, known)
            if not is_by_hand(reader.member):
                _begins(now_ns, broker, reader, place, offset)

    def fetched(self, now_ns: int, broker: Attributed, connection: int, client: str, fetched: Fetched) -> None:
        """Messages were given to a connection. Where nobody is known, they are kept until a commit tells the group."""
        known = self._known(connection, client)
        place = fetched.place
        if known.has_left:
            return
        if self.of(now_ns, broker, connection, client, place, fetched.start) is not None:
            self._deliver(now_ns, broker, known, fetched)
            return
        before = known.fetched.get(place)
        if before is not None and before.start <= fetched.start <= before.end:
            fetched = fetched._replace(start=before.start, end=max(before.end, fetched.end))
        if before is not None or len(known.fetched) < _MOST_PLACES:
            known.fetched[place] = fetched
        _kept(self._outside, place, None)

    @staticmethod
    def _deliver(now_ns: int, broker: Attributed, known: _ReadingConnection, *fetched: Fetched) -> None:
        reader = known.reader
        assert reader is not None
        earlier, known.fetched = known.fetched, {}
        record = broker.delivery_record
        for each in (*earlier.values(), *fetched):
            if record.position(reader.group, *each.place) != each.start:
                record.begin(reader.group, *each.place, each.start, holds_up=not is_by_hand(reader.member))
                _begins(now_ns, broker, reader, each.place, each.start)
            record.hand_over(now_ns, reader, each.place, each.start, each.end, stable=each.committed)

    def committing(
        self, now_ns: int, broker: Attributed, client: str, group: str, place: TopicPartition, offset: int
    ) -> str:
        """The reader, as in `Event.member`, for which `client`, no member of `group`, commits `offset`.

        "" if that may be somebody who has read without being known; who has read nothing is called by its client id.
        Who commits where it waits for the first message begins there.
        """
        alike = [each for each in self._connections.values() if each.client == client]
        begins = any(each.waits_at.get(place) == offset and place not in each.fetched for each in alike)
        if begins and broker.delivery_record.position(group, *place) is None:
            _begins(now_ns, broker, Reader(group, client, reader_by_hand(client)), place, offset)
        by_hand = [each.reader for each in alike if each.reader and self._may_commit(broker, each.reader, group)]
        for reader in by_hand:
            position = broker.delivery_record.position(group, *place)
            if len(by_hand) == 1 or (position is not None and offset <= position):
                return reader.member
        unknown = [
            each
            for each in alike
            if each.reader is None and place in each.fetched and offset <= each.fetched[place].end
        ]
        if len(unknown) != 1:
            is_outside = place in self._outside or any(each.is_guessed for each in alike)
            return "" if is_outside else reader_by_hand(client)
        (found,) = unknown
        reader = self._read_by(now_ns, broker, found, Reader(group, client, reader_by_hand(found.number)))
        self._deliver(now_ns, broker, found)
        return reader.member

    def reads(self, client: str) -> bool:
        """Whether a client of that id has asked for messages, and is still there."""
        return any(
            each.reader or each.fetched or each.waits_at for each in self._connections.values() if each.client == client
        )

    @staticmethod
    def _may_commit(broker: Attributed, reader: Reader, group: str) -> bool:
        return reader.group == group and not broker.groups.is_member(group, reader.member)

    def closed(self, now_ns: int, broker: Attributed, connection: int) -> None:
        known = self._connections.pop(connection, None)
        if known is not None and known.reader is not None:
            broker.groups.seen(now_ns, known.reader.group, known.reader.member)
            self._forget(now_ns, broker, known, known.reader)
            if not self._stops(known):
                # What comes next under that id is another program, which may have another group.
                self._groups.pop(known.client, None)

    def _known(self, connection: int, client: str) -> _ReadingConnection:
        return _kept(self._connections, connection, _ReadingConnection(connection, client))

    def _read_by(self, now_ns: int, broker: Attributed, known: _ReadingConnection, reader: Reader) -> Reader:
        if known.reader is not None:
            self._forget(now_ns, broker, known, known.reader)
        else:
            self._reading[known.client] += 1
        known.reader = reader
        self._numbers[reader.member, known.node] = known.number
        if is_by_hand(reader.member):
            broker.delivery_record.reader_came(reader.member)
        return reader

    def _stops(self, known: _ReadingConnection) -> int:
        """The connection has no reader any longer; how many of its client id still have."""
        known.reader = None
        left = self._reading[known.client] = self._reading[known.client] - 1
        if not left:
            del self._reading[known.client]
        return left

    def _forget(self, now_ns: int, broker: Attributed, known: _ReadingConnection, reader: Reader) -> None:
        self._numbers.pop((reader.member, known.node), None)
        broker.delivery_record.reader_gone(now_ns, reader.member)


def _kept(found: OrderedDict[K, V], key: K, new: V) -> V:
    """The value of `key`, or `new`, kept under it."""
    if key in found:
        return found[key]
    found[key] = new
    if len(found) > _MOST:
        found.popitem(last=False)
    return new


def _begins(now_ns: int, broker: Attributed, reader: Reader, place: TopicPartition, offset: int) -> None:
    """Note where a group begins to read a partition in which it has committed nothing."""
    if broker.groups.commits.next_offset(reader.group, *place) is None:
        broker.groups.begin(now_ns, reader.group, reader.client, *place, offset)
