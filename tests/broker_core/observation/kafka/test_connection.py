"""A connection says in one sentence why it cannot be made, and sends nothing that changes anything."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition
from kio.schema.index import api_key_map

from broker_core import Admin, BrokerHost
from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.access.access import Access, PrincipalEntry, Rule
from broker_core.listeners.kafka.listener import KafkaListener
from broker_core.listeners.listener import TlsConfig
from broker_core.observation.kafka.config import ConnectionConfig, connection_config
from broker_core.observation.kafka.connection import ALLOWED, CLIENT_ID, BrokerConnection, Question, request_frame
from broker_core.observation.kafka.peer import KafkaPeer
from broker_core.operations.entry import Operation
from broker_core.testing import EmbeddedBroker
from tests.broker_core.listeners import certificates
from tests.broker_core.observation.kafka.conftest import Observer

PASSWORD = "the shop's long token"
ACCESS = Access((PrincipalEntry("shop", PASSWORD),), (Rule("shop", (Operation.READ,), topics=("orders",)),))


@pytest.fixture
def host() -> Iterator[BrokerHost]:
    with BrokerHost() as made:
        Admin(made).create_topic("orders")
        yield made


@pytest.fixture
def tls(tmp_path: Path) -> TlsConfig:
    return certificates.make(tmp_path)


def opened(config: ConnectionConfig) -> list[str]:
    """The topics that are seen."""
    with contextlib.closing(KafkaPeer(config)) as peer:
        return [topic.name for topic in peer.open().topics]


def problem(config: ConnectionConfig) -> BrokerError:
    with pytest.raises(BrokerError) as failed:
        opened(config)
    return failed.value


@contextlib.contextmanager
def answering(data: bytes) -> Iterator[int]:
    """A port where whoever connects is sent these bytes."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            with contextlib.suppress(OSError):
                while True:
                    peer, _ = server.accept()
                    with peer:
                        peer.recv(1_000)
                        peer.sendall(data)

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        yield server.getsockname()[1]
        with contextlib.suppress(OSError):
            server.shutdown(socket.SHUT_RDWR)
    thread.join()


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_a_user_with_a_password_comes_in_over_tls(host: BrokerHost, tls: TlsConfig, tmp_path: Path, mechanism: str):
    with KafkaListener(host, port=0, access=ACCESS, tls=tls) as listener:
        file = tmp_path / "client.properties"
        file.write_text(
            f"security.protocol=SASL_SSL\nsasl.mechanism={mechanism}\n"
            f"sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required \\\n"
            f'  username="shop" password="{PASSWORD}";\n'
            f"ssl.truststore.type=PEM\nssl.truststore.location={tls.certificate}\n"
        )
        config = connection_config(f"localhost:{listener.port}", file)
        assert opened(config) == ["orders"]
        wrong = problem(config._replace(password="another"))
        assert wrong.code is ErrorCode.UNAUTHORIZED
        assert "shop" in str(wrong)
        assert PASSWORD not in f"{config!r} {wrong}"


def test_who_is_nobody_is_told_of_sasl(host: BrokerHost):
    with KafkaListener(host, port=0, access=ACCESS) as listener:
        found = problem(connection_config(f"127.0.0.1:{listener.port}"))
    assert "expect SASL" in str(found)


def test_plain_against_tls_and_tls_against_plain(host: BrokerHost, tls: TlsConfig):
    with KafkaListener(host, port=0, tls=tls) as listener:
        found = problem(connection_config(f"localhost:{listener.port}"))
        assert "TLS" in str(found)
        secure = ConnectionConfig((("localhost", listener.port),), tls=True)
        unknown = problem(secure)
        assert unknown.code is ErrorCode.UNAUTHORIZED
        assert "not trusted" in str(unknown)
    with KafkaListener(host, port=0) as listener:
        found = problem(ConnectionConfig((("localhost", listener.port),), tls=True))
        assert "does not speak TLS" in str(found)


@pytest.mark.parametrize("data", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"", b"\0\0\0\x08\0\0\0\x63abcd"])
def test_what_is_not_kafka_is_said_not_to_be(data: bytes):
    with answering(data) as port:
        found = problem(connection_config(f"127.0.0.1:{port}"))
    assert found.code is ErrorCode.CONNECTION_LOST
    assert "not Kafka" in str(found) or "not speak Kafka" in str(found)


def test_a_broker_that_has_not_our_version_of_api_versions_is_asked_again_at_once():
    """librdkafka's mock answers in a form of its own, in which a reader finds a pause of 20 minutes."""
    refused = bytes.fromhex("0000001100000001 0023 01 0012 0000 0002 00000000")
    of_version_0 = struct.pack(">iihihhh", 16, 2, 0, 1, 3, 0, 5)
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            peer, _ = server.accept()
            with peer:
                for data in (refused, of_version_0):
                    peer.recv(1_000)
                    peer.sendall(data)

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        port = server.getsockname()[1]
        with contextlib.closing(BrokerConnection(connection_config(f"127.0.0.1:{port}"), "127.0.0.1", port)) as found:
            assert found.version("Metadata") == 5
            assert found.not_before_s == 0
        thread.join()


def test_bytes_that_promise_too_much_are_refused():
    """Lengths are held against what is there: a reader that trusts them would take all memory."""
    body = struct.pack(">ihi", 1, 0, 0x7FFF_FFFF)
    with answering(struct.pack(">i", len(body)) + body) as port:
        found = problem(connection_config(f"127.0.0.1:{port}"))
    assert found.code is ErrorCode.CONNECTION_LOST


def test_no_host_nobody_there_and_no_answer():
    assert "no host named" in str(problem(connection_config("brokerscope.invalid")))
    assert "no host named" in str(problem(connection_config("a" * 70 + ".invalid")))
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        silent = problem(connection_config(f"127.0.0.1:{port}")._replace(timeout_s=0.2))
        assert silent.code is ErrorCode.REQUEST_TIMED_OUT
    assert "nothing listens" in str(problem(connection_config(f"127.0.0.1:{port}")))


def test_the_first_broker_that_answers_is_enough(host: BrokerHost):
    with socket.create_server(("127.0.0.1", 0)) as server:
        gone = server.getsockname()[1]
    with KafkaListener(host, port=0) as listener:
        assert opened(connection_config(f"127.0.0.1:{gone},127.0.0.1:{listener.port}")) == ["orders"]


@pytest.mark.promise("42")
def test_nothing_is_sent_that_changes_anything(broker: EmbeddedBroker, monkeypatch: pytest.MonkeyPatch):
    """On the bytes: the API key of every request of an observation with groups of each kind and lag to be dated."""
    sent: list[bytes] = []
    real = socket.create_connection

    def recording(*where: Any) -> Any:
        connected = real(*where)
        return _Tapped(connected, sent) if threading.current_thread().name.startswith("observer ") else connected

    monkeypatch.setattr("broker_core.observation.kafka.connection.socket.create_connection", recording)
    broker.create_topic("orders")
    broker.publish("orders", {"number": 1})
    for group, more in (("classic", {}), ("new", {"group.protocol": "consumer"})):
        reader = Consumer({"bootstrap.servers": broker.bootstrap_servers, "group.id": group, "log_level": 0, **more})
        reader.commit(offsets=[TopicPartition("orders", 0, 0)], asynchronous=False)
        reader.close()
    peer = KafkaPeer(connection_config(broker.bootstrap_servers), every_s=0.0)
    observer = Observer(peer)
    observer.look()
    peer.close()
    keys = {struct.unpack_from(">h", frame, 4)[0] for frame in sent}
    names = {api_key_map[key] for key in keys}
    assert {"metadata", "list_groups", "describe_groups", "offset_fetch", "list_offsets"} <= names
    assert keys <= {api.key for api in ALLOWED.values()}
    assert all(CLIENT_ID.encode() in frame[:60] for frame in sent)


@pytest.mark.promise("42")
def test_no_request_that_may_be_sent_changes_anything():
    reads = ("fetch", "list_", "describe_", "metadata", "find_", "api_versions", "sasl_")
    for api in ALLOWED.values():
        name = api_key_map[api.key]
        assert name.startswith(reads) or name.endswith(("_fetch", "_describe")), name
    assert "share_fetch" not in {api_key_map[api.key] for api in ALLOWED.values()}, "it takes messages from others"


class _Tapped:
    """A socket that keeps what is sent."""

    def __init__(self, real: socket.socket, sent: list[bytes]) -> None:
        self._real = real
        self._sent = sent

    def sendall(self, data: Any) -> None:
        self._sent.append(bytes(data))
        self._real.sendall(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


def test_a_question_is_written_once_and_its_frame_is_that_of_its_body():
    body = {"groups": [{"group_id": "billing", "topics": None}]}
    question = Question(body)
    for correlation in (1, 2, 70_000):
        assert question.frame(9, 8, correlation) == request_frame(9, 8, correlation, body)
