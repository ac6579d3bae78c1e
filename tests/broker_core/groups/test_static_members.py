"""Static members (KIP-345): a restart within the session is no rebalance, and only one may bear the name."""

import pytest

from broker_core.errors import BrokerError, ErrorCode
from broker_core.groups import group as group_module
from broker_core.groups.group import Group
from broker_core.groups.members import CONSUMER, Member
from tests.broker_core.groups.group_setup import GROUP, GroupSetup


def static_group(setup: GroupSetup, count: int = 2, **settings):
    clients = [setup.member(f"indexer-{n}", instance_id=f"rack-{n}", **settings) for n in range(1, count + 1)]
    for client in clients:
        client.join()
    setup.run(3)
    assert setup.state == "Stable"
    return clients


@pytest.mark.promise("A3")
def test_a_restarted_static_member_gets_its_partitions_back_without_a_rebalance():
    setup = GroupSetup()
    first, second = static_group(setup)
    second.crash()
    again = setup.member("indexer-2", instance_id="rack-2")
    again.join()
    assert setup.state == "Stable" and len(setup.coordinator.history.views) == 1
    assert again.owned == second.owned and again.generation == 1
    assert again.member_id != second.member_id
    view = setup.coordinator.view(setup.now_ns, GROUP)
    assert [(m.member_id, m.instance_id) for m in view.members] == [
        (first.member_id, "rack-1"),
        (again.member_id, "rack-2"),
    ]


def test_the_one_that_was_replaced_is_fenced_everywhere():
    setup = GroupSetup()
    _, second = static_group(setup)
    setup.member("indexer-2", instance_id="rack-2").join()
    for call in (
        lambda: setup.coordinator.heartbeat(setup.now_ns, GROUP, second.member_id, 1),
        lambda: second.commit(5),
        lambda: setup.coordinator.leave(setup.now_ns, GROUP, second.member_id),
        lambda: second.sync().result(),
        lambda: second.raw_join().result(),
        lambda: second.raw_join(instance_id="").result(),
    ):
        with pytest.raises(BrokerError) as caught:
            call()
        assert caught.value.code is ErrorCode.FENCED_INSTANCE_ID


def test_a_restarted_static_leader_still_leads():
    setup = GroupSetup()
    first, second = static_group(setup)
    again = setup.member("indexer-1", instance_id="rack-1")
    again.join()
    assert again.owned == first.owned and again.led == 1 and setup.state == "Stable"
    second.leave()
    again.heartbeat()
    assert again.led == 2 and len(again.owned) == 6


def test_a_restart_with_another_subscription_is_a_rebalance():
    setup = GroupSetup()
    first, _ = static_group(setup)
    again = setup.member("indexer-2", "issues", instance_id="rack-2")
    again.join()
    assert setup.coordinator.history.views[-1].cause == "indexer-2 changed its subscription"
    first.heartbeat()
    assert again.owned == (("issues", 0), ("issues", 1), ("issues", 2)) and len(first.owned) == 6


def test_a_pending_join_of_the_replaced_one_fails_and_the_new_one_takes_its_place():
    setup = GroupSetup()
    old = setup.member("indexer-1", instance_id="rack-1")
    reply = old.raw_join()
    new = setup.member("indexer-1", instance_id="rack-1")
    new.join()
    assert isinstance(reply.error, BrokerError) and reply.error.code is ErrorCode.FENCED_INSTANCE_ID
    setup.run(3)
    assert setup.state == "Stable" and len(new.owned) == 6
    assert len(setup.coordinator.view(setup.now_ns, GROUP).members) == 1


def test_a_restart_while_the_leader_assigns_starts_the_rebalance_over():
    setup = GroupSetup()
    first, second = (setup.member(f"i-{n}", instance_id=f"rack-{n}") for n in (1, 2))
    reply = first.raw_join()
    second.join()
    setup.run(3)
    assert setup.state == "Completing rebalance"
    again = setup.member("i-2", instance_id="rack-2")
    again.join()
    assert setup.state == "Preparing rebalance"
    first.member_id = reply.result().member_id
    first.join()
    assert setup.state == "Stable" and len(first.owned) == len(again.owned) == 3


def test_a_silent_static_member_is_waited_for_until_its_session_ends():
    setup = GroupSetup()
    first, second = static_group(setup, session_timeout_ms=60_000, rebalance_timeout_ms=5_000)
    first.beat()
    second.crash()
    third = setup.member("indexer-3", session_timeout_ms=60_000).beat()
    third.join()
    setup.run(35)
    assert setup.state == "Stable"
    names = [member.client for member in setup.coordinator.view(setup.now_ns, GROUP).members]
    assert names == ["indexer-1", "indexer-2", "indexer-3"]
    setup.run(30)
    names = [member.client for member in setup.coordinator.view(setup.now_ns, GROUP).members]
    assert names == ["indexer-1", "indexer-3"]
    assert setup.coordinator.history.views[-1].cause == "indexer-2 missed its heartbeats for 60.0 s"


def test_a_group_of_silent_static_members_only_is_emptied_by_their_sessions():
    setup = GroupSetup()
    first, _ = static_group(setup, session_timeout_ms=60_000, rebalance_timeout_ms=5_000)
    first.join()  # asks for a rebalance, then falls silent like the other
    setup.coordinator.leave(setup.now_ns, GROUP, first.member_id)
    setup.run(70)
    assert setup.state == "Empty"


def test_the_oldest_of_the_replaced_ids_is_forgotten_and_the_others_stay_fenced(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(group_module, "_FENCED_KEPT", 2)
    group = Group("readers")
    member = Member("id-0", "reader", "instance", 0)
    group.add(member, CONSUMER, {"range": b""})
    for number in range(1, 5):
        group.replace(member, f"id-{number}")
    for member_id, code in (
        ("id-1", "UNKNOWN_MEMBER_ID"),
        ("id-2", "FENCED_INSTANCE_ID"),
        ("id-3", "FENCED_INSTANCE_ID"),
    ):
        with pytest.raises(BrokerError) as refused:
            group.find(member_id)
        assert refused.value.code is ErrorCode[code]
