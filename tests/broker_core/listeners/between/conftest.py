"""A broker of our own as the cluster, whose events are the truth, and ports that pass clients on to it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer

from broker_core.events import Event
from broker_core.groups.config import GroupConfig
from broker_core.listeners.between.peer import BetweenPeer
from broker_core.observation.kafka.config import connection_config
from broker_core.testing import EmbeddedBroker

PATIENCE_S = 30.0


class Watched:
    """A peer, and what it has told."""

    def __init__(self, peer: BetweenPeer) -> None:
        self.peer = peer
        self.told: list[str] = []
        self.events: list[Event] = []
        self.gaps: list[str] = []
        self.last = peer.open()

    def look(self) -> None:
        found = self.peer.look()
        if found is not None:
            self.events += found.events
            self.last = found.snapshot
            self.gaps += [found.gap] if found.gap else []

    def until(self, holds: Callable[[], object], what: str = "it") -> None:
        deadline_s = time.monotonic() + PATIENCE_S
        while not holds():
            assert time.monotonic() < deadline_s, f"{what} did not come; {self.events[-5:]} {self.told}"
            self.look()

    def of(self, *kinds: str) -> list[Event]:
        return [event for event in self.events if event.kind in kinds]


@pytest.fixture
def broker() -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker(groups=GroupConfig(initial_rebalance_delay_ms=50)) as made:
        yield made


@pytest.fixture
def between(broker: EmbeddedBroker) -> Iterator[Callable[..., Watched]]:
    made: list[Watched] = []

    def begin(**settings: Any) -> Watched:
        told: list[str] = []
        config = connection_config(broker.bootstrap_servers)
        peer = BetweenPeer(config, **{"port": 0, "every_s": 1.0, "told": told.append, **settings})
        made.append(Watched(peer))
        made[-1].told = told
        return made[-1]

    yield begin
    for each in made:
        each.peer.close()


@pytest.fixture
def watched(between: Callable[..., Watched]) -> Watched:
    return between()


@pytest.fixture
def clients(watched: Watched) -> Iterator[Callable[..., Any]]:
    """Makes clients of librdkafka that go through `watched`: `clients(Producer, "shop")`."""
    consumers: list[Consumer] = []

    def make(kind: type[Any], name: str, **more: Any) -> Any:
        settings = {"bootstrap.servers": watched.peer.bootstrap_servers, "client.id": name, "log_level": 0}
        if kind is Producer:
            return Producer({**settings, **more})
        usual: dict[str, Any] = {"group.id": "billing"}
        if kind is Consumer:
            usual |= {"auto.offset.reset": "earliest", "enable.auto.commit": False}
        consumers.append(kind({**settings, **usual, **more}))
        return consumers[-1]

    yield make
    for each in consumers:
        each.close()
