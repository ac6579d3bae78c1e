"""Bytes in are bytes out; what cannot be passed on is said in a sentence, and nothing is half-sent."""

from __future__ import annotations

import contextlib
import dataclasses
import socket
import struct
import threading
import time
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from confluent_kafka import Producer
from hypothesis import given
from hypothesis import strategies as st
from kio.schema.index import api_key_map, schema_name_map

from broker_core import Admin, BrokerHost, KafkaListener
from broker_core.errors import BrokerError, ErrorCode
from broker_core.kafka_messages.schemas import load_response_schema
from broker_core.listeners.access.access import Access
from broker_core.listeners.between import rewriting
from broker_core.listeners.between.asked_requests import TopicNames
from broker_core.listeners.between.frames import MOST_REQUEST_BYTES, Frames
from broker_core.listeners.between.peer import BetweenPeer
from broker_core.listeners.between.ports import Ports
from broker_core.listeners.between.seen import Seen
from broker_core.listeners.kafka.codec import Header, response
from broker_core.observation.kafka.config import ConnectionConfig, connection_config
from broker_core.observation.observed_session import ObservedSession
from broker_core.operations.faults import BeginFault
from tests.broker_core.listeners import certificates

PATIENCE_S = 30.0
SECRET = "a token that nobody may keep"


class KeptFrames:
    """Sees everything, and keeps it."""

    def __init__(self) -> None:
        self.seen: list[Seen] = []

    def wants(self, api_key: int) -> bool:
        return True

    def put(self, seen: Seen) -> None:
        self.seen.append(seen)

    def gone(self, _connection: object) -> None: ...

    def fetched_by(self, _connection: object) -> tuple[()]:
        return ()


class Cluster:
    """A node that keeps what it is sent, and answers each frame as it is told."""

    def __init__(self, answer: Callable[[bytes], bytes]) -> None:
        self.got = b""
        self.closed = 0
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.address: tuple[str, int] = self._listening.getsockname()
        self._answer = answer
        self.answers = True  # else it closes the connection
        self.finishes = threading.Event()  # the end of an answer is sent then
        self.finishes.set()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            threading.Thread(target=self._talk, args=(connection,), daemon=True).start()

    def _talk(self, connection: socket.socket) -> None:
        frames = Frames(MOST_REQUEST_BYTES)
        with connection:
            while data := connection.recv(65_536):
                self.got += data
                if not self.answers:
                    break
                for frame in frames.take(data):
                    whole = self._answer(frame)
                    connection.sendall(whole[:-10])
                    if self.finishes.wait(PATIENCE_S):
                        connection.sendall(whole[-10:])
        self.closed += 1

    def close(self) -> None:
        self._listening.close()


def request(api_key: int, body: bytes, correlation_id: int = 7, version: int = 0) -> bytes:
    head = struct.pack(">hhih", api_key, version, correlation_id, 2) + b"me"
    return struct.pack(">i", len(head) + len(body)) + head + body


def answer(correlation_id: int, body: bytes) -> bytes:
    return struct.pack(">ii", len(body) + 4, correlation_id) + body


@pytest.fixture
def passing() -> Iterator[Callable[..., tuple[Ports, Cluster, list[str], KeptFrames]]]:
    made: list[Any] = []

    def make(reply: Callable[[bytes], bytes] = lambda frame: answer(7, frame[::-1])) -> Any:
        cluster, told, observer = Cluster(reply), list[str](), KeptFrames()
        config = ConnectionConfig((cluster.address,))
        ports = Ports(config, observer, lambda _event: None, TopicNames(), now_ns=time.monotonic_ns, told=told.append)
        ports.open({})
        made.extend((ports, cluster))
        return ports, cluster, told, observer

    yield make
    for each in made:
        each.close()


def connected(ports: Ports) -> socket.socket:
    return socket.create_connection(("127.0.0.1", ports.port), PATIENCE_S)


def read(connection: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size and (part := connection.recv(size - len(data))):
        data += part
    return data


def wait(holds: Callable[[], object]) -> None:
    deadline_s = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline_s
        time.sleep(0.005)


@pytest.mark.promise("46")
def test_bytes_in_are_bytes_out(passing):
    ports, cluster, told, _observer = passing()
    sent = [request(999, bytes([number]) * (number * 3_000), 7) for number in range(20)]
    with connected(ports) as client:
        client.sendall(b"".join(sent))  # one after the other, without waiting
        expected = b"".join(answer(7, frame[::-1]) for frame in sent)
        assert read(client, len(expected)) == expected
    assert cluster.got == b"".join(sent) and not told


def test_a_request_without_an_answer_is_not_waited_for(passing):
    produce = request(0, b"\xff\xff" + struct.pack(">hi", 0, 1_000), 1, 3)  # no transactional id, acks=0
    ports, cluster, _told, _observer = passing(
        lambda frame: b"" if frame == produce else answer(int.from_bytes(frame[8:12], "big"), b"done")
    )
    with connected(ports) as client:
        client.sendall(produce + request(999, b"", 2))
        assert read(client, 12) == answer(2, b"done")
    assert cluster.got.startswith(produce)


@pytest.mark.promise("46")
def test_what_is_cut_off_was_never_sent(passing):
    ports, cluster, _told, _observer = passing()
    with connected(ports) as client:
        client.sendall(request(999, b"whole") + request(999, b"cut off")[:-3])
        read(client, len(request(999, b"whole")) + 8)
    wait(lambda: cluster.closed)
    assert cluster.got == request(999, b"whole")


def test_an_api_that_the_cluster_does_not_know_either_is_told(passing):
    ports, cluster, told, _observer = passing(lambda _frame: b"")
    cluster.answers = False
    with connected(ports) as client:
        client.sendall(request(999, b""))
        assert read(client, 1) == b""
    assert told == ["The connection of me was cut: the cluster closed it instead of answering API 999 v0."]


def test_half_closed_sockets_get_their_answers(passing):
    ports, _cluster, _told, _observer = passing()
    with connected(ports) as client:
        client.sendall(request(999, b"last"))
        client.shutdown(socket.SHUT_WR)
        expected = answer(7, request(999, b"last")[::-1])
        assert read(client, len(expected) + 1) == expected


@pytest.mark.parametrize(
    ("first", "said"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", "it speaks HTTP"),
        (b"\x16\x03\x01\x02\x00\x01\x00", "it speaks TLS"),
        (struct.pack(">i", (1 << 31) - 1), "a frame of 2147483647 bytes"),
        (struct.pack(">I", (1 << 32) - 5), "a frame of 4294967291 bytes"),
        (struct.pack(">i", 3) + b"abc", "which no request of Kafka's has"),
        (request(17, struct.pack(">h", 5) + b"PLAIN"), "SaslHandshake v0"),
    ],
)
def test_a_stranger_is_told_of_and_cut(passing, first: bytes, said: str):
    ports, cluster, told, _observer = passing()
    with connected(ports) as client:
        client.sendall(first)
        assert read(client, 1) == b""
    assert len(told) == 1 and said in told[0] and cluster.got == b""
    assert said in ports.connections.gone()[-1].last_error


@pytest.mark.promise("46")
def test_what_was_passed_on_is_answered_before_the_ports_close_and_nothing_more_is(passing, monkeypatch):
    monkeypatch.setattr("broker_core.listeners.between.ports._LAST_S", PATIENCE_S)
    asked, may = threading.Event(), threading.Event()

    def late(_frame: bytes) -> bytes:
        asked.set()
        may.wait(PATIENCE_S)
        return answer(7, b"late")

    ports, cluster, _told, observer = passing(late)
    with connected(ports) as client:
        client.sendall(request(999, b"first"))
        assert asked.wait(PATIENCE_S)
        closing = threading.Thread(target=ports.close)
        closing.start()
        wait(lambda: all(each._stops for each in list(ports.open_ones.all)))
        client.sendall(request(999, b"second"))
        may.set()
        assert read(client, len(answer(7, b"late"))) == answer(7, b"late")
        closing.join()
    assert cluster.got == request(999, b"first")
    assert [seen.is_answer for seen in observer.seen] == [False, True]


@pytest.mark.promise("46")
def test_a_large_answer_to_fetch_is_passed_on_as_it_comes_and_ends_before_the_ports_do(passing, monkeypatch):
    monkeypatch.setattr("broker_core.listeners.between.ports._LAST_S", PATIENCE_S)
    whole = answer(7, bytes(range(256)) * 8_000)
    ports, cluster, told, observer = passing(lambda _frame: whole)
    cluster.finishes.clear()
    with connected(ports) as client:
        client.sendall(request(1, b"", 7, 4))
        begun = read(client, len(whole) // 2)
        closing = threading.Thread(target=ports.close)
        closing.start()
        wait(lambda: all(each._stops for each in list(ports.open_ones.all)))
        cluster.finishes.set()
        assert begun + read(client, len(whole)) == whole and not told
        closing.join()
    assert [seen.frame for seen in observer.seen if seen.is_answer] == [whole]


@pytest.mark.parametrize("size_bytes", [1_000, 2_000_000])
def test_a_leader_that_has_moved_is_told_where_the_answer_is_whole_and_else_the_connection_ends(
    passing, size_bytes: int
):
    partition = {"partition_index": 0, "high_watermark": 9, "last_stable_offset": 9, "records": bytes(size_bytes)}
    moved = {"node_id": 5, "host": "elsewhere", "port": 9092}
    topic = {"topic_id": UUID(int=1), "partitions": [partition]}
    whole = response(Header(1, 17, 7), {"responses": [topic], "node_endpoints": [moved]})
    ports, _cluster, told, _observer = passing(lambda _frame: whole)
    with connected(ports) as client:
        client.sendall(request(1, b"", 7, 17))
        got = read(client, len(whole) + 100 if size_bytes > 1_000 else len(whole) - 1)
    if size_bytes > 1_000:
        assert len(got) < len(whole) and "a leader has moved" in told[0]
    else:
        assert b"elsewhere" not in got and b"127.0.0.1" in got and not told


def test_a_node_that_cannot_be_reached(passing):
    ports, _cluster, told, _observer = passing()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        closed = taken.getsockname()[1]
    port = ports.call(lambda _now: ports.port_for(4, "127.0.0.1", closed))
    with socket.create_connection(("127.0.0.1", port), PATIENCE_S) as client:
        assert read(client, 1) == b""
    assert f"127.0.0.1:{closed} of the cluster cannot be reached from here" in told[-1]


def test_a_node_of_which_the_name_can_be_no_hosts(passing):
    ports, _cluster, told, _observer = passing()
    port = ports.call(lambda _now: ports.port_for(4, "a" * 70 + ".example", 9092))
    with socket.create_connection(("127.0.0.1", port), PATIENCE_S) as client:
        assert read(client, 1) == b""
    assert "aaa.example:9092 of the cluster cannot be reached from here" in told[-1]


def test_a_node_keeps_its_port_when_it_moves_and_when_the_program_starts_again(passing):
    ports, _cluster, _told, _observer = passing()
    first = ports.call(lambda _now: ports.port_for(5, "one", 9092))
    assert ports.call(lambda _now: ports.port_for(5, "two", 9092)) == first and ports.nodes[5][1] == ("two", 9092)
    assert ports.node_order == [5]


def test_the_address_of_a_controller_is_not_that_of_its_broker(passing):
    ports, _cluster, _told, _observer = passing()
    broker = ports.call(lambda _now: ports.port_for(5, "one", 9092))
    quorum = {"nodes": [{"node_id": 5, "listeners": [{"name": "CONTROLLER", "host": "one", "port": 9093}]}]}
    frame = response(Header(55, 2, 7), quorum)

    def address_for(node: int, host: str, port: int) -> tuple[str, int]:
        return "127.0.0.1", ports.call(lambda _now: ports.port_for(node, host, port))

    (node,) = rewriting.decoded(55, 2, rewriting.with_addresses(55, 2, frame, address_for)).nodes
    (listener,) = node.listeners
    assert (listener.host, ports.nodes[5]) == ("127.0.0.1", (broker, ("one", 9092))) and listener.port != broker


def test_an_answer_out_of_order_ends_the_connection(passing):
    ports, _cluster, told, _observer = passing(lambda _frame: answer(8, b""))
    with connected(ports) as client:
        client.sendall(request(999, b""))
        assert read(client, 1) == b""
    assert "out of order" in told[0]


@pytest.mark.promise("46")
def test_sasl_is_passed_and_seen_by_nobody(passing):
    ports, cluster, _told, observer = passing()
    observer.wants = lambda api_key: api_key not in (17, 36)  # as the program's own
    frame = request(36, SECRET.encode(), 7, 2)
    with connected(ports) as client:
        client.sendall(frame)
        read(client, len(frame) + 8)
    assert cluster.got == frame and observer.seen == []
    assert SECRET not in repr((ports.connections.requests(), ports.connections.views(), ports.connections.gone()))


def test_no_cluster_no_port(passing):
    with pytest.raises(BrokerError, match="nothing listens") as none:
        BetweenPeer(connection_config("127.0.0.1:1"), port=0).open()
    assert none.value.code is ErrorCode.CONNECTION_LOST
    with BrokerHost() as host, KafkaListener(host, port=0) as listener:
        peer = BetweenPeer(connection_config(listener.bootstrap_servers), port=listener.port)
        with pytest.raises(BrokerError, match="choose another port"):
            peer.open()


@pytest.mark.promise("46")
def test_a_password_is_in_no_recording(tmp_path: Path):
    """That of the client, and that of the file by which the program itself looks at the cluster."""
    with BrokerHost() as host, KafkaListener(host, port=0, access=Access.of_token(SECRET)) as listener:
        Admin(host).create_topic("orders", 1)
        file = tmp_path / "client.properties"
        file.write_text(f"security.protocol=SASL_PLAINTEXT\nsasl.username=me\nsasl.password={SECRET}\n")
        peer = BetweenPeer(connection_config(listener.bootstrap_servers, file), port=0, every_s=0.2)
        session = ObservedSession(peer, folder=tmp_path / "session")
        sasl = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN", "sasl.username": "shop"}
        producer = Producer({"bootstrap.servers": peer.bootstrap_servers, "sasl.password": SECRET, **sasl})
        producer.produce("orders", b"x")
        assert producer.flush(PATIENCE_S) == 0
        wait(lambda: session.latest.totals.published == 1)
        told = repr((peer.clients.requests(), peer.clients.views(), session.latest))
        session.close()
    files = [path for path in (tmp_path / "session").rglob("*") if path.is_file()]
    assert files and not any(SECRET.encode() in path.read_bytes() for path in files) and SECRET not in told
    assert all(path.stat().st_mode & 0o077 == 0 for path in files)


def test_tls_to_the_cluster_and_plain_text_to_the_ports(tmp_path: Path):
    tls = certificates.make(tmp_path)
    with BrokerHost() as host, KafkaListener(host, port=0, tls=tls) as listener:
        Admin(host).create_topic("orders", 1)
        file = tmp_path / "client.properties"
        file.write_text(f"security.protocol=SSL\nssl.ca.location={tls.certificate}\n")
        plain = BetweenPeer(connection_config(listener.bootstrap_servers), port=0)
        with pytest.raises(BrokerError, match="TLS"):
            plain.open()
        peer = BetweenPeer(connection_config(listener.bootstrap_servers, file), port=0)
        peer.open()
        producer = Producer({"bootstrap.servers": peer.bootstrap_servers, "log_level": 0})
        producer.produce("orders", b"x")
        assert producer.flush(PATIENCE_S) == 0
        peer.close()
        assert host.broker.logs.partition("orders", 0).end_offset == 1


@pytest.mark.promise("46")
def test_every_answer_of_a_broker_that_names_an_address_is_rewritten():
    def names(schema: Any) -> bool:
        fields = dataclasses.fields(schema)
        if {"host", "port"} <= {each.name for each in fields}:
            return True
        return any(names(kind) for each in fields for kind in parts(each.type) if dataclasses.is_dataclass(kind))

    def parts(kind: Any) -> list[Any]:
        return [kind, *(found for each in typing.get_args(kind) for found in parts(each))]

    found = {
        (key, version)
        for key, name in api_key_map.items()
        for version in schema_name_map[name]
        if names(load_response_schema(key, version))
    }
    # What controllers ask each other, and the addresses of clients of a Streams group.
    others = {52, 53, 54, 59, 82, 88, 89}
    read = {(key, version) for key, version in found if rewriting.reads(key, version)}
    assert {key for key, _version in found - read} <= others
    assert {key for key, _version in found} - others <= rewriting.NAMING


@given(st.lists(st.binary(min_size=0, max_size=300), max_size=8), st.data())
def test_frames_come_whole_however_they_are_cut(bodies: list[bytes], data: st.DataObject):
    frames = [struct.pack(">i", len(body)) + body for body in bodies]
    got: list[bytes] = []
    stream, splitter = b"".join(frames), Frames(1_000)
    while stream:
        size = data.draw(st.integers(1, len(stream)))
        got += splitter.take(stream[:size])
        stream = stream[size:]
    assert got == frames


def test_nothing_is_read_of_a_client_before_the_cluster_has_answered(passing):
    ports, _cluster, _told, _observer = passing()
    with contextlib.ExitStack() as stack:
        deaf = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        for _ in range(3):  # its queue is full then: who connects waits
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(deaf.getsockname())
        port = ports.call(lambda _now: ports.port_for(4, *deaf.getsockname()))
        client = stack.enter_context(socket.create_connection(("127.0.0.1", port), PATIENCE_S))
        client.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while True:
                client.send(request(999, b"x" * 60_000))
        wait(ports.connections.views)
        for _ in range(20):  # turns of the loop
            ports.call(lambda _now: None)
        (seen,) = [view for view in ports.connections.views() if view.requests == 0]
        assert seen.bytes_in <= 2 * 262_144, "what one read of asyncio brings, before it is told"


def test_a_held_client_is_not_read_either(passing):
    ports, _cluster, _told, _observer = passing()
    ports.ask(BeginFault(effect="hold", api="Produce"))
    with connected(ports) as client:
        client.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while True:
                client.send(request(0, struct.pack(">hhih", -1, 1, 1_000, 0) + b"\0\0" + b"x" * 60_000, version=3))
        wait(lambda: any(view.errors for view in ports.connections.views()))
        ports.call(lambda _now: None)
        assert ports.call(lambda _now: next(iter(ports.open_ones.all)).held_bytes) <= 2 * 262_144
