"""ACLs that Kafka's admin clients make: enforced for Kafka and HTTP, over a restart, beside the access file."""

from __future__ import annotations

import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException, Producer
from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)
from kafka.admin import (
    ACL,
    ACLFilter,
    ACLOperation,
    ACLPermissionType,
    ACLResourcePatternType,
    KafkaAdminClient,
    ResourcePattern,
    ResourcePatternFilter,
)
from kafka.admin import ResourceType as PyResourceType
from kafka.errors import ClusterAuthorizationFailedError

from broker_core import Admin, BrokerHost
from broker_core.listeners.access.access import Access, PrincipalEntry, Rule
from broker_core.listeners.http.listener import HttpListener
from broker_core.listeners.kafka.listener import KafkaListener
from broker_core.operations.entry import Operation
from tests.broker_core.listeners.kafka.test_who_may_come_in import client

BOSS, SHOP = "the token of the boss", "the token of the shop"
ACCESS = Access(
    (PrincipalEntry("boss", BOSS), PrincipalEntry("shop", SHOP)),
    (Rule("boss", tuple(Operation), ("*",), broker=True), Rule("shop", (Operation.READ,), ("mail-*",))),
)
PATIENCE_S = 30
PY_EVERYTHING = ACLFilter(
    None,
    None,
    ACLOperation.ANY,
    ACLPermissionType.ANY,
    ResourcePatternFilter(PyResourceType.ANY, None, ACLResourcePatternType.ANY),
)


@contextmanager
def opened(path: Path | None = None) -> Iterator[tuple[BrokerHost, KafkaListener]]:
    with BrokerHost(path) as host, KafkaListener(host, port=0, access=ACCESS) as listener:
        yield host, listener


def binding(**changes: Any) -> AclBinding:
    usual = {
        "restype": ResourceType.TOPIC,
        "name": "orders",
        "resource_pattern_type": ResourcePatternType.LITERAL,
        "principal": "User:shop",
        "host": "*",
        "operation": AclOperation.WRITE,
        "permission_type": AclPermissionType.ALLOW,
    }
    return AclBinding(**{**usual, **changes})


def everything(**changes: Any) -> AclBindingFilter:
    usual = {
        "restype": ResourceType.ANY,
        "name": None,
        "resource_pattern_type": ResourcePatternType.ANY,
        "principal": None,
        "host": None,
        "operation": AclOperation.ANY,
        "permission_type": AclPermissionType.ANY,
    }
    return AclBindingFilter(**{**usual, **changes})


def created(boss: AdminClient, acl: AclBinding) -> None:
    (future,) = boss.create_acls([acl]).values()
    future.result(PATIENCE_S)


@contextmanager
def python_admin(listener: KafkaListener, token: str) -> Iterator[KafkaAdminClient]:
    made = KafkaAdminClient(
        bootstrap_servers=listener.bootstrap_servers,
        security_protocol="SASL_PLAINTEXT",
        sasl_mechanism="PLAIN",
        sasl_plain_username="anything",
        sasl_plain_password=token,
    )
    with closing(made):
        yield made


def deleted(boss: AdminClient, which: AclBindingFilter) -> list[AclBinding]:
    (future,) = boss.delete_acls([which]).values()
    return list(future.result(PATIENCE_S))


def written(listener: KafkaListener, topic: str = "orders") -> int | None:
    """What the shop's producer is told: an error code, or None."""
    told: list[KafkaError | None] = []
    producer = Producer({**client(listener, SHOP), "message.timeout.ms": PATIENCE_S * 1_000})
    producer.produce(topic, b"x", on_delivery=lambda error, _message: told.append(error))
    producer.flush(PATIENCE_S)
    (error,) = told
    return None if error is None else error.code()


def test_what_an_acl_allows_is_allowed_until_it_is_deleted(tmp_path: Path):
    with opened(tmp_path) as (host, listener):
        Admin(host).create_topic("orders")
        assert written(listener) == KafkaError.TOPIC_AUTHORIZATION_FAILED
        created(AdminClient(client(listener, BOSS)), binding())
        assert written(listener) is None
    with opened(tmp_path) as (host, listener):  # a restart keeps it
        told: list[str] = []
        host.events.attach(lambda event: told.append(event.cause))
        assert written(listener) is None
        assert deleted(AdminClient(client(listener, BOSS)), everything(name="orders")) == [binding()]
        assert [cause for cause in told if "ACL" in cause] == ["deleted the ACL: shop may write topic orders"]
        assert written(listener) == KafkaError.TOPIC_AUTHORIZATION_FAILED


def test_a_denial_wins_over_the_access_file_for_http_too():
    with opened() as (host, listener), HttpListener(host, port=0, access=ACCESS) as http:
        Admin(host).create_topic("mail-in")

        def status() -> int:
            request = urllib.request.Request(
                f"{http.url}/v1/topics/mail-in", headers={"Authorization": f"Bearer {SHOP}"}
            )
            try:
                with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
                    return int(answer.status)
            except urllib.error.HTTPError as error:
                return error.code

        assert status() == 200
        boss = AdminClient(client(listener, BOSS))
        created(
            boss,
            binding(
                name="mail-",
                resource_pattern_type=ResourcePatternType.PREFIXED,
                operation=AclOperation.ALL,
                permission_type=AclPermissionType.DENY,
            ),
        )
        assert status() == 403


def test_the_rules_of_the_access_file_are_described_and_not_deleted():
    with opened() as (_host, listener):
        boss = AdminClient(client(listener, BOSS))
        of_file = binding(name="mail-", resource_pattern_type=ResourcePatternType.PREFIXED, operation=AclOperation.READ)
        described = boss.describe_acls(everything(principal="User:shop")).result(PATIENCE_S)
        assert described == [of_file]
        all_of_boss = boss.describe_acls(everything(principal="User:boss")).result(PATIENCE_S)
        assert {(each.restype, each.name, each.operation) for each in all_of_boss} == {
            (ResourceType.TOPIC, "*", AclOperation.ALL),
            (ResourceType.BROKER, "kafka-cluster", AclOperation.ALL),
        }
        deleted(boss, everything(principal="User:shop"))
        assert boss.describe_acls(everything(principal="User:shop")).result(PATIENCE_S) == [of_file]


@pytest.mark.parametrize(
    ("which", "found"),
    [
        ({"name": "orders-eu", "resource_pattern_type": ResourcePatternType.MATCH}, {"orders-eu", "orders-", "*"}),
        ({"name": "orders-", "resource_pattern_type": ResourcePatternType.LITERAL}, set()),
        ({"resource_pattern_type": ResourcePatternType.PREFIXED}, {"orders-"}),
        ({"operation": AclOperation.READ}, {"orders-"}),
        ({"permission_type": AclPermissionType.DENY}, {"*"}),
        ({"restype": ResourceType.GROUP}, {"billing"}),
        ({"principal": "User:nobody"}, set()),
        ({"host": "10.0.0.1"}, set()),
    ],
)
def test_filters_find_as_in_kafka(which: dict[str, Any], found: set[str]):
    made = [
        binding(name="orders-eu"),
        binding(name="orders-", resource_pattern_type=ResourcePatternType.PREFIXED, operation=AclOperation.READ),
        binding(name="*", permission_type=AclPermissionType.DENY),
        binding(name="billing", restype=ResourceType.GROUP),
    ]
    with BrokerHost() as host, KafkaListener(host, port=0) as listener:
        boss = AdminClient({"bootstrap.servers": listener.bootstrap_servers, "log_level": 0})
        for acl in made:
            created(boss, acl)
            created(boss, acl)  # a second time changes nothing
        of_file = set(boss.describe_acls(everything(principal="User:*")).result(PATIENCE_S))
        described = boss.describe_acls(everything(**which)).result(PATIENCE_S)
        assert sorted(each.name for each in described if each not in of_file) == sorted(found)


@pytest.mark.parametrize(
    "wrong",
    [
        {"operation": AclOperation.DESCRIBE},
        {"operation": AclOperation.DELETE},
        {"host": "10.0.0.1"},
        {"principal": "Group:shop"},
        {"restype": ResourceType.BROKER, "name": "another-cluster"},
    ],
)
def test_what_no_rule_can_express_is_refused(wrong: dict[str, Any]):
    with opened() as (_host, listener):
        boss = AdminClient(client(listener, BOSS))
        with pytest.raises(KafkaException) as failed:
            created(boss, binding(**wrong))
        assert failed.value.args[0].code() == KafkaError.INVALID_REQUEST
        assert len(boss.describe_acls(everything(principal="User:shop")).result(PATIENCE_S)) == 1


def test_nobody_shuts_himself_out():
    with opened() as (_host, listener):
        boss = AdminClient(client(listener, BOSS))
        cluster = binding(
            restype=ResourceType.BROKER,
            name="kafka-cluster",
            principal="User:*",
            operation=AclOperation.ALL,
            permission_type=AclPermissionType.DENY,
        )
        with pytest.raises(KafkaException, match="could no longer change ACLs"):
            created(boss, cluster)
        created(boss, binding())  # and still may


def test_who_may_not_alter_the_cluster_alters_no_acls():
    with opened() as (_host, listener):
        shop = AdminClient(client(listener, SHOP))
        for asked in (lambda: created(shop, binding()), lambda: deleted(shop, everything())):
            with pytest.raises(KafkaException) as failed:
                asked()
            assert failed.value.args[0].code() == KafkaError.CLUSTER_AUTHORIZATION_FAILED
        with python_admin(listener, SHOP) as other, pytest.raises(ClusterAuthorizationFailedError):
            other.describe_acls(PY_EVERYTHING)  # librdkafka passes over the error


def test_kafka_python_creates_describes_and_deletes():
    with opened() as (_host, listener), python_admin(listener, BOSS) as boss:
        pattern = ResourcePattern(PyResourceType.TOPIC, "orders", ACLResourcePatternType.LITERAL)
        acl = ACL("User:shop", "*", ACLOperation.WRITE, ACLPermissionType.ALLOW, pattern)
        assert boss.create_acls([acl])["succeeded"] == [acl]
        assert acl in boss.describe_acls(PY_EVERYTHING)[0]
        which = ResourcePatternFilter(PyResourceType.TOPIC, "orders", ACLResourcePatternType.LITERAL)
        boss.delete_acls([ACLFilter("User:shop", "*", ACLOperation.WRITE, ACLPermissionType.ALLOW, which)])
        assert acl not in boss.describe_acls(PY_EVERYTHING)[0]
