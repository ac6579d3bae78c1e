"""Cooperative rebalances (KIP-429): only what moves is revoked, in a first round; it is given away in a second."""

import pytest

from broker_core.events import Event, EventKind
from broker_core.groups.protocol import encode_assignment
from tests.broker_core.groups.group_setup import GroupSetup


def partitions(event: Event) -> int:
    assert event.detail is not None
    return len(event.detail["partitions"])


@pytest.mark.promise("A2")
def test_only_the_partitions_that_move_are_revoked():
    setup = GroupSetup()
    first, second = setup.group_of(2, assignor="cooperative-sticky")
    assert len(first.owned) == len(second.owned) == 3
    before = {client: client.owned for client in (first, second)}
    del setup.events[:]
    third = setup.member("indexer-3", assignor="cooperative-sticky")
    third.join()
    assert setup.kinds(EventKind.PARTITIONS_REVOKED) == []
    first.heartbeat()
    second.heartbeat()
    # First round: each gives one back and rejoins a little later, the newcomer has nothing yet.
    revoked = setup.kinds(EventKind.PARTITIONS_REVOKED)
    assert [(event.client, partitions(event)) for event in revoked] == [("indexer-1", 1), ("indexer-2", 1)]
    assert third.owned == () and setup.state == "Stable"
    setup.run(0.01)
    assert setup.state == "Preparing rebalance"
    third.heartbeat()
    assert setup.state == "Stable"
    assert [len(client.owned) for client in (first, second, third)] == [2, 2, 2]
    assert set(first.owned) < set(before[first]) and set(second.owned) < set(before[second])
    gained = {(event.client, partitions(event)) for event in setup.kinds(EventKind.PARTITIONS_ASSIGNED)}
    assert gained == {("indexer-3", 2)}
    causes = [view.cause for view in setup.coordinator.history.views]
    assert causes == [
        "indexer-1 joined; indexer-2 joined",
        "indexer-3 joined",
        "indexer-1 gave back 1 partition; indexer-2 gave back 1 partition",
    ]


def test_what_a_dead_member_owned_moves_in_one_round():
    setup = GroupSetup()
    first, second = setup.group_of(2, assignor="cooperative-sticky")
    kept = first.owned
    second.leave()
    assert [event.client for event in setup.kinds(EventKind.PARTITIONS_REVOKED)] == ["indexer-2"]
    first.heartbeat()
    assert setup.state == "Stable" and len(first.owned) == 6 and set(kept) < set(first.owned)
    assert len(setup.coordinator.history.views) == 2


def test_a_sticky_group_keeps_what_it_had_although_it_revokes_everything():
    setup = GroupSetup()
    first, second = setup.group_of(2, assignor="sticky")
    before = set(first.owned)
    third = setup.member("indexer-3", assignor="sticky")
    third.join()
    assert len(setup.kinds(EventKind.PARTITIONS_REVOKED)) == 2
    first.heartbeat()
    second.heartbeat()
    assert len(first.owned) == len(second.owned) == len(third.owned) == 2
    assert set(first.owned) < before
    assert len(setup.coordinator.history.views[-1].moved) == 2 and len(setup.coordinator.history.views[-1].kept) == 4


@pytest.mark.parametrize("places", [(1, 2, 3, 0), (3, 0, 1, 2), (1, 0, 3, 2)], ids=str)
def test_promise_14_everybody_has_revoked_before_anything_is_assigned(places: tuple[int, ...]):
    """A leader's own plan hands everything round in one generation, which no assignor of ours does."""
    setup = GroupSetup()
    members = setup.group_of(4, assignor="cooperative-sticky")
    before = {client.member_id: client.owned for client in members}
    assert all(before.values())
    owned = list(before.values())
    plan = {client.member_id: owned[place] for client, place in zip(members, places, strict=True)}
    del setup.events[:]
    joined = [client.raw_join() for client in members]  # the leader first: that begins a rebalance
    leader = members[0].member_id
    assert all(reply.result().leader == leader for reply in joined)
    for client, reply in zip(members, joined, strict=True):
        client.generation = reply.result().generation
    encoded = {member_id: encode_assignment(given) for member_id, given in plan.items()}
    for client in sorted(members, key=lambda each: each.member_id == leader):  # the leader speaks last
        client.sync(encoded if client.member_id == leader else None)
    changes = setup.kinds(EventKind.PARTITIONS_REVOKED, EventKind.PARTITIONS_ASSIGNED)
    kinds = [event.kind for event in changes]
    assert kinds == [EventKind.PARTITIONS_REVOKED] * 4 + [EventKind.PARTITIONS_ASSIGNED] * 4
    owners = {client.client: set(before[client.member_id]) for client in members}
    for event in changes:
        assert event.detail is not None
        moved = {(topic, partition) for topic, partition in event.detail["partitions"]}
        if event.kind is EventKind.PARTITIONS_REVOKED:
            assert moved <= owners[event.client]
            owners[event.client] -= moved
        else:
            assert not any(moved & theirs for theirs in owners.values()), "two have it at once"
            owners[event.client] |= moved
    assert owners == {client.client: set(plan[client.member_id]) for client in members}
