"""Promise 23: no name escapes its directory, or collides with another one on a file system that folds case."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.broker.broker import Broker
from broker_core.broker.group_offsets import Committer
from broker_core.errors import BrokerError, ErrorCode
from broker_core.names import check_name
from broker_core.queues.config import QueueConfig
from tests.broker_core.clients.virtual_broker import VirtualBroker

BAD = [
    "",
    ".",
    "..",
    "../x",
    "a/b",
    "a\\b",
    "/etc",
    "a b",
    "a\n",
    "a\0",
    "ä",
    "%2e%2e",
    "x" * 250,
    "a.",
    "CON",
    "nul.txt",
]
MAKE: dict[str, Callable[[Broker, str], object]] = {
    "topic": lambda broker, name: broker.topics.create(0, name, 1),
    "queue": lambda broker, name: broker.queues.create(0, name, QueueConfig()),
    "subscription": lambda broker, name: broker.queues.subscribe(0, name, "commits", QueueConfig()),
    "bin": lambda broker, name: broker.queues.create(0, "q", QueueConfig(dead_letter_topic=name or "/")),
}


@pytest.mark.promise("23")
@pytest.mark.parametrize("kind", MAKE)
@pytest.mark.parametrize("name", BAD)
def test_a_name_that_no_directory_may_have_is_refused_and_nothing_is_made(kind: str, name: str):
    virtual = VirtualBroker()
    before = (virtual.broker.topics.names(), virtual.broker.queues.names(), virtual.broker.catalog())
    with pytest.raises(BrokerError) as refused:
        MAKE[kind](virtual.broker, name)
    assert refused.value.code is ErrorCode.INVALID_TOPIC
    assert (virtual.broker.topics.names(), virtual.broker.queues.names(), virtual.broker.catalog()) == before


@pytest.mark.parametrize("name", BAD)
def test_a_group_with_such_a_name_is_refused(name: str):
    virtual = VirtualBroker()
    with pytest.raises(BrokerError) as refused:
        virtual.broker.offsets.commit(0, name, Committer.of("c"), {("commits", 0): 0})
    assert refused.value.code is ErrorCode.INVALID_GROUP_ID
    assert virtual.broker.groups.groups() == []


@pytest.mark.promise("23")
@pytest.mark.parametrize("kind", ["topic", "queue", "subscription"])
def test_names_that_differ_only_in_case_clash(kind: str):
    with pytest.raises(BrokerError) as clash:
        MAKE[kind](VirtualBroker().broker, "Commits")
    assert clash.value.code is ErrorCode.TOPIC_ALREADY_EXISTS


@given(st.text(max_size=260))
def test_what_is_allowed_is_one_plain_part_of_a_path(name: str):
    try:
        check_name(name)
    except BrokerError:
        return
    assert 1 <= len(name) <= 249
    assert name.isascii() and name.replace("-", "").replace("_", "").replace(".", "").isalnum() | (
        set(name) <= set("-_.")
    )
    assert name not in {".", ".."} and not name.endswith(".")
