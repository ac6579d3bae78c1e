"""The two faces of a broker: a host in this process, and a remote broker over loopback to such a host."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pytest

from broker_core.clients.admin import Admin
from broker_core.clients.host import Host
from broker_core.clients.remote.broker import RemoteBroker
from broker_core.engine.host import BrokerHost
from broker_core.listeners.wire.listener import WireListener
from tests.broker_core.clients.remote.place import Place
from tests.broker_core.clients.remote.wobbly import WobblyNetwork


class Face(NamedTuple):
    """`clients` is what the clients under test are given; `host` is where it all ends up."""

    clients: Host
    host: BrokerHost

    def stored(self, topic: str, partition: int = 0) -> list[bytes | None]:
        """The values that the broker has."""
        return [message.value for message in self.host.call(lambda _now: self._read(topic, partition))]

    def _read(self, topic: str, partition: int):
        return self.host.broker.partition(topic, partition).read(0, max_messages=100_000, max_bytes=1 << 30)


@pytest.fixture(params=["host", "remote"])
def face(request: pytest.FixtureRequest) -> Iterator[Face]:
    with BrokerHost() as host:
        if request.param == "host":
            yield Face(host, host)
        else:
            with WireListener(host, port=0) as listener, RemoteBroker(port=listener.port, client="tests") as remote:
                yield Face(remote, host)


@pytest.fixture
def place() -> Iterator[Place]:
    with BrokerHost() as host, WireListener(host, port=0) as listener, WobblyNetwork(listener.port) as network:
        Admin(host).create_topic("t", 1)
        yield Place(host, listener, network)
