"""A broker that is reached through a network that fails on demand."""

from __future__ import annotations

import time

from broker_core.clients.remote.broker import RemoteBroker
from broker_core.clients.remote.config import RemoteConfig
from broker_core.engine.host import BrokerHost
from broker_core.listeners.wire.listener import WireListener
from tests.broker_core.clients.remote.wobbly import WobblyNetwork


class Place:
    """A broker behind a network that fails on demand."""

    def __init__(self, host: BrokerHost, listener: WireListener, network: WobblyNetwork) -> None:
        self.host, self.listener, self.network = host, listener, network

    def remote(self, **config) -> RemoteBroker:
        settings = {"request_timeout_ms": 10_000, "reconnect_backoff_ms": 10, "reconnect_backoff_max_ms": 50, **config}
        return RemoteBroker(port=self.network.port, config=RemoteConfig(**settings))

    def stored(self, topic: str = "t") -> list[bytes | None]:
        log = self.host.broker.partition(topic, 0)
        return [message.value for message in self.host.call(lambda _now: log.read(0, max_messages=100_000))]


def until(true, within_s: float = 15) -> None:
    end_s = time.monotonic() + within_s
    while not true():
        assert time.monotonic() < end_s
        time.sleep(0.005)
