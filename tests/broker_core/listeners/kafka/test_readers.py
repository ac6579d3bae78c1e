"""Who reads on a connection, where clients of one id read by hand."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from broker_core import Admin, BrokerHost
from broker_core.events import reader_by_hand
from broker_core.listeners.kafka.readers import Fetched, Readers

PLACE = ("orders", 0)
CLIENT = "rdkafka"


class Listener:
    """Connections of clients that have one client id."""

    def __init__(self, host: BrokerHost) -> None:
        self.host = host
        self.readers = Readers()

    def asks_for(self, connection: int, group: str) -> None:
        self.readers.asks_for(connection, CLIENT, group)

    def fetches(self, connection: int) -> None:
        fetched = Fetched(PLACE, 0, 3, committed=False)
        self.host.call(lambda now_ns: self.readers.fetched(now_ns, self.host.broker, connection, CLIENT, fetched))

    def waits(self, connection: int) -> None:
        self.host.call(lambda now_ns: self.readers.waits(now_ns, self.host.broker, connection, CLIENT, PLACE, 3))

    def commits(self, group: str) -> str:
        return str(
            self.host.call(lambda now_ns: self.readers.committing(now_ns, self.host.broker, CLIENT, group, PLACE, 3))
        )

    def closes(self, connection: int) -> None:
        self.host.call(lambda now_ns: self.readers.closed(now_ns, self.host.broker, connection))


@pytest.fixture
def listener() -> Iterator[Listener]:
    with BrokerHost() as host:
        Admin(host).create_topic("orders", partitions=1)
        yield Listener(host)


def test_who_comes_after_another_of_the_same_id_is_not_taken_for_it(listener: Listener) -> None:
    listener.asks_for(1, "billing")
    listener.fetches(2)
    assert listener.commits("billing") == reader_by_hand(2)
    for connection in (1, 2):
        listener.closes(connection)
    listener.fetches(4)  # before it has asked for its coordinator
    listener.asks_for(3, "audit")
    assert listener.commits("audit") == reader_by_hand(4)


def test_who_reads_beside_another_of_the_same_id_is_not_judged(listener: Listener) -> None:
    listener.asks_for(1, "billing")
    listener.fetches(2)
    listener.fetches(4)
    listener.asks_for(3, "audit")
    assert listener.commits("audit") == ""


def test_who_has_read_nothing_is_called_by_its_id(listener: Listener) -> None:
    listener.asks_for(1, "billing")
    assert listener.commits("billing") == reader_by_hand(CLIENT)


def test_who_asked_on_a_connection_that_is_closed_before_the_first_fetch_is_known(listener: Listener) -> None:
    listener.asks_for(1, "billing")
    listener.closes(1)
    listener.fetches(2)
    assert listener.readers._connections[2].reader == ("billing", CLIENT, reader_by_hand(2))


def test_what_was_fetched_before_the_group_was_known_is_told_before_a_commit_of_it(listener: Listener) -> None:
    listener.fetches(2)
    listener.asks_for(1, "billing")
    assert listener.host.broker.delivery_record.position("billing", *PLACE) is None
    listener.waits(2)
    assert listener.host.broker.delivery_record.position("billing", *PLACE) == 3


def test_a_member_has_a_connection_to_each_node_of_a_cluster() -> None:
    told: list[tuple[str, int]] = []
    record = SimpleNamespace(
        position=lambda *_place: 0,
        reader_came=lambda _reader: None,
        hand_over=lambda _now, reader, place, *_more, stable: told.append((reader.member, place[1])),
    )
    member = SimpleNamespace(client=CLIENT, member_id="rdkafka-1")
    groups = SimpleNamespace(
        reading=lambda _topic, _partition: [("billing", member)],
        is_member=lambda _group, member_id: member_id == member.member_id,
        committed=lambda *_place: 0,
    )
    cluster: Any = SimpleNamespace(groups=groups, delivery_record=record)
    readers = Readers()
    readers.asks_for(1, CLIENT, "billing")
    for connection, node in ((2, "one:9092"), (3, "two:9092"), (4, "two:9092")):
        readers.asks(connection, CLIENT, node)
        place = ("orders", connection)
        readers.fetched(0, cluster, connection, CLIENT, Fetched(place, 0, 3, committed=False))
    first, second, another = told
    assert (first, second) == (("rdkafka-1", 2), ("rdkafka-1", 3)) and another[0] != "rdkafka-1"
