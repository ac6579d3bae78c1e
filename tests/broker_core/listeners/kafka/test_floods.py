"""Promise 21 at the Kafka listener: a flood, by strangers or of bytes, costs those who are in nothing."""

from __future__ import annotations

import contextlib
import gc
import socket
import struct
import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient

from broker_core import Admin, BrokerError, BrokerHost, ErrorCode
from broker_core import Producer as OwnProducer
from broker_core.listeners.access.access import ANYBODY, Access
from broker_core.listeners.access.limits import GuardConfig
from broker_core.listeners.access.open_connections import STRANGERS_FRAME_BYTES
from broker_core.listeners.kafka import call
from broker_core.listeners.kafka.call import TABLE, Call, Later
from broker_core.listeners.kafka.listener import KafkaListener
from broker_core.listeners.kafka.share_sessions import check_acknowledgements
from broker_core.log.client_batch import MAX_RECORDS
from tests.broker_core.listeners.kafka.raw import Raw, asked, frame_of
from tests.broker_core.listeners.kafka.test_malformed_frames import CLIENT, frame, head
from tests.broker_core.listeners.kafka.test_produce_and_consume import produce
from tests.broker_core.listeners.kafka.test_who_may_come_in import TOKEN, client

PATIENCE_S = 30
READ_BYTES = 262_144  # what asyncio reads at a time
VERSIONS = frame(head(18, 0))
METADATA = frame(struct.pack(">hhi", 3, 1, 5) + CLIENT + struct.pack(">i", -1))


@contextlib.contextmanager
def flood(listener: KafkaListener, count: int, data: bytes = b"") -> Iterator[list[socket.socket]]:
    """Connections that send `data` and nothing more, as far as they are let."""
    with contextlib.ExitStack() as opened:
        made = []
        for _ in range(count):
            connection = opened.enter_context(socket.socket())
            connection.settimeout(PATIENCE_S)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)  # so that the system keeps few answers
            connection.connect(("127.0.0.1", listener.port))
            made.append(connection)
            with contextlib.suppress(ConnectionError):
                connection.sendall(data)
        yield made


def until(condition: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline_s
        time.sleep(0.01)


def known(listener: KafkaListener) -> set[int]:
    """The connections of those who have shown who they are."""
    return {view.id for view in listener.connections.views() if view.principal}


def test_strangers_neither_cut_those_who_are_in_nor_keep_others_out(host: BrokerHost, admin: Admin):
    admin.create_topic("orders")
    limits = GuardConfig(max_connections=30)
    with KafkaListener(host, port=0, access=Access.of_token(TOKEN), limits=limits) as listener:
        producer = Producer(client(listener, TOKEN))
        produce(producer, "orders", 1)
        before = known(listener)
        with flood(listener, 100, b"\0\0"):
            produce(producer, "orders", 3)
            assert set(AdminClient(client(listener, TOKEN)).list_topics(timeout=PATIENCE_S).topics) == {"orders"}
            assert before <= known(listener)
            assert len(listener.connections.views()) <= 30
        assert {view.last_error for view in listener.connections.gone() if "maximum number" in view.last_error} == {
            "cut: the maximum number of connections is open"
        }


def test_a_tenth_of_the_connections_is_kept_for_those_who_are_known(host: BrokerHost):
    limits = GuardConfig(max_connections=30)
    with KafkaListener(host, port=0, access=Access.of_token(TOKEN), limits=limits) as listener, flood(listener, 40):
        until(lambda: sum("maximum number" in view.last_error for view in listener.connections.gone()) == 13)
        assert len(listener.connections.views()) == 27


def test_where_all_are_known_one_more_is_refused(host: BrokerHost):
    with KafkaListener(host, port=0, limits=GuardConfig(max_connections=5)) as listener:
        with flood(listener, 5, VERSIONS) as first, flood(listener, 3):
            until(lambda: len(listener.connections.gone()) == 3)
            for connection in first:
                assert connection.recv(4)


@pytest.mark.promise("21")
def test_strangers_hold_four_kilobytes_each_until_they_are_gone(host: BrokerHost):
    with KafkaListener(host, port=0, access=Access.of_token(TOKEN)) as listener:
        unfinished = struct.pack(">i", STRANGERS_FRAME_BYTES) + b"x" * (STRANGERS_FRAME_BYTES - 1)
        with flood(listener, 50, unfinished):
            until(lambda: listener.budget.bytes == 50 * len(unfinished))
        until(lambda: listener.budget.bytes == 0)


@pytest.mark.promise("21")
def test_who_holds_the_most_bytes_is_cut_and_nobody_else(host: BrokerHost, admin: Admin):
    admin.create_topic("orders")
    limits = GuardConfig(max_frame_bytes=500_000, max_buffered_bytes=1_000_000)
    with KafkaListener(host, port=0, limits=limits) as listener:
        settings = {"bootstrap.servers": listener.bootstrap_servers, "client.id": "good", "batch.num.messages": 1}
        producer = Producer(settings)
        produce(producer, "orders", 1)
        with flood(listener, 10, struct.pack(">i", 500_000) + b"x" * 300_000):
            produce(producer, "orders", 20, headers={"large": b"x" * 100_000})
            until(lambda: listener.budget.bytes <= 1_000_000)
        cut = [view for view in listener.connections.gone() if "too many bytes" in view.last_error]
        assert len(cut) >= 7
        assert {view.client for view in cut} == {""}, "nobody who asked for something"
        until(lambda: listener.budget.bytes == 0)


@pytest.mark.parametrize("whole", [pytest.param(VERSIONS, id="ApiVersions"), pytest.param(METADATA, id="Metadata")])
def test_frames_that_come_in_pieces_are_answered_as_if_whole(listener: KafkaListener, admin: Admin, whole: bytes):
    admin.create_topic("orders")

    def answer() -> bytes:
        size = incoming.read(4)
        return size + incoming.read(int.from_bytes(size))

    with (
        socket.create_connection(("127.0.0.1", listener.port), timeout=PATIENCE_S) as connection,
        connection.makefile("rb") as incoming,
    ):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.sendall(whole)
        expected = answer()
        for at in range(1, len(whole)):
            connection.sendall(whole[:at])
            connection.sendall(whole[at:])
            assert answer() == expected
        connection.sendall(whole * 3)
        assert [answer() for _ in range(3)] == [expected] * 3


def test_a_frame_that_is_cut_anywhere_leaves_nothing_behind(listener: KafkaListener):
    for at in range(len(METADATA)):
        with socket.create_connection(("127.0.0.1", listener.port), timeout=PATIENCE_S) as connection:
            connection.sendall(METADATA[:at])
    until(lambda: not listener.connections.views())
    assert listener.budget.bytes == 0


def test_who_sends_on_without_reading_its_responses_fills_no_memory(host: BrokerHost, admin: Admin):
    admin.create_topic("orders", 500)
    limits = GuardConfig(max_frame_bytes=100_000)
    with (
        KafkaListener(host, port=0, limits=limits) as listener,
        socket.create_connection(("127.0.0.1", listener.port), timeout=PATIENCE_S) as connection,
    ):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        connection.settimeout(0.5)
        with pytest.raises(TimeoutError):  # it is not read any more
            while True:
                connection.sendall(METADATA * 10_000)
        assert listener.budget.bytes < 100_000 + 2 * READ_BYTES


def test_who_sends_on_while_the_session_is_paused_fills_no_memory(host: BrokerHost, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(BrokerHost, "is_paused", True)
    with (
        KafkaListener(host, port=0, limits=GuardConfig(max_frame_bytes=100_000)) as listener,
        socket.create_connection(("127.0.0.1", listener.port), timeout=0.5) as connection,
    ):
        with pytest.raises(TimeoutError):  # it is not read any more
            for _ in range(100):
                connection.sendall(VERSIONS * 50_000)
        assert listener.budget.bytes < 100_000 + 2 * READ_BYTES
        monkeypatch.setattr(BrokerHost, "is_paused", False)
        until(lambda: listener.connections.views()[0].requests > 100)


@pytest.mark.promise("15")
def test_promise_15_answers_that_nobody_reads_are_counted_and_others_are_served(host: BrokerHost, admin: Admin):
    admin.create_topic("orders")
    with OwnProducer(host) as producer:
        for number in range(30):
            producer.publish("orders", bytes(1_000_000), key=b"%d" % number)
    most_bytes = 2_000_000
    partition = {"partition": 0, "fetch_offset": 0, "partition_max_bytes": 1 << 30}
    wanted = {"max_wait": 100, "max_bytes": 1 << 30, "min_bytes": 1}
    everything = {**wanted, "topics": [{"topic": "orders", "partitions": [partition]}]}
    request = frame_of(1, 11, everything)
    held_bytes = [0]

    def too_many() -> bool:
        held_bytes.append(listener.budget.bytes)
        return any("held too many bytes" in view.last_error for view in listener.connections.gone())

    with (
        KafkaListener(host, port=0, limits=GuardConfig(max_buffered_bytes=most_bytes)) as listener,
        # Several each, because the system keeps the first.
        flood(listener, 20, (struct.pack(">i", len(request)) + request) * 10),
    ):
        until(too_many)
        assert most_bytes // 2 < max(held_bytes) <= most_bytes + 1_100_000, "and one answer"
        answer = asked(listener.port, 1, 11, everything)
        assert len(answer.responses[0].partitions[0].records) > 1_000_000, "one batch, whatever the others hold"
    assert listener.budget.bytes == 0


@pytest.mark.promise("38")
@pytest.mark.parametrize(
    ("key", "version", "before", "element", "behind"),
    [
        pytest.param(10, 4, b"\0", b"\1", b"\0", id="FindCoordinator"),
        pytest.param(15, 5, b"", b"\1", b"\0\0", id="DescribeGroups"),
        pytest.param(32, 4, b"", b"\2\1\0\0", b"\0\0\0", id="DescribeConfigs"),
    ],
)
def test_promise_38_a_request_of_too_many_elements_is_not_begun(
    listener: KafkaListener, key: int, version: int, before: bytes, element: bytes, behind: bytes
):
    def answer(count: int) -> bytes:
        length = bytes([(count + 1) & 0x7F | 0x80, (count + 1) >> 7 & 0x7F | 0x80, (count + 1) >> 14])
        body = struct.pack(">hhi", key, version, 1) + CLIENT + b"\0" + before + length + element * count + behind
        with socket.create_connection(("127.0.0.1", listener.port), timeout=PATIENCE_S) as connection:
            with contextlib.suppress(ConnectionError):
                connection.sendall(struct.pack(">i", len(body)) + body)
                return connection.recv(4)
        return b""

    most = TABLE[key].most_elements
    assert answer(most)
    assert answer(most + 1) == b""
    assert "more elements" in listener.connections.gone()[-1].last_error


@pytest.mark.promise("38")
def test_promise_38_a_topic_that_is_named_a_hundred_times_is_described_once(listener: KafkaListener, admin: Admin):
    admin.create_topic("orders", 50)
    found = asked(listener.port, 3, 1, {"topics": [{"name": "orders"}] * 100})
    assert [topic.name for topic in found.topics] == ["orders"]


@pytest.mark.promise("38")
def test_promise_38_the_lock_is_free_between_the_slices_of_a_long_answer(
    host: BrokerHost, listener: KafkaListener, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(call, "_SLICE_S", 0.0)
    made = Call(listener.context, listener.connections.open("kafka", "", bool), ANYBODY, "shop", 0, 0, "", 0)
    taken: list[str] = []
    ask = host.call

    def asking(action: Callable[[int], bool]) -> bool:
        taken.append("lock")
        return ask(action)

    def rows() -> Iterator[int]:
        for number in range(5):
            taken.append("row")
            yield number

    monkeypatch.setattr(host, "call", asking)
    answer = ask(lambda _now: made.sliced("rows", rows(), error_code=0))
    assert isinstance(answer, Later)
    assert answer.work() == {"rows": [0, 1, 2, 3, 4], "error_code": 0}
    assert taken == ["row", *["lock", "row"] * 4, "lock"]


def test_promise_15_an_idle_connection_holds_nothing_of_its_last_request(listener: KafkaListener):
    size_bytes = 700_000
    with contextlib.closing(Raw(listener.port)) as connection:
        batch = {"name": "missing", "partition_data": [{"index": 0, "records": bytes(size_bytes)}]}
        connection.asked(0, 9, {"acks": 1, "timeout": 1_000, "topic_data": [batch]})
        until(lambda: not held(size_bytes))


def held(size_bytes: int) -> list[memoryview]:
    """Requests in memory that are so large."""
    gc.collect()
    return [each for each in gc.get_objects() if isinstance(each, memoryview) and size(each) >= size_bytes]


def size(view: memoryview) -> int:
    with contextlib.suppress(ValueError):  # released
        return view.nbytes
    return 0


@pytest.mark.promise("38")
def test_promise_38_a_worker_that_changes_much_lets_others_have_the_lock(monkeypatch: pytest.MonkeyPatch):
    order: list[str] = []
    monkeypatch.setattr(call, "_SLICE_S", 0.0)
    monkeypatch.setattr(time, "sleep", lambda _seconds: order.append("others"))
    for number in call.paced(range(3)):
        order.append(str(number))
    assert order == ["0", "others", "1", "others", "2", "others"]


@pytest.mark.promise("38")
def test_promise_38_a_request_acknowledges_as_many_records_as_a_batch_has_in_all():
    half = SimpleNamespace(first_offset=0, last_offset=MAX_RECORDS // 2 - 1)
    partition = SimpleNamespace(acknowledgement_batches=(half,))
    check_acknowledgements([SimpleNamespace(partitions=[partition] * 2)])
    with pytest.raises(BrokerError) as refused:
        check_acknowledgements([SimpleNamespace(partitions=[partition])] * 3)
    assert refused.value.code is ErrorCode.INVALID_REQUEST
