"""Ten thousand members come and go in virtual time; the benchmarks measure what they cost."""

import random

import pytest

from broker_core.groups.assignors import assign
from broker_core.groups.protocol import MemberSubscription
from tests.broker_core.groups.group_setup import GroupSetup
from tests.broker_core.groups.ownership import Ownership


@pytest.mark.promise("14")
@pytest.mark.parametrize(
    ("count", "assignor"),
    [
        (300, "range"),
        (300, "sticky"),
        (1_000, "cooperative-sticky"),
        pytest.param(10_000, "cooperative-sticky", marks=pytest.mark.long),
        pytest.param(10_000, "range", marks=pytest.mark.soak),
    ],
)
def test_members_join_and_leave_in_waves_and_every_partition_always_finds_an_owner(count: int, assignor: str):
    setup = GroupSetup()
    setup.partitions["commits"] = count
    ownership = Ownership()
    setup.stream.attach(ownership)
    rng = random.Random(7)
    clients = [setup.member(f"m{number}", assignor=assignor, session_timeout_ms=30_000) for number in range(count)]
    for client in clients:
        client.beat(3_000).join()
        if client.client.endswith("0"):
            setup.run(0.01)
    setup.run(30)
    assert setup.state == "Stable" and len(ownership.owner) == count
    # Joins are coalesced: a handful of rebalances, not one for each member.
    assert len(setup.coordinator.history.views) <= 12
    rng.shuffle(clients)
    waves = [clients[first::5] for first in range(5)]
    for wave in waves[:-1]:
        for place, client in enumerate(wave):
            client.leave() if place % 2 else client.crash()
        setup.run(60)
        alive = [client for client in clients if client.alive]
        assert setup.state == "Stable"
        assert sorted(each for client in alive for each in client.owned) == [("commits", n) for n in range(count)]
    for client in waves[-1]:
        client.leave()
    assert setup.state == "Empty" and ownership.owner == {}


def test_a_sticky_plan_of_ten_thousand_partitions_gives_each_member_one():
    members = {f"m{number}": MemberSubscription(("commits",)) for number in range(10_000)}
    plan = assign("sticky", members, {"commits": 10_000})
    assert all(len(owned) == 1 for owned in plan.values())
