"""Keys of what was published in batches are read from the log while somebody looks."""

from __future__ import annotations

from collections import Counter

from app.presenters.lookups import key_facts
from app.sessions.history.event_ring import EventRing
from app.sessions.history.keys import KeyCounts, partition_keys
from app.sessions.history.past import Past
from broker_core import BrokerHost, Message
from broker_core.log.client_batch import client_batches
from broker_core.operations.browse import CountKeys
from tests.broker_core.admin import Admin
from tests.broker_core.log.logs import stored_batches


def test_keys_of_batches_are_read_and_what_is_not_read_is_said() -> None:
    ring = EventRing()
    with BrokerHost() as host:
        host.call(lambda _now: host.events.attach(ring))
        Admin(host).create_topic("orders", 1)

        def read_keys(batches: list[tuple[int, int]]) -> dict[int, Counter[bytes | None] | None]:
            found = host.ask(CountKeys(topic="orders", partition=0, batches=batches))
            return {one.first: None if one.keys is None else Counter(dict(one.keys)) for one in found}

        def publish(keys: list[bytes | None]) -> None:
            messages = [Message(b"x", key) for key in keys]
            host.call(lambda now_ns: host.broker.publishing.publish_batch(now_ns, "orders", 0, messages, client="p"))

        for keys in ([b"a", b"b", b"a"], [b"a"], [None, b"b"]):
            publish(list(keys))
        counts = partition_keys(Past(ring), "orders", 0, 100)
        assert counts == KeyCounts(((b"a", 1),), 6, ((0, 3), (4, 2)), True)
        assert key_facts(counts)[-1] == ("keys not read", "5 messages, published in batches")
        read = read_keys([(4, 2), (0, 3), (6, 9)])
        assert sorted(read) == [0, 4]  # what is not there yet is asked for later
        whole = counts.with_read(read)
        assert dict(whole.keys) == {b"a": 3, b"b": 2, None: 1} and whole.batches == ()
        assert [row[0] for row in key_facts(whole)] == ["a", "b", "no key"]
        log = host.broker.logs.partition("orders", 0)
        batches = [client for stored in stored_batches(log, 0) for client in client_batches(stored)]
        assert [batch.only_key() for batch in batches] == [None, b"a", None]
        Admin(host).delete_records("orders", {0: 4})
        gone = read_keys([(0, 3)])
        assert counts.with_read(gone).batches == ((0, 3), (4, 2))
