"""Who may come in, with whose rights, and that what somebody authenticates with is kept nowhere."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from broker_core import Admin, BrokerHost, KafkaListener
from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.access.access import Access
from broker_core.listeners.access.limits import GuardConfig
from broker_core.listeners.between import passing
from broker_core.listeners.between.peer import BetweenPeer
from broker_core.observation.kafka.config import connection_config
from broker_core.observation.observed_session import ObservedSession
from broker_core.recording.metadata import read_metadata
from tests.broker_core.listeners import certificates

PATIENCE_S = 30.0
OURS = "the password of the configuration's user"  # a token of the cluster, which is one of our own
TOKEN = "the token that our ports ask for"


@pytest.fixture
def cluster() -> Iterator[KafkaListener]:
    with BrokerHost() as host, KafkaListener(host, port=0, access=Access.of_token(OURS)) as listener:
        Admin(host).create_topic("orders", 1)
        yield listener


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """As whom the program itself comes: by a challenge, to which it has to answer more than once."""
    made = tmp_path / "client.properties"
    said = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "SCRAM-SHA-256", "sasl.username": "token"}
    made.write_text("".join(f"{name}={value}\n" for name, value in {**said, "sasl.password": OURS}.items()))
    return made


@pytest.fixture
def opened(cluster: KafkaListener, file: Path) -> Iterator[Callable[..., Any]]:
    made: list[BetweenPeer] = []

    def begin(**settings: Any) -> Any:
        told: list[str] = []
        config = connection_config(cluster.bootstrap_servers, file)
        peer = BetweenPeer(config, port=0, every_s=0.2, told=told.append, **settings)
        made.append(peer)
        peer.open()
        return peer, told

    yield begin
    for peer in made:
        peer.close()


def published(servers: str, **more: Any) -> int:
    """How many messages were not taken: 0, or the one."""
    producer = Producer({"bootstrap.servers": servers, "client.id": "shop", "log_level": 0, **more})
    producer.produce("orders", b"x")
    left: int = producer.flush(PATIENCE_S)
    return left


def plain(password: str, user: str = "shop", mechanism: str = "PLAIN") -> dict[str, str]:
    return {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": mechanism,
        "sasl.username": user,
        "sasl.password": password,
    }


def until(holds: Callable[[], object]) -> None:
    deadline_s = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline_s
        time.sleep(0.005)


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-512"])
def test_each_client_has_its_own_rights(cluster: KafkaListener, opened, mechanism: str):
    peer, told = opened()
    assert published(peer.bootstrap_servers, **plain(OURS, "token", mechanism)) == 0
    assert not told and peer.facts.rights == ""
    seen = [*cluster.connections.views(), *cluster.connections.gone()]
    assert {view.principal for view in seen if view.client == "shop"} == {"token"}


def test_with_our_login_clients_need_the_token(cluster: KafkaListener, opened):
    peer, _told = opened(logs_in=True, token=TOKEN)
    assert peer.facts.rights == "token"
    assert published(peer.bootstrap_servers, **plain(TOKEN)) == 0
    assert published(peer.bootstrap_servers, **plain(TOKEN, "token", "SCRAM-SHA-256")) == 0
    assert {view.principal for view in cluster.connections.views()} == {"token"}


@pytest.mark.parametrize("more", [{}, plain("another password altogether")], ids=["no password", "a wrong one"])
def test_who_does_not_know_the_token_gets_nothing(cluster: KafkaListener, opened, more: dict[str, str]):
    peer, _told = opened(logs_in=True, token=TOKEN)
    producer = Producer({"bootstrap.servers": peer.bootstrap_servers, "client.id": "shop", "log_level": 0, **more})
    producer.produce("orders", b"x")

    def refused() -> str:
        producer.poll(0.05)
        return " ".join(each.last_error for each in peer.clients.gone())

    until(lambda: "token" in refused())
    producer.purge()
    assert cluster.host.broker.logs.partition("orders", 0).end_offset == 0


def test_a_shared_login_is_for_all(cluster: KafkaListener, opened):
    peer, _told = opened(logs_in=True, shared=True)
    assert published(peer.bootstrap_servers) == 0
    assert published(peer.bootstrap_servers, **plain("whatever it is configured with")) == 0


def test_a_stranger_is_cut_before_long(opened, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(passing, "_AUTHENTICATES_S", 0.05)
    peer, told = opened(logs_in=True, token=TOKEN)
    with socket.create_connection(("127.0.0.1", peer.ports.port), PATIENCE_S) as stranger:
        assert stranger.recv(1) == b""
    assert "did not authenticate in time" in told[0]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"logs_in": True}, "whoever reaches the ports would have the rights of token"),
        ({"token": TOKEN}, "cannot log in at the cluster by themselves"),
        ({"shared": True}, "no rights to share"),
        ({"logs_in": True, "token": "short"}, "at least 16 characters"),
        ({"address": "0.0.0.0"}, "can be reached from other machines, so a token is needed"),
    ],
)
def test_rights_are_not_given_away(opened, settings: dict[str, Any], said: str):
    with pytest.raises(BrokerError, match=said) as refused:
        opened(**settings)
    assert refused.value.code is ErrorCode.INVALID_CONFIG


def test_nobody_logs_in_without_a_user_and_a_certificate_is_a_login(tmp_path: Path):
    with pytest.raises(BrokerError, match="no user to log in as"):
        BetweenPeer(connection_config("127.0.0.1:1"), logs_in=True)
    file = tmp_path / "client.properties"
    file.write_text("security.protocol=SSL\nssl.certificate.location=me.pem\n")
    with pytest.raises(BrokerError, match=r"would have the rights of me\.pem"):
        BetweenPeer(connection_config("127.0.0.1:1", file))


def test_clients_speak_tls_to_our_certificate(cluster: KafkaListener, opened, tmp_path: Path):
    tls = certificates.make(tmp_path)
    peer, told = opened(tls=tls)
    settings = {**plain(OURS, "token"), "security.protocol": "SASL_SSL", "ssl.ca.location": str(tls.certificate)}
    assert published(peer.bootstrap_servers, **settings) == 0 and not told
    with socket.create_connection(("127.0.0.1", peer.ports.port), PATIENCE_S) as client:
        client.sendall(b"\0\0\0\x14 plain text in place")
        client.recv(100)
    until(lambda: told)
    assert "does not speak TLS, as these ports do" in told[0]


def test_a_wrong_password_of_the_configuration_is_one_sentence(cluster: KafkaListener, file: Path):
    file.write_text(file.read_text().replace(OURS, "the wrong one"))
    with pytest.raises(BrokerError, match=r"could not authenticate|refused the user token") as refused:
        BetweenPeer(connection_config(cluster.bootstrap_servers, file), port=0, logs_in=True, shared=True).open()
    assert refused.value.code is ErrorCode.UNAUTHORIZED


def _has_published(session: ObservedSession, count: int) -> bool:
    return session.latest.totals.published == count


def test_what_clients_authenticate_with_is_in_no_recording(cluster: KafkaListener, file: Path, tmp_path: Path):
    """Neither what passes, nor our token, nor the password of the file."""
    config, told = connection_config(cluster.bootstrap_servers, file), ""
    runs: list[tuple[str, dict[str, Any], str]] = [
        ("passed", {}, OURS),
        ("ours", {"logs_in": True, "token": TOKEN}, TOKEN),
    ]
    for name, settings, password in runs:
        peer = BetweenPeer(config, port=0, every_s=0.2, **settings)
        session = ObservedSession(peer, folder=tmp_path / name)
        before = session.latest.totals.published
        assert published(peer.bootstrap_servers, **plain(password)) == 0
        until(partial(_has_published, session, before + 1))
        told += repr((peer.clients.requests(), peer.clients.views(), session.latest, peer.facts))
        session.close()
        told += repr(peer.clients.gone())
        files = [path for path in (tmp_path / name).rglob("*") if path.is_file()]
        found = b"".join(path.read_bytes() for path in files)
        assert files and all(path.stat().st_mode & 0o077 == 0 for path in files)
        assert read_metadata(tmp_path / name).scenario == f"{peer.address}, a real cluster"
        for secret in (OURS, TOKEN):
            assert secret.encode() not in found and secret not in told


def test_what_many_have_sent_in_part_is_bounded(opened):
    peer, told = opened()
    ports = peer.ports
    ports.call(
        lambda _now: setattr(
            ports.open_ones, "budget", type(ports.open_ones.budget)(GuardConfig(max_buffered_bytes=1_000_000))
        )
    )
    frame = b"\0\x1f\xff\xff" + b"x" * 700_000
    with (
        socket.create_connection(("127.0.0.1", ports.port)) as one,
        socket.create_connection(("127.0.0.1", ports.port)) as other,
    ):
        one.sendall(frame)
        other.sendall(frame[:600_000])
        until(lambda: told)
    assert "held too many bytes" in told[0] and len(told) == 1
