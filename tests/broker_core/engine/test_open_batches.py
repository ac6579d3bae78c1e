"""Messages published one by one in memory: stored, in order, and to be seen at once, whatever batch they are in."""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Callable
from itertools import groupby, pairwise
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core import (
    BrokerError,
    BrokerHost,
    ConsumerConfig,
    ErrorCode,
    FlowConfig,
    GroupConsumer,
    HostConfig,
    LogConfig,
    Message,
    Producer,
    ProducerConfig,
    QueueConfig,
    QueueConsumer,
)
from broker_core.engine import open_batches
from broker_core.events import Event, EventKind
from tests.broker_core.admin import Admin
from tests.long_form import examples


def values(host: BrokerHost, topic: str, partition: int) -> list[bytes | None]:
    def read(_now: int) -> list[bytes | None]:
        log = host.broker.logs.partition(topic, partition)
        return [each.value for each in log.read(log.start_offset, max_messages=100_000, max_bytes=1 << 40)]

    return host.call(read)


def test_a_published_message_has_its_place_at_once_and_is_there_for_whoever_looks(host):
    with Producer(host) as producer:
        places = [producer.publish("orders", b"%d" % number, b"key") for number in range(3)]
        assert [offset for _, offset in places] == [0, 1, 2] and len({partition for partition, _ in places}) == 1
        assert host.open_batches is not None and "orders" in host.open_batches.open
        assert values(host, "orders", places[0][0]) == [b"0", b"1", b"2"]
        assert host.open_batches is None or not host.open_batches.open


WAYS = st.sampled_from(["publish", "send", "many", "look", "delete", "other", "close"])


@settings(max_examples=examples(60), deadline=None)
@given(
    st.lists(st.tuples(WAYS, st.sampled_from(["orders", "bills"]), st.sampled_from([None, b"a", b"b"])), max_size=60)
)
def test_offsets_are_what_was_answered_whatever_comes_between(ops):
    events: list[Event] = []
    with BrokerHost() as host, Producer(host) as one, Producer(host) as two:
        host.events.attach(events.append)
        Admin(host).create_topic("orders", partitions=3)
        Admin(host).create_topic("bills", partitions=1)
        placed: dict[tuple[str, int, int], bytes] = {}
        receipts = []
        sent = 0
        for number, (way, topic, key) in enumerate(ops):
            value = b"%d" % number
            match way:
                case "publish" | "other":
                    partition, offset = (one if way == "publish" else two).publish(topic, value, key)
                    assert (topic, partition, offset) not in placed
                    placed[topic, partition, offset] = value
                    sent += 1
                case "send":
                    receipts.append((one.send(topic, value, key), value))
                    sent += 1
                case "many":
                    one.publish_many(topic, [Message(value, key)] * 3)
                    sent += 3
                case "look":
                    values(host, topic, 0)
                case "delete":
                    host.call(host.broker.cleaning.clean)
                case "close":
                    assert host.open_batches is not None
                    with host.lock:
                        host.open_batches.close()
        one.flush()
        for receipt, value in receipts:
            done = receipt.result()
            placed[done.topic, done.partition, done.offset] = value
        for (topic, partition, offset), value in placed.items():
            assert values(host, topic, partition)[offset] == value
        assert (
            sum(len(values(host, "orders", partition)) for partition in range(3)) + len(values(host, "bills", 0))
            == sent
        )
        published = [event for event in events if event.kind is EventKind.PUBLISHED]
        assert (
            sum(event.count for event in published)
            == sent
            == host.call(lambda _now: host.broker.views.totals().published)
        )
        assert [event.time_ns for event in events] == sorted(event.time_ns for event in events)
        for place in {(event.topic, event.partition) for event in published}:
            runs = [event for event in published if (event.topic, event.partition) == place]
            assert [run.offset for run in runs] == [sum(each.count for each in runs[:n]) for n in range(len(runs))]


def test_what_nobody_asks_for_becomes_an_event_soon(host):
    told = threading.Event()
    host.events.attach(lambda event: told.set() if event.kind is EventKind.PUBLISHED else None)
    with Producer(host) as producer:
        producer.publish("orders", b"quiet")
        assert told.wait(10)


def test_a_tail_takes_messages_for_a_millisecond_and_those_have_its_time(host, monkeypatch):
    now_ns = host.now_ns
    monkeypatch.setattr(open_batches, "time", SimpleNamespace(monotonic_ns=lambda: now_ns))
    with host.lock:
        ends = open_batches.OpenBatches(host.broker, lambda: now_ns, lambda _delay: None)
        client = "one"
        for _ in range(2):
            assert ends.put(client, "bills", b"early", None) is not None
            now_ns += open_batches.OPEN_NS // 2
        assert ends.put(client, "bills", b"late", None) == (0, 2)
        ends.close()
    runs = host.call(lambda _now: host.broker.logs.partition("bills", 0).runs(0, 3))
    assert [run.count for run in runs] == [2, 1]
    assert runs[1].published_ns - runs[0].published_ns == open_batches.OPEN_NS


def test_whoever_waits_for_a_message_gets_it_at_once(host):
    config = ConsumerConfig(auto_offset_reset="earliest")
    with Producer(host) as producer, GroupConsumer(host, "readers", ["orders"], config) as consumer:
        while not consumer.assignment:
            consumer.poll(0.05)
        producer.publish("orders", b"first")
        got = []
        reader = threading.Thread(target=lambda: got.extend(consumer.poll(10)))
        reader.start()
        reader.join(10)
        assert [message.value for message in got] == [b"first"]
        waiting = threading.Thread(target=lambda: got.extend(consumer.poll(20)))
        waiting.start()
        while not host.call(lambda _now: host.broker.fetches.awaited("orders", 3)):
            pass
        producer.publish("orders", b"second")
        assert host.open_batches is None or not host.open_batches.open
        waiting.join(5)
        assert [message.value for message in got] == [b"first", b"second"]


@pytest.mark.parametrize("kind", ["gate", "queue", "subscription", "compacted", "named", "file"])
def test_messages_that_something_judges_or_waits_for_go_the_long_way(tmp_path, kind):
    config = ProducerConfig(name="me" if kind == "named" else "")
    log = LogConfig(
        durability="file" if kind == "file" else "memory", cleanup="compact" if kind == "compacted" else "delete"
    )
    with (
        BrokerHost(tmp_path if kind == "file" else None, HostConfig(log=log)) as host,
        Producer(host, config) as producer,
    ):
        admin = Admin(host)
        if kind == "queue":
            admin.create_queue("orders", QueueConfig(priorities=2))
        else:
            admin.create_topic("orders", partitions=1, flow=FlowConfig(max_messages=100) if kind == "gate" else None)
        if kind == "subscription":
            host.admin(lambda now_ns: host.broker.queues.subscribe(now_ns, "audit", "orders", QueueConfig()))
        assert producer.publish("orders", b"one", b"key") == (0, 0)
        assert host.open_batches is None or not host.open_batches.open
        if kind in {"queue", "subscription"}:
            with QueueConsumer(host, "orders" if kind == "queue" else "audit") as consumer:
                delivery = consumer.take()
                assert delivery is not None and delivery.message.value == b"one"


def test_what_lingers_goes_first(host):
    with Producer(host, ProducerConfig(linger_ms=60_000)) as producer:
        receipts = [producer.send("bills", b"%d" % number) for number in range(3)]
        assert producer.publish("bills", b"now") == (0, 3)
        assert [receipt.result().offset for receipt in receipts] == [0, 1, 2]


def test_what_lingers_goes_first_though_a_tail_is_open(host, monkeypatch):
    monkeypatch.setattr(open_batches, "OPEN_NS", 10**12)
    with Producer(host, ProducerConfig(linger_ms=60_000)) as producer:
        assert producer.publish("bills", b"0") == (0, 0)
        assert "bills" in host.open_batches.open
        receipt = producer.send("bills", b"1")
        assert producer.publish("bills", b"2") == (0, 2)
        assert receipt.result().offset == 1


def test_a_message_that_is_too_large_is_refused_and_the_others_are_stored(host):
    Admin(host).configure_topic("bills", log=LogConfig(max_message_bytes=100))
    with Producer(host) as producer:
        producer.publish("bills", b"small")
        with pytest.raises(BrokerError) as caught:
            producer.publish("bills", bytes(101))
        assert caught.value.code is ErrorCode.MESSAGE_TOO_LARGE
        assert [producer.publish("bills", bytes(60)) for _ in range(3)] == [(0, 1), (0, 2), (0, 3)]
    assert len(values(host, "bills", 0)) == 4


def test_after_the_end_nothing_is_taken_any_more(host):
    producer = Producer(host)
    producer.publish("bills", b"in time")
    producer.close()
    with pytest.raises(BrokerError) as caught:
        producer.publish("bills", b"late")
    assert caught.value.code is ErrorCode.CLOSED
    assert values(host, "bills", 0) == [b"in time"]
    other = Producer(host)
    host.close()
    with pytest.raises(BrokerError) as caught:
        other.publish("bills", b"late")
    assert caught.value.code is ErrorCode.CLOSED


def test_a_listener_that_fails_costs_no_message(host, caplog):
    def fail(event: Event) -> None:
        if event.kind is EventKind.PUBLISHED:
            raise ValueError("a bad listener")

    with Producer(host) as producer:
        host.events.attach(fail)
        for number in range(6):
            producer.publish("orders", b"%d" % number, b"key %d" % number)
        host.call(lambda _now: None)
        host.events.detach(fail)
        assert Counter(each for partition in range(3) for each in values(host, "orders", partition)) == Counter(
            b"%d" % number for number in range(6)
        )
    assert "a listener failed" in caplog.text


def test_many_threads_publish_and_each_finds_its_own(host):
    placed: list[tuple[bytes, tuple[int, int]]] = []

    def work(name: int) -> None:
        with Producer(host) as producer:
            for number in range(500):
                value = b"%d %d" % (name, number)
                placed.append((value, producer.publish("orders", value)))

    threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    stored = [values(host, "orders", partition) for partition in range(3)]
    assert sum(map(len, stored)) == len(placed) == 2_000
    assert all(stored[partition][offset] == value for value, (partition, offset) in placed)


@pytest.mark.parametrize("key", [None, b"key"])
def test_threads_that_share_a_producer_publish_while_others_look(host, key):
    """Joining a tail takes no lock: each message is stored once and is where its thread was told, or it is sent on."""
    placed: list[tuple[bytes, tuple[int, int]]] = []
    done = threading.Event()

    def work(name: int) -> None:
        for number in range(400):
            value = b"%d %d" % (name, number)
            placed.append((value, producer.publish("orders", value, key)))

    def look() -> None:
        while not done.is_set():
            host.call(lambda _now: None)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with Producer(host) as producer:
            looking = threading.Thread(target=look)
            threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
            for thread in (looking, *threads):
                thread.start()
            for thread in threads:
                thread.join(60)
            done.set()
            looking.join(60)
    finally:
        sys.setswitchinterval(before)
        done.set()
    stored = [values(host, "orders", partition) for partition in range(3)]
    assert sum(map(len, stored)) == len(placed) == 1_600
    assert all(stored[partition][offset] == value for value, (partition, offset) in placed)
    for name in range(4):
        told = [place for value, place in placed if value.startswith(b"%d " % name)]
        assert all(one[1] < two[1] for one, two in pairwise(told) if one[0] == two[0])


class Interrupted(list):
    """The messages of a part, between two byte codes of whoever joins."""

    def __init__(self, *others: Callable[[], object]) -> None:
        super().__init__()
        self.others = list(others)

    def append(self, message: Message) -> None:
        if self.others:
            self.others.pop()()
        super().append(message)


def test_what_comes_after_the_end_of_a_tail_goes_another_way(host, monkeypatch):
    monkeypatch.setattr(open_batches, "OPEN_NS", 10**12)
    client = "one"
    with host.lock:
        ends = host.open_batches
        assert ends.put(client, "bills", b"first", None) == (0, 0)
        # The end comes before the late one, and before the end somebody who had looked the tail up in time.
        messages = Interrupted(lambda: list.append(messages, Message(b"in time")), ends.close)
        messages += ends.open["bills"].part.messages
        ends.open["bills"].part.messages = messages
        assert ends.join(client, "bills", b"late", None) is None and not ends.open
        assert ends.put(client, "bills", b"late", None) is not None
    assert values(host, "bills", 0) == [b"first", b"in time", b"late"]


def test_two_who_join_at_once_get_two_places(host, monkeypatch):
    monkeypatch.setattr(open_batches, "OPEN_NS", 10**12)
    client, found = "one", []
    with host.lock:
        ends = host.open_batches
        assert ends.put(client, "bills", b"first", None) == (0, 0)
        messages = Interrupted(lambda: found.append(ends.join(client, "bills", b"other", None)))
        messages += ends.open["bills"].part.messages
        ends.open["bills"].part.messages = messages
        assert ends.join(client, "bills", b"own", None) == (0, 2) and found == [(0, 1)]
    assert values(host, "bills", 0) == [b"first", b"other", b"own"]


def test_a_full_part_ends_its_tail(host, monkeypatch):
    monkeypatch.setattr(open_batches, "OPEN_NS", 10**12)
    monkeypatch.setattr(open_batches, "IDLE_NS", 10**12)
    counts = []
    host.events.attach(lambda event: counts.append(event.count) if event.kind is EventKind.PUBLISHED else None)
    with Producer(host) as producer:
        assert [producer.publish("bills", b"x")[1] for _ in range(2_500)] == list(range(2_500))
    # A tick of the host may end a batch, too.
    assert (sum(counts), max(counts)) == (2_500, 1_000)


def test_messages_without_a_key_stay_together_however_often_somebody_looks(host):
    with Producer(host) as producer:
        chosen = []
        for number in range(64):
            chosen.append(producer.publish("orders", b"x")[0])
            if number % 3 == 0:
                values(host, "orders", 0)
    runs = [(partition, len(list(run))) for partition, run in groupby(chosen)]
    assert [partition for partition, _ in runs] == [number % 3 for number in range(len(runs))]
    # A message that meets the end of its batch is published anew, and its first place is not given back: on a busy
    # machine a few meet it, where each look would cost a place it would be one in four.
    lost = [16 - count for _, count in runs[:-1]]
    assert min(lost) >= 0 and sum(lost) <= 4, runs
