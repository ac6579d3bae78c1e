"""Kafka's clients authenticate by SCRAM, and speak TLS."""

from __future__ import annotations

import asyncio
import socket
import time
from pathlib import Path
from typing import Any

import pytest
from aiokafka import AIOKafkaProducer
from aiokafka.helpers import create_ssl_context
from confluent_kafka import KafkaError, KafkaException, Producer
from confluent_kafka.admin import AdminClient
from kafka import KafkaProducer

from broker_core import Admin, BrokerError, BrokerHost
from broker_core.listeners.access.access import Access, PrincipalEntry, Rule, digest_of
from broker_core.listeners.access.limits import GuardConfig
from broker_core.listeners.kafka.listener import KafkaListener
from broker_core.listeners.listener import TlsConfig
from broker_core.operations.entry import Operation
from tests.broker_core.listeners import certificates

TOKEN, OTHER = "the shop's long token", "the auditor's long token"
MECHANISMS = ["SCRAM-SHA-256", "SCRAM-SHA-512"]
ACCESS = Access(
    (PrincipalEntry("shop", TOKEN), PrincipalEntry("hidden", token_sha256=digest_of(OTHER).hex())),
    (Rule("shop", (Operation.READ, Operation.WRITE), topics=("orders",)), Rule("hidden", (Operation.READ,), ("*",))),
)


def client(listener: KafkaListener, mechanism: str, user: str = "shop", password: str = TOKEN) -> dict[str, Any]:
    return {
        "bootstrap.servers": listener.bootstrap_servers,
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": mechanism,
        "sasl.username": user,
        "sasl.password": password,
        "log_level": 0,
    }


@pytest.fixture
def tls(tmp_path: Path) -> TlsConfig:
    return certificates.make(tmp_path)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_principal_authenticates_and_has_its_rights(host: BrokerHost, admin: Admin, mechanism: str):
    for name in ("orders", "secrets"):
        admin.create_topic(name)
    with KafkaListener(host, port=0, access=ACCESS) as listener:
        shop = AdminClient(client(listener, mechanism))
        assert set(shop.list_topics(timeout=30).topics) == {"orders"}
        seen = (*listener.connections.views(), *listener.connections.gone())
        assert {view.principal for view in seen} - {""} == {"shop"}


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize(
    ("user", "password"),
    [("shop", "a wrong one that is long"), ("nobody", TOKEN), ("hidden", OTHER), ("", TOKEN), ("shop", "")],
)
def test_nobody_else_does(host: BrokerHost, mechanism: str, user: str, password: str):
    """A principal of which only a digest is known can be checked by PLAIN alone."""
    with KafkaListener(host, port=0, access=ACCESS) as listener:
        errors: list[KafkaError] = []
        try:
            stranger = AdminClient({**client(listener, mechanism, user, password), "error_cb": errors.append})
        except KafkaException:
            return  # the client itself refuses an empty name
        with pytest.raises(KafkaException):
            stranger.list_topics(timeout=1.5)
        stranger.poll(0.5)
        assert KafkaError._AUTHENTICATION in {error.code() for error in errors}
        assert "shop" not in {view.principal for view in listener.connections.views()}


def test_the_clients_in_python_authenticate_by_scram(host: BrokerHost, admin: Admin):
    admin.create_topic("orders")

    async def produced(servers: str) -> int:
        producer = AIOKafkaProducer(
            bootstrap_servers=servers,
            security_protocol="SASL_PLAINTEXT",
            sasl_mechanism="SCRAM-SHA-512",
            sasl_plain_username="shop",
            sasl_plain_password=TOKEN,
        )
        await producer.start()
        try:
            found = await producer.send_and_wait("orders", b"one")
        finally:
            await producer.stop()
        return int(found.offset)

    with KafkaListener(host, port=0, access=ACCESS) as listener:
        assert asyncio.run(produced(listener.bootstrap_servers)) == 0
        other = KafkaProducer(
            bootstrap_servers=listener.bootstrap_servers,
            security_protocol="SASL_PLAINTEXT",
            sasl_mechanism="SCRAM-SHA-256",
            sasl_plain_username="shop",
            sasl_plain_password=TOKEN,
        )
        assert other.send("orders", b"two").get(30).offset == 1
        other.close()


def test_clients_speak_tls(host: BrokerHost, admin: Admin, tls: TlsConfig):
    admin.create_topic("orders")
    with KafkaListener(host, port=0, tls=tls) as listener:
        settings = {
            "bootstrap.servers": listener.bootstrap_servers,
            "security.protocol": "SSL",
            "ssl.ca.location": str(tls.certificate),
            "log_level": 0,
        }
        found: list[int] = []
        producer = Producer(settings)
        producer.produce("orders", b"x" * 100_000, on_delivery=lambda _error, message: found.append(message.offset()))
        assert producer.flush(30) == 0
        assert found == [0]
        plain = AdminClient({"bootstrap.servers": listener.bootstrap_servers, "log_level": 0})
        with pytest.raises(KafkaException):
            plain.list_topics(timeout=1)

        async def produced() -> int:
            context = create_ssl_context(cafile=str(tls.certificate))
            second = AIOKafkaProducer(
                bootstrap_servers=listener.bootstrap_servers, security_protocol="SSL", ssl_context=context
            )
            await second.start()
            try:
                return int((await second.send_and_wait("orders", b"y")).offset)
            finally:
                await second.stop()

        assert asyncio.run(produced()) == 1


def test_tls_and_scram_together(host: BrokerHost, admin: Admin, tls: TlsConfig):
    admin.create_topic("orders")
    with KafkaListener(host, port=0, tls=tls, access=ACCESS) as listener:
        settings = {**client(listener, "SCRAM-SHA-256"), "security.protocol": "SASL_SSL"}
        settings["ssl.ca.location"] = str(tls.certificate)
        assert set(AdminClient(settings).list_topics(timeout=30).topics) == {"orders"}


def test_a_handshake_that_does_not_end_is_cut(host: BrokerHost, tls: TlsConfig):
    with (
        KafkaListener(host, port=0, tls=tls, limits=GuardConfig(header_timeout_ms=200)) as listener,
        socket.create_connection((listener.address, listener.port)) as silent,
    ):
        silent.settimeout(10)
        started_s = time.monotonic()
        assert silent.recv(1) == b""
        assert time.monotonic() - started_s < 10


def test_files_that_are_no_certificate_are_refused_in_one_sentence(host: BrokerHost, tls: TlsConfig, tmp_path: Path):
    for wrong in (
        TlsConfig(certificate=tmp_path / "missing.pem", key=tls.key),
        TlsConfig(certificate=tls.key, key=tls.key),
        TlsConfig(certificate=tls.certificate, key=tls.certificate),
    ):
        with pytest.raises(BrokerError, match="are not a certificate and key for TLS"):
            KafkaListener(host, port=0, tls=wrong)
    locked = tmp_path / "locked"
    locked.mkdir()
    with pytest.raises(BrokerError, match="the key has a password"):
        KafkaListener(host, port=0, tls=certificates.make(locked, b"secret"))
