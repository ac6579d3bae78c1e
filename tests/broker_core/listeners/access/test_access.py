"""Tokens and access rules (promise 22: other addresses need a token)."""

import hashlib

import pytest

from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.access.access import ANYBODY, Access, PrincipalEntry, Rule, is_loopback
from broker_core.operations.entry import Operation

FILE = """
[[principals]]
name = "shop"
token = "sixteen letters!"

[[principals]]
name = "auditor"
token_sha256 = "{digest}"

[[rules]]
principal = "shop"
operations = ["read", "write"]
topics = ["orders", "mail-*"]
groups = ["shop.*"]

[[rules]]
principal = "*"
operations = ["read"]
topics = ["*"]

[[rules]]
principal = "auditor"
operations = ["read", "write", "admin"]
topics = ["secret*"]
deny = true
"""


@pytest.fixture
def access(tmp_path):
    path = tmp_path / "access.toml"
    path.write_text(FILE.format(digest=hashlib.sha256(b"the auditor's token").hexdigest()))
    return Access.of_file(path)


def code_of(action):
    with pytest.raises(BrokerError) as caught:
        action()
    return caught.value.code


def test_without_principals_anybody_may_do_everything():
    access = Access()
    assert access.open
    assert access.principal(None) is ANYBODY
    assert access.allows(ANYBODY, Operation.ADMIN, "topic", "orders")
    assert access.allows(ANYBODY, Operation.READ, "broker")


def test_a_token_names_its_principal_and_any_other_is_refused(access):
    assert access.principal("sixteen letters!").name == "shop"
    assert access.principal("the auditor's token").name == "auditor"
    for wrong in (None, "", "sixteen letters", "sixteen letters!!", "\udcff", "x" * 100_000):
        assert code_of(lambda wrong=wrong: access.principal(wrong)) is ErrorCode.UNAUTHORIZED


def test_only_what_a_rule_allows_is_allowed_and_a_denial_wins(access):
    shop, auditor = access.principal("sixteen letters!"), access.principal("the auditor's token")
    table = [
        (shop, Operation.WRITE, "topic", "orders", True),
        (shop, Operation.WRITE, "topic", "mail-out", True),
        (shop, Operation.WRITE, "topic", "Orders", False),
        (shop, Operation.WRITE, "topic", "orders2", False),
        (shop, Operation.ADMIN, "topic", "orders", False),
        (shop, Operation.READ, "group", "shop.web", True),
        (shop, Operation.READ, "queue", "orders", False),
        (shop, Operation.READ, "broker", "", False),
        (auditor, Operation.READ, "topic", "orders", True),
        (auditor, Operation.READ, "topic", "secret-plans", False),
        (auditor, Operation.WRITE, "topic", "orders", False),
    ]
    for principal, operation, kind, name, allowed in table:
        assert access.allows(principal, operation, kind, name) is allowed, (principal, operation, kind, name)
    assert code_of(lambda: access.check(shop, Operation.ADMIN, "topic", "orders")) is ErrorCode.FORBIDDEN


def test_one_token_opens_everything():
    access = Access.of_token("a token of some length")
    assert access.allows(access.principal("a token of some length"), Operation.ADMIN, "broker")


@pytest.mark.parametrize(
    "text",
    [
        "principals = 3",
        "principals = []",
        '[[principals]]\nname = "a"\ntoken = "short"',
        '[[principals]]\nname = "a"',
        '[[principals]]\nname = "a"\ntoken_sha256 = "zz"',
        '[[principals]]\nname = "a"\ntoken = "long enough, really"\nsurprise = 1',
        '[[principals]]\nname = "a"\ntoken = "long enough, really"\n[[rules]]\nprincipal = "b"\noperations = ["read"]',
        "\x00",
    ],
)
def test_a_bad_access_file_is_refused_in_one_sentence(tmp_path, text):
    path = tmp_path / "access.toml"
    path.write_text(text)
    assert code_of(lambda: Access.of_file(path)) is ErrorCode.INVALID_CONFIG
    assert code_of(lambda: Access.of_file(tmp_path / "missing")) is ErrorCode.INVALID_CONFIG


def test_two_principals_of_one_name_and_rules_for_nobody_are_refused():
    twice = (PrincipalEntry("a", "0123456789abcdef"), PrincipalEntry("a", "fedcba9876543210"))
    assert code_of(lambda: Access(twice)) is ErrorCode.INVALID_CONFIG
    rule = Rule("b", (Operation.READ,), ("*",))
    assert code_of(lambda: Access(twice[:1], (rule,))) is ErrorCode.INVALID_CONFIG


@pytest.mark.promise("22")
def test_promise_22_an_address_that_others_reach_needs_a_token():
    for address in ("0.0.0.0", "", "192.168.1.5", "::", "example.org", "localhost.example.org", "127.0.0.1.evil.org"):
        assert not is_loopback(address)
        assert code_of(lambda address=address: Access().check_bind(address)) is ErrorCode.INVALID_CONFIG
        Access.of_token("a token of some length").check_bind(address)
    for address in ("127.0.0.1", "127.8.9.1", "::1", "[::1]", "localhost", "LOCALHOST"):
        Access().check_bind(address)
