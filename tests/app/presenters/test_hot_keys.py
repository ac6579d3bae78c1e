"""Keys of what was published in batches are read from the log while somebody looks."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from app.presenters.lookups import key_facts, read_keys
from app.sessions.history.keys import KeyCounts, partition_keys
from app.sessions.history.life import Place
from app.sessions.history.ring import EventRing
from broker_core import Admin, BrokerHost, Message
from broker_core.log.client_batch import client_batches


def test_keys_of_batches_are_read_and_what_is_not_read_is_said() -> None:
    ring = EventRing()
    with BrokerHost() as host:
        host.call(lambda _now: host.events.attach(ring))
        Admin(host).create_topic("orders", 1)
        session: Any = SimpleNamespace(broker=host.broker)

        def publish(keys: list[bytes | None]) -> None:
            messages = [Message(b"x", key) for key in keys]
            host.call(lambda now_ns: host.broker.publishing.publish_batch(now_ns, "orders", 0, messages, client="p"))

        for keys in ([b"a", b"b", b"a"], [b"a"], [None, b"b"]):
            publish(list(keys))
        counts = partition_keys("orders", 0, 100, ring, None, 0)
        assert counts == KeyCounts(((b"a", 1),), 6, ((0, 3), (4, 2)), True)
        assert key_facts(counts)[-1] == ("keys not read", "5 messages, published in batches")
        read = host.call(lambda _now: read_keys(session, Place("orders", 0, 0), [(4, 2), (0, 3), (6, 9)]))
        assert sorted(read) == [0, 4]  # what is not there yet is asked for later
        whole = counts.with_read(read)
        assert dict(whole.keys) == {b"a": 3, b"b": 2, None: 1} and whole.batches == ()
        assert [row[0] for row in key_facts(whole)] == ["a", "b", "no key"]
        log = host.broker.logs.partition("orders", 0)
        assert [client.only_key() for stored in log.read_bytes(0) for client in client_batches(stored)] == [
            None,
            b"a",
            None,
        ]
        Admin(host).delete_records("orders", {0: 4})
        gone = host.call(lambda _now: read_keys(session, Place("orders", 0, 0), [(0, 3)]))
        assert counts.with_read(gone).batches == ((0, 3), (4, 2))
