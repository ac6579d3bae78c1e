"""ACLs, quotas and users over HTTP: beside the access file, and not against it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from broker_core import BrokerHost
from broker_core.events import Event
from broker_core.listeners.access.access import Access, PrincipalEntry, Rule
from broker_core.listeners.kafka.listener import KafkaListener
from broker_core.operations.entry import Operation
from tests.broker_core.listeners.kafka.test_scram_users import comes_in

BOSS, SHOP = "the token of the boss", "the token of the shop"
ACCESS = Access(
    (PrincipalEntry("boss", BOSS), PrincipalEntry("shop", SHOP)),
    (Rule("boss", tuple(Operation), ("*",), broker=True), Rule("shop", (Operation.READ,), ("mail-*",), ("jobs",))),
)
OF_FILE = [
    {"principal": "boss", "operation": "all", "kind": "topic", "name": "*", "prefixed": False, "deny": False},
    {"principal": "boss", "operation": "all", "kind": "broker", "name": "", "prefixed": False, "deny": False},
    {"principal": "shop", "operation": "read", "kind": "topic", "name": "mail-", "prefixed": True, "deny": False},
    {"principal": "shop", "operation": "read", "kind": "queue", "name": "jobs", "prefixed": False, "deny": False},
]
ACL = {"principal": "shop", "operation": "write", "kind": "topic", "name": "orders", "prefixed": False, "deny": False}
NOBODY_RULES = {"principal": "*", "operation": "admin", "kind": "broker", "deny": True}


@pytest.fixture
def boss(opened: Any, connect: Any) -> Any:
    return connect(opened(access=ACCESS), token=BOSS)


def test_an_acl_holds_until_it_is_deleted(opened: Any, connect: Any):
    listener = opened(access=ACCESS)
    boss, shop = connect(listener, token=BOSS), connect(listener, token=SHOP)
    boss.done("POST", "/v1/topics", {"name": "orders"})
    message = {"messages": [{"value": "x"}]}
    assert shop.post("/v1/topics/orders/messages", message).status == 403
    boss.done("POST", "/v1/acls", {"acls": [ACL]})
    shop.done("POST", "/v1/topics/orders/messages", message)
    assert boss.done("GET", "/v1/acls") == [*OF_FILE, ACL]
    boss.done("POST", "/v1/acls/delete", {"acls": [ACL]})
    assert shop.post("/v1/topics/orders/messages", message).status == 403
    assert boss.post("/v1/acls/delete", {"acls": [ACL]}).status == 404


def test_nobody_shuts_himself_out(boss: Any):
    refused = boss.post("/v1/acls", {"acls": [ACL, NOBODY_RULES]})
    assert refused.status == 409
    assert "boss could no longer change ACLs" in refused.json["message"]
    assert boss.done("GET", "/v1/acls") == OF_FILE  # not even the other one was created


def test_the_last_acl_that_lets_one_rule_stays(opened: Any, connect: Any):
    rules = (Rule("boss", tuple(Operation), ("*",), broker=True),)
    listener = opened(access=Access((PrincipalEntry("boss", BOSS), PrincipalEntry("shop", SHOP)), rules))
    boss, shop = connect(listener, token=BOSS), connect(listener, token=SHOP)
    own = {"principal": "shop", "operation": "admin", "kind": "broker"}
    boss.done("POST", "/v1/acls", {"acls": [own]})
    assert "shop could no longer change ACLs" in shop.post("/v1/acls/delete", {"acls": [own]}).json["message"]
    boss.done("POST", "/v1/acls/delete", {"acls": [own]})  # another may


def test_what_stands_in_the_access_file_stays(boss: Any):
    refused = boss.post("/v1/acls/delete", {"acls": [OF_FILE[2]]})
    assert (refused.status, "is in the access file" in refused.json["message"]) == (409, True)
    refused = boss("PUT", "/v1/users/shop", {"password": "another"})
    assert (refused.status, "the token of shop is in the access file" in refused.json["message"]) == (409, True)
    assert boss.done("GET", "/v1/acls") == OF_FILE
    assert boss.done("GET", "/v1/users") == []


def test_a_user_with_a_password_comes_in_by_kafka_and_nothing_tells_the_password(
    tmp_path: Path, opened: Any, connect: Any
):
    events: list[Event] = []
    with BrokerHost(tmp_path) as host, KafkaListener(host, port=0, access=ACCESS) as kafka:
        host.events.attach(events.append)
        boss = connect(opened(host, access=ACCESS), token=BOSS)
        for name in ("open", "secret"):
            boss.done("POST", "/v1/topics", {"name": name})
        acl = {"principal": "*", "operation": "read", "kind": "topic", "name": "open"}
        boss.done("POST", "/v1/acls", {"acls": [acl]})
        boss.done("PUT", "/v1/users/ann", {"password": "a password", "mechanism": "SCRAM-SHA-512"})
        assert comes_in(kafka, "a password", "SCRAM-SHA-512", "ann")
        assert not comes_in(kafka, "a wrong one", "SCRAM-SHA-512", "ann")
        shown = {"user": "ann", "mechanism": "SCRAM-SHA-512", "iterations": 4_096}
        assert boss.done("GET", "/v1/users") == [shown]
        told = next(event for event in events if "credential" in event.cause)
        assert (told.cause, told.told["row"]) == ("set the SCRAM-SHA-512 credential of ann", shown)
        snapshot = boss.done("GET", "/v1/observe")["snapshot"]
        assert (snapshot["users"], snapshot["acls"][-1]["name"]) == ([shown], "open")
        assert snapshot["acls"] == boss.done("GET", "/v1/acls"), "with those of the file"
    stored = (tmp_path / "catalog.json").read_bytes()
    assert b"a password" not in stored and b"salted_password" not in stored


@pytest.mark.parametrize(
    ("method", "path", "body", "why"),
    [
        ("POST", "/v1/acls", {"acls": [{**ACL, "name": ""}]}, "needs a name"),
        ("POST", "/v1/acls", {"acls": [{**NOBODY_RULES, "name": "x"}]}, "has no name"),
        ("POST", "/v1/acls", {"acls": [{**ACL, "kind": "host"}]}, "one of"),
        ("POST", "/v1/acls", {"acls": []}, "length"),
        ("PUT", "/v1/quotas", {"key": "producer_byte_rate", "bytes_per_s": 5}, "for a user, a client-id, or both"),
        ("PUT", "/v1/quotas", {"key": "producer_byte_rate", "bytes_per_s": 0, "user": "ann"}, "of more than 0"),
        ("PUT", "/v1/quotas", {"key": "request_percentage", "bytes_per_s": 5, "user": "ann"}, "one of"),
        ("PUT", "/v1/users/ann", {}, "give a password, or"),
        ("PUT", "/v1/users/ann", {"salt": "c2FsdA==", "salted_password": "c2FsdA=="}, "is not one of SCRAM-SHA-256"),
        ("PUT", "/v1/users/ann", {"password": "x", "iterations": 5}, "4096"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(boss: Any, method: str, path: str, body: Any, why: str):
    refused = boss(method, path, body)
    assert refused.status == (409 if "is not one of" in why else 422)
    assert why in refused.json["message"]


def test_who_may_only_read_the_broker_changes_nothing(opened: Any, connect: Any):
    looks = Rule("shop", (Operation.READ,), broker=True)
    shop = connect(opened(access=Access((PrincipalEntry("shop", SHOP),), (looks,))), token=SHOP)
    assert shop.done("GET", "/v1/quotas") == shop.done("GET", "/v1/users") == []
    assert shop.post("/v1/acls", {"acls": [ACL]}).status == 403
    assert shop("PUT", "/v1/users/ann", {"password": "x"}).status == 403
    assert shop("DELETE", "/v1/quotas?key=producer_byte_rate&user=ann").status == 403
