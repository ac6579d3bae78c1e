"""Cooperative rebalances (KIP-429): only what moves is revoked, in a first round; it is given away in a second."""

from broker_core.events import Event, EventKind
from tests.broker_core.groups.world import World


def partitions(event: Event) -> int:
    assert event.detail is not None
    return len(event.detail["partitions"])


def test_only_the_partitions_that_move_are_revoked():
    world = World()
    first, second = world.group_of(2, assignor="cooperative-sticky")
    assert len(first.owned) == len(second.owned) == 3
    before = {client: client.owned for client in (first, second)}
    del world.events[:]
    third = world.member("indexer-3", assignor="cooperative-sticky")
    third.join()
    assert world.kinds(EventKind.PARTITIONS_REVOKED) == []
    first.heartbeat()
    second.heartbeat()
    # First round: each gives one back and rejoins a little later, the newcomer has nothing yet.
    revoked = world.kinds(EventKind.PARTITIONS_REVOKED)
    assert [(event.client, partitions(event)) for event in revoked] == [
        ("indexer-1", 1),
        ("indexer-2", 1),
    ]
    assert third.owned == () and world.state == "Stable"
    world.run(0.01)
    assert world.state == "Preparing rebalance"
    third.heartbeat()
    assert world.state == "Stable"
    assert [len(client.owned) for client in (first, second, third)] == [2, 2, 2]
    assert set(first.owned) < set(before[first]) and set(second.owned) < set(before[second])
    gained = {(event.client, partitions(event)) for event in world.kinds(EventKind.PARTITIONS_ASSIGNED)}
    assert gained == {("indexer-3", 2)}
    causes = [view.cause for view in world.coordinator.rebalances]
    assert causes == [
        "indexer-1 joined; indexer-2 joined",
        "indexer-3 joined",
        "indexer-1 gave back 1 partition; indexer-2 gave back 1 partition",
    ]


def test_what_a_dead_member_owned_moves_in_one_round():
    world = World()
    first, second = world.group_of(2, assignor="cooperative-sticky")
    kept = first.owned
    second.leave()
    assert [event.client for event in world.kinds(EventKind.PARTITIONS_REVOKED)] == ["indexer-2"]
    first.heartbeat()
    assert world.state == "Stable" and len(first.owned) == 6 and set(kept) < set(first.owned)
    assert len(world.coordinator.rebalances) == 2


def test_a_sticky_group_keeps_what_it_had_although_it_revokes_everything():
    world = World()
    first, second = world.group_of(2, assignor="sticky")
    before = set(first.owned)
    third = world.member("indexer-3", assignor="sticky")
    third.join()
    assert len(world.kinds(EventKind.PARTITIONS_REVOKED)) == 2
    first.heartbeat()
    second.heartbeat()
    assert len(first.owned) == len(second.owned) == len(third.owned) == 2
    assert set(first.owned) < before
    assert len(world.coordinator.rebalances[-1].moved) == 2 and len(world.coordinator.rebalances[-1].kept) == 4
