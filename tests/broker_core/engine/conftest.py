"""A broker with two topics, in memory."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from broker_core import Admin, BrokerHost


@pytest.fixture
def host() -> Iterator[BrokerHost]:
    with BrokerHost() as opened:
        Admin(opened).create_topic("orders", partitions=3)
        Admin(opened).create_topic("bills", partitions=1)
        yield opened
