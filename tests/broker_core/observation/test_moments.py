from __future__ import annotations

from broker_core import BrokerHost
from broker_core.observation.moments import moved
from broker_core.snapshots import Snapshot
from tests.broker_core.observation.test_serve_peer import worked


def test_moments_are_moved_and_durations_are_not() -> None:
    with BrokerHost() as host:
        worked(host, 0)
        taken = host.call(host.broker.snapshot)
    later = moved(taken, 1_000)
    assert moved(later, -1_000) == taken
    assert later.groups[0].state_since_ns == taken.groups[0].state_since_ns + 1_000
    assert later.groups[0].offsets == taken.groups[0].offsets
    assert moved(Snapshot(5, 0), 2) == Snapshot(7, 0)
