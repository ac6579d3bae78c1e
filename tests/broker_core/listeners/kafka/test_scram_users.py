"""Users that Kafka's admin clients make: they authenticate by SCRAM, over a restart too."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import (
    AdminClient,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialDeletion,
    UserScramCredentialUpsertion,
)
from kafka.admin import KafkaAdminClient
from kafka.admin import ScramMechanism as PyScramMechanism
from kafka.admin import UserScramCredentialUpsertion as PyUpsertion
from kafka.errors import ClusterAuthorizationFailedError

from broker_core import Admin, BrokerHost
from broker_core.access import AccessTable
from broker_core.errors import BrokerError
from broker_core.listeners.access.access import Access, PrincipalEntry, Rule
from broker_core.listeners.kafka.listener import KafkaListener
from broker_core.listeners.kafka.sasl import Exchange
from broker_core.operations.entry import Operation
from tests.broker_core.listeners.kafka.raw import KEYS, asked
from tests.broker_core.listeners.kafka.test_scram_and_tls import client

BOSS = "the token of the boss"
ACCESS = Access(
    (PrincipalEntry("boss", BOSS),),
    (Rule("boss", tuple(Operation), ("*",), broker=True), Rule("*", (Operation.READ,), topics=("open",))),
)
PATIENCE_S = 30
SHA_256, SHA_512 = ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512


def boss_of(listener: KafkaListener) -> AdminClient:
    return AdminClient(client(listener, "SCRAM-SHA-256", "boss", BOSS))


def altered(boss: AdminClient, *changes: Any) -> None:
    for future in boss.alter_user_scram_credentials(list(changes)).values():
        future.result(PATIENCE_S)


def upsertion(user: str = "shop", password: bytes = b"a password", iterations: int = 4_096, mechanism: Any = SHA_256):
    return UserScramCredentialUpsertion(user, ScramCredentialInfo(mechanism, iterations), password)


def comes_in(listener: KafkaListener, password: str, mechanism: str = "SCRAM-SHA-256", user: str = "shop") -> bool:
    errors: list[int] = []
    shop = AdminClient(
        {**client(listener, mechanism, user, password), "error_cb": lambda error: errors.append(error.code())}
    )
    for _ in range(60):
        try:
            return set(shop.list_topics(timeout=0.5).topics) == {"open"}
        except KafkaException:
            shop.poll(0)
            if KafkaError._AUTHENTICATION in errors:
                return False
    raise AssertionError("neither let in nor refused")


def test_plain_says_that_users_need_scram_whoever_asks():
    for user in (b"shop", b"nobody"):
        with pytest.raises(
            BrokerError, match="not a token of this broker; users with a password of their own need SCRAM"
        ):
            Exchange(ACCESS, AccessTable(), "PLAIN").step(b"\0" + user + b"\0a password")


def test_a_user_comes_in_by_his_password_until_he_is_deleted(tmp_path: Path):
    with BrokerHost(tmp_path) as host, KafkaListener(host, port=0, access=ACCESS) as listener:
        for name in ("open", "secret"):
            Admin(host).create_topic(name)
        assert not comes_in(listener, "a password")
        altered(boss_of(listener), upsertion(), upsertion("shop", b"another", 8_192, SHA_512))
        assert comes_in(listener, "a password")
        assert not comes_in(listener, "another")
    assert b"a password" not in (tmp_path / "catalog.json").read_bytes()
    with BrokerHost(tmp_path) as host, KafkaListener(host, port=0, access=ACCESS) as listener:
        boss = boss_of(listener)
        assert comes_in(listener, "a password")
        assert comes_in(listener, "another", "SCRAM-SHA-512")
        described = boss.describe_user_scram_credentials(["shop"])["shop"].result(PATIENCE_S)
        found = {each.mechanism: each.iterations for each in described.scram_credential_infos}
        assert found == {SHA_256: 4_096, SHA_512: 8_192}
        told: list[str] = []
        host.events.attach(lambda event: told.append(event.cause))
        altered(boss, UserScramCredentialDeletion("shop", SHA_256))
        assert "deleted the SCRAM-SHA-256 credential of shop" in told
        assert not comes_in(listener, "a password")
        assert comes_in(listener, "another", "SCRAM-SHA-512")


@pytest.mark.parametrize(
    ("change", "code"),
    [
        pytest.param(lambda: upsertion(iterations=4_095), KafkaError.UNACCEPTABLE_CREDENTIAL, id="too few iterations"),
        pytest.param(lambda: upsertion(iterations=16_385), KafkaError.UNACCEPTABLE_CREDENTIAL, id="too many"),
        pytest.param(lambda: upsertion("boss"), KafkaError.UNACCEPTABLE_CREDENTIAL, id="a principal of the file"),
        pytest.param(lambda: UserScramCredentialDeletion("shop", SHA_256), KafkaError.RESOURCE_NOT_FOUND, id="nobody"),
    ],
)
def test_what_cannot_be_is_refused(change: Any, code: int):
    with BrokerHost() as host, KafkaListener(host, port=0, access=ACCESS) as listener:
        boss = boss_of(listener)
        with pytest.raises(KafkaException) as failed:
            altered(boss, change())
        assert failed.value.args[0].code() == code
        assert boss.describe_user_scram_credentials().result(PATIENCE_S) == {}


def test_all_of_a_user_is_changed_or_nothing():
    with BrokerHost() as host, KafkaListener(host, port=0) as listener:
        usual = {"name": "shop", "iterations": 4_096, "salt": b"salt", "salted_password": b"x" * 32}
        body = {"deletions": [], "upsertions": [{**usual, "mechanism": 1}, {**usual, "mechanism": 2}]}
        (answer,) = asked(listener.port, KEYS["AlterUserScramCredentials"], 0, body).results
        assert answer.error_code == 93  # 32 bytes are no SHA-512
        twice = {"deletions": [{"name": "shop", "mechanism": 1}], "upsertions": [{**usual, "mechanism": 1}]}
        (answer,) = asked(listener.port, KEYS["AlterUserScramCredentials"], 0, twice).results
        assert answer.error_code == 92
        assert host.broker.access.credentials.all == ()


def test_who_may_not_alter_the_cluster_alters_no_users():
    with BrokerHost() as host, KafkaListener(host, port=0, access=ACCESS) as listener:
        altered(boss_of(listener), upsertion())
        with pytest.raises(KafkaException) as failed:
            altered(AdminClient(client(listener, "SCRAM-SHA-256", "shop", "a password")), upsertion("mallory"))
        assert failed.value.args[0].code() == KafkaError.CLUSTER_AUTHORIZATION_FAILED
        other = KafkaAdminClient(  # librdkafka 2.16 aborts its process at this error
            bootstrap_servers=listener.bootstrap_servers,
            security_protocol="SASL_PLAINTEXT",
            sasl_mechanism="SCRAM-SHA-256",
            sasl_plain_username="shop",
            sasl_plain_password="a password",
        )
        with closing(other), pytest.raises(ClusterAuthorizationFailedError):
            other.describe_user_scram_credentials()


def test_kafka_python_makes_users():
    with (
        BrokerHost() as host,
        KafkaListener(host, port=0) as listener,
        closing(KafkaAdminClient(bootstrap_servers=listener.bootstrap_servers)) as boss,
    ):
        Admin(host).create_topic("open")
        boss.alter_user_scram_credentials([PyUpsertion("shop", PyScramMechanism.SCRAM_SHA_512, "a password")])
        assert [each.user.user for each in host.broker.access.credentials.all] == ["shop"]
        assert comes_in(listener, "a password", "SCRAM-SHA-512")
        assert not comes_in(listener, "a wrong one", "SCRAM-SHA-512")
