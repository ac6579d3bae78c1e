"""Stored batches go to the socket as they lie in memory, piece by piece, as fast as they are read."""

from __future__ import annotations

import hashlib
import socket
import ssl
import struct
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from kio.index import load_response_schema
from kio.serial import entity_reader

from broker_core import Admin, BrokerHost
from broker_core.listeners.kafka.listener import KafkaListener
from broker_core.log.batch import encode_batch
from broker_core.log.client_batch import client_batches
from broker_core.messages import Message
from tests.broker_core.listeners import certificates
from tests.broker_core.listeners.kafka.raw import frame_of

BATCHES, BATCH_BYTES = 250, 20_000  # in all more than a socket takes at once
PATIENCE_S = 30


def fill(host: BrokerHost) -> bytes:
    """What the partition holds then."""
    for number in range(BATCHES):
        data, _ = encode_batch(0, 0, [Message(number.to_bytes(2, "big") * (BATCH_BYTES // 2))] * (1 + number % 2))
        (batch,) = client_batches(bytes(data))
        publish = host.broker.publishing.publish_encoded
        host.call(partial(publish, name="orders", partition=0, batch=batch, client="shop"))
    log = host.broker.logs.partition("orders", 0)
    return b"".join(host.call(lambda _now: log.read_bytes(0, 1 << 30, log.high_watermark)).pieces)


def fetched(connection: socket.socket, slow_s: float = 0) -> bytes:
    """The records of one answer, read in pieces with pauses."""
    partition = {"partition": 0, "fetch_offset": 0, "partition_max_bytes": 1 << 30}
    body = {
        "max_wait": 0,
        "max_bytes": 1 << 30,
        "min_bytes": 1,
        "topics": [{"topic": "orders", "partitions": [partition]}],
    }
    request = frame_of(1, 12, body)
    connection.sendall(struct.pack(">i", len(request)) + request)
    data = b""
    while len(data) < 4 or len(data) < 4 + struct.unpack_from(">i", data)[0]:
        piece = connection.recv(1 << 20)
        assert piece
        data += piece
        time.sleep(slow_s)
    answer: Any = entity_reader(load_response_schema(1, 12))(data[9:], 0)[0]
    return bytes(answer.responses[0].partitions[0].records)


def digest(data: bytes) -> str:
    return f"{len(data)} {hashlib.sha256(data).hexdigest()}"


def test_who_reads_slowly_gets_every_byte_in_its_order(host: BrokerHost, admin: Admin, listener: KafkaListener):
    admin.create_topic("orders")
    stored = fill(host)
    with socket.create_connection(("127.0.0.1", listener.port), timeout=PATIENCE_S) as connection:
        for slow_s in (0, 0.001, 0):  # one answer behind the other
            assert digest(fetched(connection, slow_s)) == digest(stored)
    assert listener.budget.bytes == 0


def test_over_tls_too(host: BrokerHost, admin: Admin, tmp_path: Path):
    admin.create_topic("orders")
    stored, tls = fill(host), certificates.make(tmp_path)
    context = ssl.create_default_context(cafile=tls.certificate)
    with (
        KafkaListener(host, port=0, tls=tls) as listener,
        socket.create_connection(("127.0.0.1", listener.port), timeout=PATIENCE_S) as plain,
        context.wrap_socket(plain, server_hostname="localhost") as connection,
    ):
        assert digest(fetched(connection, 0.001)) == digest(stored)


@pytest.mark.parametrize("size_bytes", [100, 5_000, 70_000])
def test_what_is_being_sent_stays_as_it_was(host: BrokerHost, admin: Admin, size_bytes: int):
    admin.create_topic("orders")
    log = host.broker.logs.partition("orders", 0)
    log.append_batch(0, [Message(b"a" * size_bytes)])
    (view,) = log.read_bytes(0, 1, 1).pieces
    before = bytes(view)
    log.append_batch(0, [Message(b"b" * 10)])
    log.delete_before(1)
    host.call(lambda now_ns: host.broker.topics.delete(now_ns, "orders"))
    assert bytes(view) == before
