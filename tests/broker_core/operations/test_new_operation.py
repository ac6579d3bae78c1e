"""A new operation is a request, its result, an entry and a handler; everything else follows from these."""

from __future__ import annotations

import json
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Any

import pytest
from msgspec import Meta

from broker_core import Access, Admin, BrokerError, BrokerHost, ErrorCode, PrincipalEntry, Rule
from broker_core.broker.broker import Broker
from broker_core.broker.handlers import HANDLERS
from broker_core.clients.http_broker import HttpBroker
from broker_core.listeners.http import catalogue_routes
from broker_core.listeners.http.listener import HttpListener
from broker_core.operations import catalogue
from broker_core.operations.entry import ADMIN, READ, Entry, Operation, Right
from broker_core.operations.fields import Name
from broker_core.operations.request import Request, Result
from broker_core.replies import Reply

# -- what a file of operations/ would hold


class LongNames(Result, frozen=True, kw_only=True):
    """Names above a length."""

    names: list[str]


class FindLongNames(Request[LongNames], frozen=True, kw_only=True):
    """How long is long."""

    topic: Name
    chars: Annotated[int, Meta(ge=1, le=249)] = 10


class AwaitPeace(Request[None], frozen=True, kw_only=True):
    """A topic that is quiet some day."""

    topic: Name


ENTRIES = (
    Entry(
        FindLongNames,
        "POST /v1/topics/{topic}/long-names",
        "Find topics with long names",
        "Topics",
        (Right(READ, "topic", "topic"),),
        details="Of those that begin so.",
    ),
    Entry(
        AwaitPeace,
        "POST /v1/topics/{topic}/peace",
        "Wait until nothing happens in a topic",
        "Topics",
        (Right(ADMIN, "topic", "topic"),),
        mode="parked",
    ),
)

# -- what a file of broker/handlers/ would hold


def _find(broker: Broker, _now_ns: int, request: FindLongNames, _client: str) -> LongNames:
    names = [name for name in broker.topics.names() if name.startswith(request.topic) and len(name) >= request.chars]
    if not names:
        raise BrokerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, request.topic)
    return LongNames(names=names)


@pytest.fixture
def parked(monkeypatch: pytest.MonkeyPatch) -> list[Reply[None]]:
    """The operations are in the catalogue; the replies that are waited for."""
    replies: list[Reply[None]] = []

    def wait(_broker: Broker, _now_ns: int, _request: AwaitPeace, _client: str) -> Reply[None]:
        replies.append(Reply())
        return replies[-1]

    monkeypatch.setattr(catalogue_routes, "CATALOGUE", (*catalogue.CATALOGUE, *ENTRIES))
    for entry, handler in zip(ENTRIES, (_find, wait), strict=True):
        monkeypatch.setitem(catalogue._BY_REQUEST, entry.request, entry)
        monkeypatch.setitem(HANDLERS, entry.request, handler)
    return replies


def test_it_is_answered_in_process_and_by_http_and_described(parked: list[Reply[None]]):
    with BrokerHost() as host, HttpListener(host) as listener, HttpBroker(listener.url) as elsewhere:
        for name in ("orders", "orders-of-yesterday"):
            Admin(host).create_topic(name)
        for ask in (host.ask, elsewhere.ask):
            assert ask(FindLongNames(topic="orders")).names == ["orders-of-yesterday"]
            assert ask(FindLongNames(topic="orders", chars=1)).names == ["orders", "orders-of-yesterday"]
            with pytest.raises(BrokerError, match="There is no such topic or partition: prices") as caught:
                ask(FindLongNames(topic="prices"))
            assert caught.value.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        with pytest.raises(BrokerError, match="chars in the body: expected a whole number of at most 249"):
            elsewhere.ask(FindLongNames(topic="orders", chars=250))
        with urllib.request.urlopen(f"{listener.url}/openapi.json") as response:
            document = json.load(response)
    described = document["paths"]["/v1/topics/{topic}/long-names"]["post"]
    assert described["operationId"] == "find_long_names"
    assert (described["summary"], described["description"]) == (
        "Find topics with long names",
        "Of those that begin so.",
    )
    assert set(document["components"]["schemas"]["FindLongNames"]["properties"]) == {"chars"}
    assert set(described["responses"]) == {"200", "401", "403", "404", "413", "415", "422", "429", "503"}


def test_it_needs_its_right(parked: list[Reply[None]]):
    reader = Rule("reader", (Operation.READ,), topics=("orders*",))
    access = Access((PrincipalEntry("reader", "correct-horse-battery"),), (reader,))
    with BrokerHost() as host, HttpListener(host, access=access) as listener:
        Admin(host).create_topic("orders")
        with HttpBroker(listener.url, token="correct-horse-battery") as elsewhere:
            assert elsewhere.ask(FindLongNames(topic="orders", chars=1)).names == ["orders"]
            requests: tuple[Request[Any], ...] = (FindLongNames(topic="prices"), AwaitPeace(topic="orders"))
            for request in requests:
                with pytest.raises(BrokerError, match="reader may not") as caught:
                    elsewhere.ask(request)
                assert caught.value.code is ErrorCode.FORBIDDEN


def test_one_that_waits_is_answered_when_its_reply_comes(parked: list[Reply[None]]):
    with BrokerHost() as host, HttpListener(host) as listener, HttpBroker(listener.url) as elsewhere:
        for ask in (host.ask, elsewhere.ask):
            with ThreadPoolExecutor(1) as threads:
                asked = threads.submit(ask, AwaitPeace(topic="orders"))
                while not parked:
                    assert not asked.done()
                host.call(lambda _now: parked.pop().resolve(None))
                assert asked.result(10) is None
