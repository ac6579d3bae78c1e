from __future__ import annotations

from collections.abc import Iterator

import pytest

from broker_core.engine.host import BrokerHost
from broker_core.listeners.wire.listener import WireDoor


@pytest.fixture
def host() -> Iterator[BrokerHost]:
    with BrokerHost() as host:
        yield host


@pytest.fixture
def door(host: BrokerHost) -> Iterator[WireDoor]:
    with WireDoor(host, port=0) as door:
        yield door
