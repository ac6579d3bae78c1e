from __future__ import annotations

from collections.abc import Iterator

import pytest

from broker_core.engine.host import BrokerHost
from broker_core.listeners.wire.listener import WireListener


@pytest.fixture
def host() -> Iterator[BrokerHost]:
    with BrokerHost() as host:
        yield host


@pytest.fixture
def listener(host: BrokerHost) -> Iterator[WireListener]:
    with WireListener(host, port=0) as listener:
        yield listener
