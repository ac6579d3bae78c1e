"""Joins, leaves, deaths and changes: what a group goes through, and what it says about it."""

import pytest

from broker_core.clock import NS_PER_S
from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import EventKind
from broker_core.groups import coordinator
from broker_core.groups.joining import JoinRequest
from broker_core.groups.members import JOINING, ConsumerHeartbeat
from broker_core.groups.protocol import encode_assignment
from tests.broker_core.groups.group_setup import GROUP, GroupSetup


def owners(setup: GroupSetup) -> dict[tuple[str, int], str]:
    view = setup.coordinator.view(setup.now_ns, GROUP)
    return {pair: member.client for member in view.members for pair in member.partitions}


def refused(call, *arguments) -> ErrorCode:
    with pytest.raises(BrokerError) as caught:
        call(*arguments)
    return caught.value.code


@pytest.mark.promise("A3")
def test_joins_within_the_initial_delay_are_one_rebalance():
    setup = GroupSetup()
    clients = [setup.member(f"indexer-{number}") for number in range(1, 4)]
    for client in clients:
        client.join()
        setup.run(0.9)
    assert setup.state == "Preparing rebalance"
    setup.run(5)
    assert setup.state == "Stable"
    assert [client.generation for client in clients] == [1, 1, 1]
    (only,) = setup.coordinator.history.views
    assert only.cause == "indexer-1 joined; indexer-2 joined; indexer-3 joined"
    assert (only.generation_before, only.generation_after, only.before) == (0, 1, ())
    assert len(only.after) == 6 and {client for _, _, client in only.after} == {c.client for c in clients}


def test_the_initial_delay_ends_at_the_rebalance_timeout_however_many_come():
    setup = GroupSetup()
    for number in range(8):
        setup.member(f"m{number}", rebalance_timeout_ms=3_000).join()
        setup.run(0.5)
    assert setup.coordinator.history.views[0].ended_ns == 3 * NS_PER_S
    assert setup.coordinator.history.views[1].cause == "m6 joined; m7 joined"


def test_a_newcomer_waits_until_everybody_has_rejoined():
    setup = GroupSetup()
    first, second = setup.group_of(2)
    third = setup.member("indexer-3")
    third.join()
    assert setup.state == "Preparing rebalance" and not third.settled
    first.heartbeat()
    assert first.errors == [ErrorCode.REBALANCE_IN_PROGRESS] and not third.settled
    second.heartbeat()
    assert setup.state == "Stable"
    assert sorted(first.owned + second.owned + third.owned) == [("commits", n) for n in range(6)]
    assert [c.generation for c in (first, second, third)] == [2, 2, 2]
    assert setup.coordinator.history.views[-1].cause == "indexer-3 joined"


@pytest.mark.promise("A3")
def test_what_was_owned_is_revoked_before_anything_is_assigned():
    setup = GroupSetup()
    first, second = setup.group_of(2)
    del setup.events[:]
    setup.member("indexer-3").join()
    assert [(event.kind, event.client) for event in setup.events] == [
        (EventKind.MEMBER_JOINED, "indexer-3"),
        (EventKind.REBALANCE_STARTED, ""),
        (EventKind.GROUP_STATE, ""),
        (EventKind.PARTITIONS_REVOKED, "indexer-1"),
        (EventKind.PARTITIONS_REVOKED, "indexer-2"),
    ]
    assert owners(setup) == {}
    first.heartbeat()
    second.heartbeat()
    kinds = [event.kind for event in setup.events[5:]]
    assert kinds == [
        EventKind.GROUP_STATE,
        EventKind.PARTITIONS_ASSIGNED,
        EventKind.PARTITIONS_ASSIGNED,
        EventKind.PARTITIONS_ASSIGNED,
        EventKind.GROUP_STATE,
        EventKind.REBALANCE_COMPLETED,
    ]
    done = setup.events[-1]
    assert done.generation == 2 and done.cause == "indexer-3 joined" and done.detail is not None
    assert len(done.detail["before"]) == 6 and len(done.detail["after"]) == 6
    assert done.detail["started_ns"] == setup.coordinator.history.views[-1].started_ns


def test_a_leave_is_a_rebalance_and_the_last_one_empties_the_group():
    setup = GroupSetup()
    first, second = setup.group_of(2)
    second.leave()
    first.heartbeat()
    assert setup.coordinator.history.views[-1].cause == "indexer-2 left"
    assert set(owners(setup).values()) == {"indexer-1"}
    first.leave("indexer-1 was dragged to the bench")
    last = setup.coordinator.history.views[-1]
    assert setup.state == "Empty" and owners(setup) == {}
    assert last.cause == "indexer-1 was dragged to the bench"
    assert last.after == () and last.ended_ns == setup.now_ns and last.generation_after == 3
    assert len(last.moved) == 6


@pytest.mark.promise("A4")
def test_a_silent_member_is_removed_at_its_session_timeout_and_not_before():
    setup = GroupSetup()
    first, second = setup.group_of(2)
    first.beat()
    start_ns = setup.now_ns
    second.heartbeat()
    setup.run(9.999)
    assert len(setup.coordinator.history.views) == 1
    setup.run(0.001)
    assert setup.coordinator.history.views[-1].started_ns == start_ns + 10 * NS_PER_S
    assert setup.coordinator.history.views[-1].cause == "indexer-2 missed its heartbeats for 10.0 s"
    setup.run(1)
    assert setup.state == "Stable" and set(owners(setup).values()) == {"indexer-1"}
    assert refused(setup.coordinator.heartbeat, setup.now_ns, GROUP, second.member_id, 1) is (
        ErrorCode.UNKNOWN_MEMBER_ID
    )


def test_heartbeats_cost_no_timer_each():
    setup = GroupSetup()
    (client,) = setup.group_of(1)
    before = len(setup.timers)
    for _ in range(1_000):
        client.heartbeat()
    assert len(setup.timers) == before
    setup.run(9)
    client.heartbeat()
    setup.run(9)
    assert setup.state == "Stable"


@pytest.mark.promise("A4")
def test_a_member_that_stops_polling_is_removed_although_it_heartbeats():
    setup = GroupSetup()
    (client,) = setup.group_of(1, max_poll_interval_ms=20_000)
    client.beat()
    setup.run(5)
    setup.coordinator.polled(setup.now_ns, GROUP, client.member_id)
    setup.run(19)
    assert len(setup.coordinator.history.views) == 1
    client.crash()
    setup.run(1)
    assert setup.coordinator.history.views[-1].cause == "indexer-1 did not poll for 20.0 s"


def test_who_does_not_rejoin_in_time_is_dropped_and_the_others_go_on():
    setup = GroupSetup()
    first, second = setup.group_of(2, rebalance_timeout_ms=5_000, session_timeout_ms=60_000)
    third = setup.member("indexer-3", rebalance_timeout_ms=5_000)
    third.join()
    first.heartbeat()
    setup.run(4.9)
    assert setup.state == "Preparing rebalance"
    setup.run(0.1)
    assert setup.state == "Stable"
    assert set(owners(setup).values()) == {"indexer-1", "indexer-3"}
    assert setup.coordinator.history.views[-1].cause == "indexer-3 joined; indexer-2 did not rejoin within 5.0 s"
    second.heartbeat()
    assert second.errors == [ErrorCode.UNKNOWN_MEMBER_ID]


def test_a_member_whose_join_is_parked_cannot_miss_its_heartbeats():
    setup = GroupSetup()
    first, second = setup.group_of(2)
    setup.member("indexer-3").join()
    first.heartbeat()
    for _ in range(5):  # the second one lives, but is too busy to rejoin
        setup.run(5)
        assert refused(setup.coordinator.heartbeat, setup.now_ns, GROUP, second.member_id, 1) is (
            ErrorCode.REBALANCE_IN_PROGRESS
        )
    assert setup.state == "Preparing rebalance" and not first.settled
    setup.run(5)
    assert set(owners(setup).values()) == {"indexer-1", "indexer-3"}
    assert first.errors == [ErrorCode.REBALANCE_IN_PROGRESS]


def test_a_leader_that_never_syncs_is_dropped_and_another_one_leads():
    setup = GroupSetup()
    first, second = (setup.member(name, rebalance_timeout_ms=5_000) for name in ("indexer-1", "indexer-2"))
    reply = first.raw_join()
    second.join()
    setup.run(3)
    assert reply.result().leader == reply.result().member_id and setup.state == "Completing rebalance"
    setup.run(5)
    assert setup.state == "Stable" and second.led == 1
    assert owners(setup) == {("commits", n): "indexer-2" for n in range(6)}
    assert "indexer-1 did not sync within 5.0 s" in setup.coordinator.history.views[-1].cause
    assert len(setup.coordinator.history.views) == 1


def test_a_follower_that_never_syncs_is_dropped_after_the_others_went_on():
    setup = GroupSetup()
    first, second = (setup.member(name, rebalance_timeout_ms=5_000) for name in ("indexer-1", "indexer-2"))
    first.beat()
    first.join()
    reply = second.raw_join()
    setup.run(2)
    assert setup.state == "Stable" and reply.done
    setup.run(6)
    assert setup.coordinator.history.views[-1].cause == "indexer-2 did not sync within 5.0 s"
    assert set(owners(setup).values()) == {"indexer-1"}


def test_a_late_sync_gets_its_assignment_at_once():
    setup = GroupSetup()
    first, second = setup.member("indexer-1"), setup.member("indexer-2")
    first.join()
    reply = second.raw_join()
    setup.run(2)
    second.member_id, second.generation = reply.result().member_id, reply.result().generation
    assert second.sync().result().assignment
    setup.run(9)
    assert setup.coordinator.view(setup.now_ns, GROUP).members[1].client == "indexer-2"


def test_a_join_while_the_leader_assigns_starts_over_within_the_same_rebalance():
    setup = GroupSetup()
    first, second = setup.member("indexer-1"), setup.member("indexer-2")
    first.alive = False  # its answer goes nowhere: nobody syncs
    reply = first.raw_join()
    setup.run(2)
    assert setup.state == "Completing rebalance"
    second.join()
    assert setup.state == "Preparing rebalance"
    first.alive, first.member_id = True, reply.result().member_id
    first.join()
    assert setup.state == "Stable"
    assert (first.generation, second.generation) == (2, 2)
    (only,) = setup.coordinator.history.views
    assert only.cause == "indexer-1 joined; indexer-2 joined" and only.generation_after == 2


@pytest.mark.promise("A3")
def test_a_changed_subscription_is_a_rebalance():
    setup = GroupSetup()
    first, second = setup.group_of(2)
    second.topics = ("commits", "issues")
    second.join()
    first.heartbeat()
    assert setup.coordinator.history.views[-1].cause == "indexer-2 changed its subscription"
    assert owners(setup)["issues", 0] == "indexer-2"
    assert setup.coordinator.view(setup.now_ns, GROUP).topics == ("commits", "issues")


def test_the_same_join_again_in_a_stable_group_changes_nothing_unless_the_leader_asks():
    setup = GroupSetup()
    first, second = setup.group_of(2)
    again = second.raw_join(protocols=[("range", world_metadata(setup))])
    assert again.result().generation == 1 and setup.state == "Stable"
    first.join()
    assert setup.state == "Preparing rebalance"
    assert setup.coordinator.history.views[-1].cause == "indexer-1 asked for a rebalance"


def world_metadata(setup: GroupSetup) -> bytes:
    """What a member of `group_of` sent first."""
    return setup.member("anybody").metadata()


@pytest.mark.promise("A3")
def test_more_partitions_rebalance_only_the_groups_that_want_them():
    setup = GroupSetup()
    (client,) = setup.group_of(1)
    setup.partitions["issues"] = 9
    setup.coordinator.topic_changed(setup.now_ns, "issues")
    assert setup.state == "Stable"
    setup.partitions["commits"] = 8
    setup.coordinator.topic_changed(setup.now_ns, "commits")
    client.heartbeat()
    assert len(client.owned) == 8
    assert setup.coordinator.history.views[-1].cause == "topic commits got more partitions"
    setup.coordinator.topic_changed(setup.now_ns, "commits")
    assert len(setup.coordinator.history.views) == 2


def test_a_deleted_topic_is_nobodys_and_its_offsets_are_forgotten():
    setup = GroupSetup()
    (client,) = setup.group_of(1)
    client.commit(5)
    del setup.partitions["commits"]
    setup.coordinator.topic_changed(setup.now_ns, "commits")
    client.heartbeat()
    assert client.owned == () and setup.coordinator.committed(GROUP, "commits", 0) is None
    assert setup.coordinator.history.views[-1].cause == "topic commits was deleted"
    setup.partitions["commits"] = 2
    setup.coordinator.topic_changed(setup.now_ns, "commits")
    client.heartbeat()
    assert setup.coordinator.history.views[-1].cause == "topic commits was created" and len(client.owned) == 2


def test_a_leader_that_gives_a_partition_twice_is_refused():
    setup = GroupSetup()
    first, second = setup.member("indexer-1"), setup.member("indexer-2")
    one, two = first.raw_join(), second.raw_join()
    setup.run(3)
    first.member_id, first.generation = one.result().member_id, one.result().generation
    same = encode_assignment([("commits", 3)])
    reply = first.sync({one.result().member_id: same, two.result().member_id: same})
    assert isinstance(reply.error, BrokerError) and reply.error.code is ErrorCode.INVALID_REQUEST
    assert str(reply.error) == (
        "This is not possible: the leader of group indexers gave commits-3 to both indexer-1-1 and indexer-2-2."
    )
    assert setup.state == "Completing rebalance" and owners(setup) == {}
    assert first.sync({one.result().member_id: same}).result().assignment == same


def test_bytes_of_other_protocol_types_pass_through_unread():
    setup = GroupSetup()
    client = setup.member("connect-1")
    reply = client.raw_join(protocol_type="connect", protocols=[("eager", b"\xff\x00?")])
    setup.run(3)
    result = reply.result()
    assert result.members == ((result.member_id, "", b"\xff\x00?"),)
    client.member_id, client.generation = result.member_id, 1
    assert client.sync({result.member_id: b"\x01opaque"}).result().assignment == b"\x01opaque"
    assert setup.state == "Stable" and owners(setup) == {}


def test_a_member_that_shares_no_assignor_is_refused():
    setup = GroupSetup()
    setup.group_of(1)
    odd = setup.member("odd", assignor="roundrobin")
    odd.join()
    assert odd.errors == [ErrorCode.INCONSISTENT_GROUP_PROTOCOL] and setup.state == "Stable"


def test_the_group_uses_the_assignor_that_all_have_and_most_prefer():
    setup = GroupSetup()
    for number, names in enumerate(
        [("sticky", "range", "roundrobin"), ("range", "roundrobin"), ("roundrobin", "range")]
    ):
        client = setup.member(f"m{number}")
        client.raw_join(protocols=[(name, client.metadata()) for name in names])
    setup.run(3)
    assert setup.coordinator.view(setup.now_ns, GROUP).assignor == "range"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"session_timeout_ms": 1}, ErrorCode.INVALID_SESSION_TIMEOUT),
        ({"session_timeout_ms": 2_000_000}, ErrorCode.INVALID_SESSION_TIMEOUT),
        ({"rebalance_timeout_ms": 0}, ErrorCode.INVALID_REQUEST),
        ({"protocols": []}, ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
        ({"protocol_type": ""}, ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
        ({"protocols": [("range", bytes(1_048_577))]}, ErrorCode.INVALID_REQUEST),
        ({"member_id": "never-seen-1"}, ErrorCode.UNKNOWN_MEMBER_ID),
    ],
)
def test_a_join_that_makes_no_sense_is_refused_and_leaves_no_group(change, code):
    setup = GroupSetup()
    error = setup.member("indexer-1").raw_join(**change).error
    assert isinstance(error, BrokerError) and error.code is code
    assert setup.coordinator.groups() == []


@pytest.mark.promise("38")
def test_promise_38_the_metadata_of_all_members_together_has_a_limit(monkeypatch: pytest.MonkeyPatch):
    setup = GroupSetup()
    setup.group_of(1)
    held = next(iter(setup.coordinator._groups.values())).members.values()
    monkeypatch.setattr(coordinator, "MAX_METADATA_BYTES", sum(member.metadata_bytes for member in held) + 100)

    def join(group: str, size_bytes: int) -> BrokerError | None:
        request = JoinRequest(
            client_id="c",
            session_timeout_ms=10_000,
            rebalance_timeout_ms=1,
            protocol_type="connect",
            protocols={"a": bytes(size_bytes)},
        )
        error = setup.coordinator.join(setup.now_ns, group, request).error
        assert error is None or isinstance(error, BrokerError)
        return error

    assert join("one", 60) is None
    refused = join("two", 60)
    assert refused is not None and refused.code is ErrorCode.GROUP_MAX_SIZE_REACHED
    assert "together" in str(refused)
    with pytest.raises(BrokerError):
        names = tuple(f"topic-{number}" for number in range(20))
        said = ConsumerHeartbeat(client_id="c", member_id="m", member_epoch=JOINING, topics=names)
        setup.coordinator.consumer_heartbeat(setup.now_ns, "three", said)
    setup.run(60)
    assert join("two", 60) is None, "who is gone is not counted"


def test_a_bad_group_name_and_a_full_group_are_refused():
    setup = GroupSetup(max_members=1)
    setup.group_of(1)
    extra = setup.member("indexer-2")
    extra.join()
    assert extra.errors == [ErrorCode.GROUP_MAX_SIZE_REACHED]
    reply = setup.coordinator.join(
        0,
        "../x",
        JoinRequest(
            client_id="c", session_timeout_ms=10_000, rebalance_timeout_ms=1, protocol_type="c", protocols={"a": b""}
        ),
    )
    assert isinstance(reply.error, BrokerError) and reply.error.code is ErrorCode.INVALID_GROUP_ID


def test_many_causes_are_counted_not_listed():
    setup = GroupSetup()
    for number in range(20):
        setup.member(f"m{number}").join()
    setup.run(3)
    cause = setup.coordinator.history.views[-1].cause
    assert cause.startswith("m0 joined; m1 joined") and cause.endswith("; and 12 more")


def test_the_history_is_bounded():
    setup = GroupSetup(rebalances_kept=3)
    (client,) = setup.group_of(1)
    for _ in range(5):
        client.join()
    assert len(setup.coordinator.history.views) == 3 and setup.coordinator.history.started == 6
    assert all(view.ended_ns is not None for view in setup.coordinator.history.views)
