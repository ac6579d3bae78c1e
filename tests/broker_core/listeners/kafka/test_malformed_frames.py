"""Promise 19 at the Kafka listener: nothing that arrives can crash it, hang it or make it swell."""

from __future__ import annotations

import contextlib
import random
import socket
import struct

import pytest
from confluent_kafka import Producer
from hypothesis import given, settings
from hypothesis import strategies as st
from kio.index import load_request_schema

from broker_core import Admin, BrokerError, BrokerHost, ErrorCode
from broker_core.listeners.access.access import Access
from broker_core.listeners.access.limits import GuardConfig
from broker_core.listeners.access.open_connections import STRANGERS_FRAME_BYTES
from broker_core.listeners.kafka import codec
from broker_core.listeners.kafka.apis import APIS
from broker_core.listeners.kafka.listener import KafkaListener
from broker_core.log.client_batch import client_batches
from tests.broker_core.listeners.kafka.test_produce_and_consume import produce
from tests.long_form import examples

CLIENT = b"\0\4fuzz"


def frame(body: bytes) -> bytes:
    return struct.pack(">i", len(body)) + body


def head(key: int, version: int) -> bytes:
    flexible = load_request_schema(key, version).__header_schema__.__version__ > 1
    return struct.pack(">hhi", key, version, 7) + CLIENT + (b"\0" if flexible else b"")


def talk(listener: KafkaListener, data: bytes) -> bytes:
    """What comes back until the listener closes the connection or says nothing more."""
    found = b""
    with socket.create_connection(("127.0.0.1", listener.port), timeout=10) as connection:
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        try:
            while part := connection.recv(65_536):
                found += part
        except ConnectionResetError:
            pass
    return found


def check_alive(listener: KafkaListener) -> None:
    producer = Producer({"bootstrap.servers": listener.bootstrap_servers, "log_level": 0})
    produce(producer, "orders", 3)


@pytest.mark.promise("19")
def test_mutated_requests_are_answered_or_end_their_connection(host: BrokerHost, admin: Admin, listener, caplog):
    admin.create_topic("orders")
    dice = random.Random(12)
    for number in range(600):
        api = dice.choice(APIS)
        version = dice.randint(api.oldest, api.newest)
        if (api.key, version) == (18, 0) or number % 3 == 0:
            body = head(api.key, version) + dice.randbytes(dice.randint(0, 60))
        else:
            body = head(api.key, version) + bytes(dice.choice((0, 0, 0, 1, 2, 255)) for _ in range(dice.randint(0, 80)))
        talk(listener, frame(body))
    assert [record for record in caplog.records if "could not be served" in record.getMessage()] == []
    check_alive(listener)


@pytest.mark.promise("19")
@given(st.binary(max_size=200), st.sampled_from(APIS), st.data())
@settings(max_examples=examples(300))
def test_any_body_is_read_or_refused(body: bytes, api, data) -> None:
    version = data.draw(st.integers(api.oldest, api.newest))
    whole = head(api.key, version) + body
    try:
        codec.request_of(codec.header_of(whole), whole, 1_000)
    except BrokerError as error:
        assert error.code is ErrorCode.MALFORMED_REQUEST


@pytest.mark.promise("19")
@given(st.binary(max_size=300))
@settings(max_examples=examples(300))
def test_any_records_are_batches_or_refused(records: bytes) -> None:
    with pytest.raises(BrokerError) as refused:
        list(client_batches(records))
    wrong = {ErrorCode.CORRUPT_MESSAGE, ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT}
    assert refused.value.code in (wrong if records else {ErrorCode.INVALID_RECORD})


@pytest.mark.promise("20")
def test_the_largest_declared_length_takes_no_memory_and_is_refused(host: BrokerHost):
    with KafkaListener(host, port=0, limits=GuardConfig(max_frame_bytes=10_000)) as listener:
        for size in (10_001, (1 << 31) - 1, -1, 0):
            assert talk(listener, struct.pack(">i", size) + b"x") == b""
        gone = listener.connections.gone()
        assert {view.last_error.partition(" of ")[0] for view in gone} == {"cut: a request"}


def test_a_stranger_is_given_four_kilobytes(host: BrokerHost):
    with KafkaListener(host, port=0, access=Access.of_token("sixteen characters")) as listener:
        assert talk(listener, frame(head(18, 3) + b"\2a\2b\0"))[4:8] == struct.pack(">i", 7)
        assert talk(listener, struct.pack(">i", STRANGERS_FRAME_BYTES + 1)) == b""
        assert talk(listener, frame(head(3, 9) + b"\0\0\0\0\0")) == b"", "only who has shown who it is may ask"


def test_unfinished_frames_cost_nobody_else(host: BrokerHost, admin: Admin, listener: KafkaListener):
    admin.create_topic("orders")
    silent = [socket.create_connection(("127.0.0.1", listener.port)) for _ in range(100)]
    for connection in silent:
        connection.sendall(struct.pack(">i", 5_000_000) + b"x" * 1_000)
    check_alive(listener)
    for connection in silent:
        connection.close()


def test_an_unfinished_frame_is_cut(host: BrokerHost):
    with KafkaListener(host, port=0, limits=GuardConfig(body_timeout_ms=200)) as listener:
        with socket.create_connection(("127.0.0.1", listener.port), timeout=10) as connection:
            connection.sendall(b"\0\0")
            connection.settimeout(10)
            with contextlib.suppress(ConnectionResetError):
                assert connection.recv(1) == b""


def test_who_does_not_read_its_responses_is_cut(host: BrokerHost, admin: Admin):
    admin.create_topic("orders", 500)  # whose metadata soon fill the buffers of the kernel
    many = frame(struct.pack(">hhi", 3, 1, 5) + CLIENT + struct.pack(">i", -1)) * 1_000
    with KafkaListener(host, port=0, limits=GuardConfig(write_timeout_ms=200)) as listener:
        with socket.create_connection(("127.0.0.1", listener.port), timeout=30) as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
            with pytest.raises(ConnectionError):
                while True:
                    connection.sendall(many)
        assert [view.last_error for view in listener.connections.gone()] == ["cut: it does not read its responses"]


def test_an_unknown_version_of_api_versions_is_answered_as_version_0(listener: KafkaListener):
    answer = talk(listener, frame(struct.pack(">hhi", 18, 99, 5) + CLIENT + b"\0"))
    size, correlation, error = struct.unpack_from(">iih", answer)
    assert (size, correlation, error) == (len(answer) - 4, 5, 35)


def test_responses_come_in_the_order_of_the_requests(host: BrokerHost, admin: Admin, listener: KafkaListener):
    """A parked fetch is answered before the heartbeat that was sent behind it."""
    admin.create_topic("orders")
    wait_ms, topic = 300, b"\0\6orders"
    body = struct.pack(">iiiib", -1, wait_ms, 1, 1_000_000, 0) + struct.pack(">i", 1) + topic
    body += struct.pack(">iiqi", 1, 0, 0, 1_000_000)
    parked = frame(struct.pack(">hhi", 1, 4, 1) + CLIENT + body)
    after = frame(struct.pack(">hhi", 18, 0, 2) + CLIENT)
    with socket.create_connection(("127.0.0.1", listener.port), timeout=10) as connection:
        connection.sendall(parked + after)
        found = b""
        numbers: list[int] = []
        while len(numbers) < 2:
            found += connection.recv(65_536)
            while len(found) >= 8 and len(found) >= 4 + struct.unpack_from(">i", found)[0]:
                size, number = struct.unpack_from(">ii", found)
                numbers.append(number)
                found = found[4 + size :]
    assert numbers == [1, 2]
