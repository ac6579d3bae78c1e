"""What is sent without the lock: nothing is lost, nothing overtakes, whatever changes meanwhile."""

from __future__ import annotations

import contextlib
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.clients.admin import Admin
from broker_core.clients.batches import Receipt
from broker_core.clients.producer import Producer
from broker_core.clients.producer_config import ProducerConfig
from broker_core.clients.record_accumulator import MOST_ENTRIES, SMALL_BYTES
from broker_core.engine.broker_host import BrokerHost
from broker_core.engine.host import Host
from broker_core.errors import BrokerError, ErrorCode
from broker_core.log.config import LogConfig
from broker_core.messages import Message
from broker_core.replies import Reply
from broker_core.schemas.rule import SchemaRule
from tests.broker_core.clients.virtual_broker import VirtualBroker
from tests.long_form import examples

T = TypeVar("T")


class StillHost(Host):
    """A host whose time moves only when it is told to."""

    def __init__(self, virtual: VirtualBroker) -> None:
        self.virtual, self.broker, self.loop = virtual, virtual.broker, virtual.loop
        self.lock = threading.Lock()
        self.calls = 0
        self._closing, self._clients = False, {}

    @property
    def now_ns(self) -> int:
        return self.loop.now_ns

    def call(self, action: Callable[[int], T]) -> T:
        self.calls += 1
        return action(self.loop.now_ns)

    admin = call

    def wait(self, reply: Reply[T], timeout_s: float | None = None) -> T:
        self.virtual.run(timeout_s or 0.0)
        return reply.result()

    def tell(self, callback: Callable[[], object]) -> None:
        callback()


@contextlib.contextmanager
def producing(virtual: VirtualBroker, **config: Any) -> Iterator[Producer]:
    with Producer(StillHost(virtual), ProducerConfig(**config)) as producer:
        yield producer


def place(receipt: Receipt) -> tuple[int, int]:
    done = receipt.result()
    return done.partition, done.offset


def test_messages_wait_together_for_as_long_as_they_may_linger():
    virtual = VirtualBroker(1)
    with producing(virtual, linger_ms=5) as producer:
        host = producer._host
        receipts = [producer.send("commits", b"%d" % number) for number in range(100)]
        assert isinstance(host, StillHost)
        assert host.calls == 3  # to register the producer, for the first message, for the timer; then nobody
        virtual.run(0.004_999)
        assert not any(receipt.done for receipt in receipts) and virtual.values() == [[]]
        virtual.run(0.000_001)
        assert [place(receipt) for receipt in receipts] == [(0, number) for number in range(100)]
        late = producer.send("commits", b"late")
        virtual.run(0.005)
        assert place(late) == (0, 100)


def test_many_do_not_linger_and_a_batch_is_as_large_as_it_may_be():
    virtual = VirtualBroker(1)
    with producing(virtual, linger_ms=60_000, batch_bytes=5_000) as producer:
        for number in range(MOST_ENTRIES + 1):
            producer.send("commits", b"%04d" % number)
        (stored,) = virtual.values()
        assert len(stored) > MOST_ENTRIES // 2
        producer.flush()
        assert virtual.values() == [[b"%04d" % number for number in range(MOST_ENTRIES + 1)]]
        assert max(event.count for event in virtual.events) <= 5_000 // 20


@pytest.mark.parametrize("how", ["flush", "send", "publish", "many", "large", "headers", "close"])
def test_whatever_comes_next_comes_after_what_was_sent_before(how):
    virtual = VirtualBroker(1)
    with producing(virtual, linger_ms=60_000) as producer:
        receipts = [producer.send("commits", b"%d" % number) for number in range(5)]
        following: list[bytes | None] = [b"5"]
        match how:
            case "send":
                producer.send("commits", b"5", linger=False)
            case "publish":
                assert producer.publish("commits", b"5") == (0, 5)
            case "many":
                producer.publish_many("commits", [Message(b"5")])
            case "large":
                following = [bytes(SMALL_BYTES + 1)]
                producer.send("commits", following[0])
                producer.flush()
            case "headers":
                producer.send("commits", b"5", headers=(("h", b"1"),))
                producer.flush()
            case _:
                producer.flush() if how == "flush" else producer.close()
                following = []
        assert virtual.values() == [[b"0", b"1", b"2", b"3", b"4", *following]]
        assert [receipt.result().offset for receipt in receipts] == [0, 1, 2, 3, 4]


def test_changes_of_the_topic_hold_for_what_was_sent_before_them_too():
    virtual = VirtualBroker(2)
    with producing(virtual, linger_ms=1_000) as producer:

        def send(*values: bytes) -> list[Receipt]:
            return [producer.send("commits", value, b"%d" % number) for number, value in enumerate(values)]

        before = send(b"a", b"b", b"c", b"d")
        virtual.broker.topics.add_partitions(virtual.now_ns, "commits", 4)
        send(b"e", b"f", b"g", b"h")
        producer.flush()
        assert sorted(value or b"" for part in virtual.values() for value in part) == [
            b"%c" % each for each in b"abcdefgh"
        ]
        # The very first opened its batch before there were more partitions.
        assert [receipt.result().partition for receipt in before[1:]] == [
            virtual.broker.logs.partition_for("commits", Message(None, b"%d" % key)) for key in (1, 2, 3)
        ]

        fits, too_long = send(b"x" * 5, b"x" * 40)
        virtual.broker.topics.configure(virtual.now_ns, "commits", log=LogConfig(max_message_bytes=30))
        with pytest.raises(BrokerError, match="at most 30"):
            send(b"x" * 31)
        with pytest.raises(BrokerError, match="at most 30"):
            producer.flush()
        assert fits.error() is None
        error = too_long.error()
        assert error is not None and error.code is ErrorCode.MESSAGE_TOO_LARGE

        number, text = send(b"1", b"text")
        virtual.broker.schemas.register(0, "numbers", '{"type": "number"}')
        virtual.broker.schemas.set_rule(0, "commits", SchemaRule("numbers"))
        with pytest.raises(BrokerError):
            producer.flush()
        error = text.error()
        assert error is not None and error.code is ErrorCode.INVALID_RECORD and number.error() is None
        assert producer._sender.buffered_bytes == 0


def test_what_was_sent_to_a_topic_that_is_deleted_meanwhile_fails():
    virtual = VirtualBroker(1)
    with producing(virtual, linger_ms=1_000) as producer:
        receipts = [producer.send("commits", b"%d" % number) for number in range(3)]
        virtual.broker.topics.delete(virtual.now_ns, "commits")
        with pytest.raises(BrokerError):
            producer.flush()
        for receipt in receipts:
            error = receipt.error()
            assert error is not None and error.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_where_the_buffer_is_full_senders_wait():
    virtual = VirtualBroker(1)

    def refuse(*_args: object, **_fields: object) -> None:
        raise BrokerError(ErrorCode.REQUEST_TIMED_OUT, "the line")

    virtual.broker.publishing.publish_batch = refuse  # type: ignore[assignment,method-assign]
    bound = 4 * MOST_ENTRIES * SMALL_BYTES
    with producing(virtual, linger_ms=5, buffer_bytes=bound, max_block_ms=0, delivery_timeout_ms=1_000) as producer:
        with pytest.raises(BrokerError) as caught:
            for _ in range(100_000):
                producer.send("commits", bytes(SMALL_BYTES))
        assert caught.value.code is ErrorCode.REQUEST_TIMED_OUT
        assert bound / 2 < producer._sender.buffered_bytes <= bound + MOST_ENTRIES * (SMALL_BYTES + 100)
        virtual.run(10)
        with contextlib.suppress(BrokerError):
            producer.flush()
        assert producer._sender.buffered_bytes == 0


def test_a_receipt_that_is_in_no_batch_yet_can_be_waited_for_and_closing_stores_all():
    with BrokerHost() as host:
        Admin(host).create_topic("commits", partitions=2)
        producer = Producer(host, ProducerConfig(linger_ms=20))
        receipts = [producer.send("commits", b"%d" % number) for number in range(50)]
        assert receipts[40].result(10).offset >= 0
        more = [producer.send("commits", b"%d" % number) for number in range(50, 100)]
        producer.close()
        assert len({place(receipt) for receipt in receipts + more}) == 100
        with pytest.raises(BrokerError) as caught:
            producer.send("commits", b"late")
        assert caught.value.code is ErrorCode.CLOSED


@pytest.mark.parametrize("raced", [False, True], ids=["while it waits", "between the check and the list"])
def test_what_another_thread_sends_while_it_is_closed_is_refused_and_no_time_out(
    monkeypatch: pytest.MonkeyPatch, raced: bool
):
    with BrokerHost() as host:
        Admin(host).create_topic("commits", partitions=1)
        producer = Producer(host, ProducerConfig(linger_ms=20))
        sent = [producer.send("commits", b"1"), producer.send("commits", b"2")]
        records, wait = producer._records_by_topic["commits"], host.wait
        late: list[Receipt] = []

        def in_the_meantime(reply: Reply[T], timeout_s: float | None = None) -> T:
            found = wait(reply, timeout_s)
            if raced:
                late.append(Receipt(producer._waiter, Message(b"late")))
                records.entries.append(late[0])
            else:
                with pytest.raises(BrokerError) as refused:
                    producer.send("commits", b"late")
                assert refused.value.code is ErrorCode.CLOSED
            return found

        monkeypatch.setattr(host, "wait", in_the_meantime)
        if raced:
            with pytest.raises(BrokerError, match="abandoned 1 message for commits; close it only after") as closed:
                producer.close()
            assert closed.value.code is ErrorCode.CLOSED
        else:
            producer.close()
        monkeypatch.undo()
        assert [receipt.result(5).offset for receipt in sent] == [0, 1]
        for receipt in late:
            with pytest.raises(BrokerError):
                receipt.result(5)
        assert host.call(lambda _now: host.broker.logs.end_offset("commits", 0)) == 2


def test_threads_that_send_while_others_flush_each_find_their_own():
    with BrokerHost() as host:
        Admin(host).create_topic("commits", partitions=3)
        found: list[tuple[bytes, Receipt]] = []
        going = True
        with Producer(host, ProducerConfig(linger_ms=1)) as producer:

            def send(name: int) -> None:
                for number in range(4_000):
                    value = b"%d %d" % (name, number)
                    found.append((value, producer.send("commits", value, b"%d" % name if name % 2 else None)))

            def flush() -> None:
                while going:
                    producer.flush()

            threads = [threading.Thread(target=send, args=(name,)) for name in range(4)]
            flusher = threading.Thread(target=flush)
            for thread in (*threads, flusher):
                thread.start()
            for thread in threads:
                thread.join(60)
            going = False
            flusher.join(60)
            places = {value: place(receipt) for value, receipt in found}

        def read(_now: int) -> list[list[bytes | None]]:
            logs = [host.broker.logs.partition("commits", number) for number in range(3)]
            return [[one.value for one in log.read(0, max_messages=20_000, max_bytes=1 << 30)] for log in logs]

        stored = host.call(read)
        assert sum(map(len, stored)) == len(places) == 16_000
        assert all(stored[partition][offset] == value for value, (partition, offset) in places.items())
        for name in (1, 3):  # with a key: in the order in which its thread sent them
            own = [offset for value, (_, offset) in places.items() if value.startswith(b"%d " % name)]
            assert own == sorted(own)


@settings(max_examples=examples(50), deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from([1, 1, 1, 30, 400]), st.none() | st.sampled_from([b"a", b"b"]), st.integers(0, 2)),
        max_size=40,
    )
)
def test_everything_is_stored_once_at_the_offset_of_its_receipt(steps):
    virtual = VirtualBroker(2)
    with producing(virtual, linger_ms=5, batch_messages=50) as producer:
        sent: list[tuple[bytes, bytes | None, Receipt]] = []
        for count, key, pause in steps:
            for _ in range(count):
                value = b"%d" % len(sent)
                sent.append((value, key, producer.send("commits", value, key)))
            virtual.run(pause * 0.003)
        producer.flush()
        stored = virtual.values()
        assert Counter(value for part in stored for value in part) == Counter(value for value, _, _ in sent)
        for value, key, receipt in sent:
            partition, offset = place(receipt)
            assert stored[partition][offset] == value
            assert key is None or partition == virtual.broker.logs.partition_for("commits", Message(None, key))
        for key in (b"a", b"b"):
            offsets = [place(receipt)[1] for _, own, receipt in sent if own == key]
            assert offsets == sorted(offsets)
