"""What every listener does: open and close, alone or with its host, and let in no more than it may."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from typing import Any

import pytest

from broker_core import BrokerHost
from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.access.access import Access
from broker_core.listeners.access.limits import GuardConfig
from broker_core.listeners.http.listener import HttpListener
from broker_core.listeners.kafka.listener import KafkaListener

both = pytest.mark.parametrize("kind", [HttpListener, KafkaListener])
Kind = Callable[..., Any]


def connected(listener: Any) -> socket.socket:
    return socket.create_connection(("127.0.0.1", listener.port), timeout=10)


@both
def test_where_nothing_can_listen_is_a_sentence(kind: Kind):
    with BrokerHost() as host, kind(host, port=0) as listener:
        for bad in (
            {"port": listener.port},
            {"port": 70_000},
            {"port": 0, "address": "192.0.2.1", "access": Access.of_token("x" * 20)},
        ):
            with pytest.raises(BrokerError) as refused:
                kind(host, **bad).start()
            assert refused.value.code is ErrorCode.INVALID_CONFIG
        with pytest.raises(BrokerError, match=rf"port {listener.port} \(Address already in use\); choose another port"):
            kind(host, port=listener.port).start()


@both
def test_other_machines_need_a_token(kind: Kind):
    with BrokerHost() as host, pytest.raises(BrokerError, match="a token is needed"):
        kind(host, address="0.0.0.0", port=0)


@both
def test_a_listener_is_opened_once_and_closed_as_often_as_one_likes(kind: Kind):
    with BrokerHost() as host:
        threads = threading.active_count()
        with kind(host, port=0).start() as listener:
            with pytest.raises(BrokerError, match="opened only once"):
                listener.start()
            connected(listener).close()
            assert listener.is_open
        listener.close()
        assert not listener.is_open
        assert threading.active_count() == threads
        with pytest.raises(ConnectionRefusedError):
            connected(listener)
        kind(host, port=0).close()


@both
def test_a_host_that_closes_closes_its_listeners_first(kind: Kind):
    host = BrokerHost()
    listener = kind(host, port=0).start()
    with connected(listener) as client:
        host.close()
        assert not listener.is_open
        assert client.recv(1) == b""


@both
def test_one_connection_too_many_is_told_so_and_the_others_stay(kind: Kind):
    limits = GuardConfig(max_connections=2)
    with BrokerHost() as host, kind(host, port=0, limits=limits) as listener:
        with connected(listener) as first, connected(listener) as second, connected(listener) as third:
            told = b""
            while data := third.recv(1_000):
                told += data
            assert (b"503" in told) is (kind is HttpListener), "Kafka's protocol has no words for it"
            for each in (first, second):
                each.settimeout(0.05)
                with pytest.raises(TimeoutError):
                    each.recv(1)
