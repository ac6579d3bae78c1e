"""An embedded broker as the cluster, and an observer that looks when it is told to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from broker_core.groups.config import GroupConfig
from broker_core.observation.kafka import pace
from broker_core.observation.kafka.config import connection_config
from broker_core.observation.kafka.peer import KafkaPeer
from broker_core.observation.peer import Look
from broker_core.testing import EmbeddedBroker


class Observer:
    """A peer and all that it has told: the keyframe, then a look whenever `look` is called."""

    def __init__(self, peer: KafkaPeer) -> None:
        self.peer = peer
        self.first = peer.open()
        self.looks: list[Look] = []

    def look(self) -> Look:
        found = None
        while found is None:
            found = self.peer.look()
        self.looks.append(found)
        return found

    @property
    def events(self) -> list[Any]:
        return [event for look in self.looks for event in look.events]


@pytest.fixture
def broker() -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker(groups=GroupConfig(initial_rebalance_delay_ms=50)) as made:
        yield made


@pytest.fixture
def observe(broker: EmbeddedBroker, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Observer]]:
    """Begins an observation; each look asks at once."""
    monkeypatch.setattr(pace, "MOST_SHARE", 1e9)
    monkeypatch.setattr(pace, "LONGEST_PERIODS", 1e9)
    made: list[KafkaPeer] = []

    def begin(**settings: Any) -> Observer:
        made.append(KafkaPeer(connection_config(broker.bootstrap_servers), **{"every_s": 0.0, **settings}))
        return Observer(made[-1])

    yield begin
    for each in made:
        each.close()
