"""ACLs, quotas and users on the command line."""

from __future__ import annotations

from typing import Any

import pytest

from app.environment.exits import Exit
from tests.app.cli.conftest import Shell

ACL = ("--principal", "ann", "--operation", "read", "--kind", "topic", "--name", "orders", "--prefixed", "--deny")


def test_an_acl_is_created_listed_and_deleted(shell: Shell):
    in_file = len(shell.rows("acls", "list"))
    assert shell("acls", "create", *ACL) == "Created the ACL: ann may not read topics whose names begin with orders.\n"
    *_, row = shell.rows("acls", "list")
    assert row == {
        "principal": "ann", "permission": "deny", "operation": "read", "kind": "topic", "name": "orders",
        "prefixed": True,
    }  # fmt: skip
    assert shell("acls", "delete", *ACL).startswith("Deleted the ACL: ann may not read")
    assert len(shell.rows("acls", "list")) == in_file
    shell("acls", "delete", *ACL)
    assert shell.code == Exit.NOT_FOUND
    assert "brokerscope acls, quotas or users list says" in shell.error
    all_of_it = ("--principal", "ann", "--operation", "all", "--kind", "topic", "--name", "orders")
    shell("acls", "create", *all_of_it)
    assert ("lets everybody do everything" in shell.error) == shell.running
    shell("acls", "delete", *ACL)
    assert "ACLs of ann: ann may read, write and administer topic orders" in shell.error


def test_a_quota_is_set_listed_and_removed(shell: Shell):
    shell("quotas", "set", "--user", "*", "--client-id", "app", "--key", "producer_byte_rate", "--bytes-per-s", 1_000)
    told = shell("quotas", "set", "--user", "ann", "--key", "consumer_byte_rate", "--bytes-per-s", 2_000.5)
    assert told == "Set the consumer_byte_rate of user ann to 2000.5.\n"
    assert [tuple(row.values()) for row in shell.rows("quotas", "list")] == [
        ("*", "app", "producer_byte_rate", 1_000.0),
        ("ann", None, "consumer_byte_rate", 2_000.5),
    ]
    assert shell("quotas", "remove", "--user", "ann", "--key", "consumer_byte_rate").startswith("Removed the consumer")
    assert len(shell.rows("quotas", "list")) == 1


def test_a_user_is_set_by_a_password_that_nobody_sees(shell: Shell):
    assert (
        shell("users", "set", "ann", "--mechanism", "SCRAM-SHA-512", typed="secret\n") == "Set the password of ann.\n"
    )
    shell("users", "set", "ann", "--iterations", 8_192, typed="secret")
    assert shell.rows("users", "list") == [
        {"user": "ann", "mechanism": "SCRAM-SHA-512", "iterations": 4_096},
        {"user": "ann", "mechanism": "SCRAM-SHA-256", "iterations": 8_192},
    ]
    shell("users", "delete", "ann", "--mechanism", "SCRAM-SHA-512")
    assert [row["mechanism"] for row in shell.rows("users", "list")] == ["SCRAM-SHA-256"]
    assert shell("users", "delete", "ann") == "Deleted ann.\n"
    assert "There are no users" in shell("users", "list")


@pytest.mark.parametrize(
    ("words", "typed", "why"),
    [
        (("acls", "create", "--principal", "ann", "--operation", "read", "--kind", "topic"), None, "needs a name"),
        (("quotas", "set", "--key", "producer_byte_rate", "--bytes-per-s", "1"), None, "for a user, a client-id, or"),
        (("quotas", "remove", "--key", "producer_byte_rate", "--user", "ann"), None, "the producer_byte_rate of user"),
        (("users", "set", "ann"), "\n", "the password of ann is empty"),
        (("users", "delete", "ann"), None, "no such user"),
    ],
)
def test_what_cannot_be_is_one_sentence(shell: Shell, words: Any, typed: str | None, why: str):
    shell(*words, typed=typed)
    assert shell.code not in {0, 1}
    assert why in shell.error and len(shell.error.splitlines()) == 1
