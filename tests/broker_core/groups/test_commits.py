"""What groups commit, and what is seen and done with it."""

import pytest

from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import EventKind
from broker_core.messages import OffsetAndMetadata
from tests.broker_core.groups.group_setup import GROUP, GroupSetup


def refused(call, *arguments) -> ErrorCode:
    with pytest.raises(BrokerError) as caught:
        call(*arguments)
    return caught.value.code


@pytest.mark.promise("A5")
def test_commits_advance_and_never_go_back():
    setup = GroupSetup()
    (client,) = setup.group_of(1)
    assert client.commit(10) == [("commits", 0, None, 10)]
    assert client.commit(10) == [] and client.commit(4) == []
    assert client.commit(12) == [("commits", 0, 10, 12)]
    assert setup.coordinator.committed(GROUP, "commits", 0) == 12


def test_a_commit_is_taken_whole_or_not_at_all():
    setup = GroupSetup()
    (client,) = setup.group_of(1)

    def commit(bad):
        setup.coordinator.commit(0, GROUP, client.member_id, client.generation, {("commits", 1): 7, **bad})

    assert refused(commit, {("commits", 2): 1_001}) is ErrorCode.OFFSET_OUT_OF_RANGE
    assert refused(commit, {("commits", 2): -1}) is ErrorCode.OFFSET_OUT_OF_RANGE
    assert refused(commit, {("commits", 99): 1}) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    long = OffsetAndMetadata(1, "x" * 4_097)
    assert refused(commit, {("commits", 2): long}) is ErrorCode.OFFSET_METADATA_TOO_LARGE
    assert setup.coordinator.committed(GROUP, "commits", 1) is None


def test_metadata_and_leader_epoch_are_kept():
    setup = GroupSetup()
    (client,) = setup.group_of(1)
    kept = OffsetAndMetadata(3, "after the nightly run", 7)
    setup.coordinator.commit(0, GROUP, client.member_id, client.generation, {("commits", 1): kept})
    assert setup.coordinator.offsets.fetch(GROUP, "commits", 1) == kept


@pytest.mark.promise("A5")
def test_commits_of_an_old_generation_are_fenced():
    setup = GroupSetup()
    first, second = setup.group_of(2)
    second.leave()
    assert first.commit(5) == [("commits", 0, None, 5)]  # still its generation: the rebalance has only begun
    first.heartbeat()
    stale = first.generation - 1
    assert refused(setup.coordinator.commit, 0, GROUP, first.member_id, stale, {("commits", 0): 9}) is (
        ErrorCode.ILLEGAL_GENERATION
    )
    assert refused(setup.coordinator.commit, 0, GROUP, second.member_id, 1, {("commits", 0): 9}) is (
        ErrorCode.UNKNOWN_MEMBER_ID
    )
    assert setup.coordinator.committed(GROUP, "commits", 0) == 5


def test_an_admin_commits_only_while_the_group_is_empty():
    setup = GroupSetup()
    assert setup.coordinator.commit(0, GROUP, "", -1, {("commits", 0): 3}) == [("commits", 0, None, 3)]
    assert setup.state == "Empty"
    setup.group_of(1)
    assert refused(setup.coordinator.commit, 0, GROUP, "", -1, {("commits", 0): 4}) is ErrorCode.NON_EMPTY_GROUP


def test_only_an_empty_group_can_be_deleted():
    setup = GroupSetup()
    assert refused(setup.coordinator.delete, 0, GROUP) is ErrorCode.GROUP_ID_NOT_FOUND
    (client,) = setup.group_of(1)
    client.commit(5)
    assert refused(setup.coordinator.delete, 0, GROUP) is ErrorCode.NON_EMPTY_GROUP
    client.leave()
    setup.coordinator.delete(setup.now_ns, GROUP)
    assert setup.state == "Dead" and setup.coordinator.groups() == []
    assert setup.coordinator.committed(GROUP, "commits", 0) is None
    assert setup.events[-1].kind is EventKind.GROUP_STATE and setup.events[-1].cause == "Dead"


@pytest.mark.promise("A7")
def test_the_view_tells_lag_only_where_something_is_committed():
    setup = GroupSetup()
    first, second = setup.group_of(2)
    first.commit(990)
    view = setup.coordinator.view(setup.now_ns, GROUP)
    assert (view.state, view.generation, view.assignor, view.leader) == ("Stable", 1, "range", "indexer-1")
    assert [(each.partition, each.owner, each.committed, each.lag) for each in view.offsets[:2]] == [
        (0, "indexer-1", 990, 10),
        (1, "indexer-1", None, None),
    ]
    assert [member.partitions for member in view.members] == [first.owned, second.owned]
    assert setup.coordinator.views(setup.now_ns) == (view,)


def test_readers_are_the_groups_that_want_a_topic_or_have_committed_in_it():
    setup = GroupSetup()
    setup.coordinator.commit(0, "auditors", "", -1, {("issues", 0): 3})
    setup.group_of(1)
    assert setup.coordinator.readers("commits") == [GROUP]
    assert setup.coordinator.readers("issues") == ["auditors"]
    setup.coordinator.delete(0, "auditors")
    assert setup.coordinator.readers("issues") == []
