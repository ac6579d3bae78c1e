"""A state that is folded through the events of transactions is the state that the broker has."""

import msgspec
import pytest

from broker_core.broker.group_offsets import Committer
from broker_core.recording.account import Account
from broker_core.snapshots import PartitionView, Snapshot
from broker_core.transactions.transaction import PendingOffset
from tests.broker_core.recording.folded import fold
from tests.broker_core.transactions.coordinator_setup import CoordinatorSetup


def snapshot(setup: CoordinatorSetup) -> Snapshot:
    state = setup.broker.snapshot(setup.now_ns, max_leases=9, max_dead_letters=9)
    return msgspec.structs.replace(state, events=len(setup.events), actors=(), rebalances=(), faults=())


def without_sizes(found: Snapshot) -> Snapshot:
    """The bytes of partitions are those of the keyframe; groups that are new come last."""
    topics = tuple(
        msgspec.structs.replace(
            topic,
            partitions=tuple(
                PartitionView(
                    each.partition, each.start_offset, each.end_offset, 0, each.lost, each.markers, each.transactions
                )
                for each in topic.partitions
            ),
        )
        for topic in found.topics
    )
    groups = tuple(sorted(found.groups, key=lambda group: group.name))
    return msgspec.structs.replace(found, topics=topics, groups=groups)


@pytest.mark.parametrize("commits", [True, False])
def test_a_keyframe_and_its_events_are_the_next_keyframe(commits):
    setup = CoordinatorSetup()
    keyframe = snapshot(setup)
    account = Account()
    seen = 0

    def check() -> None:
        nonlocal keyframe, seen
        after = snapshot(setup)
        events = setup.events[seen:]
        for event in events:
            account(event)
        published = setup.broker.logs.published_ns
        state = fold(
            keyframe, events, time_ns=setup.now_ns, published_before=lambda place, at, _time: published(*place, at)
        )
        folded = without_sizes(state)
        for name in Snapshot.__struct_fields__:
            assert getattr(folded, name) == getattr(without_sizes(after), name)
        there = {group.name: group.lag for group in after.groups}
        assert {row.reader: row.open for row in account.rows() if row.reader} == there
        keyframe, seen = after, len(setup.events)

    def commit(offset: int) -> None:
        fetched = setup.broker.fetches.fetch(
            setup.now_ns, "billing", "biller", {("orders", 0): position[0]}, max_messages=offset, deadline_ns=0
        ).result()
        position[0] = fetched[-1].offset + 1
        setup.broker.offsets.commit(setup.now_ns, "billing", Committer.of("biller"), {("orders", 0): position[0]})

    position = [0]
    setup.broker.delivery_record.begin("billing", "orders", 0, 0)
    identity = setup.init()
    setup.send(identity, 0, "a", "b", "c")
    setup.send(identity, 1, "d")
    check()
    commit(2)
    check()
    setup.run(5)
    setup.end(identity, commits=commits)
    check()
    commit(1)  # behind it there is a marker only
    (group,) = setup.broker.groups.views(setup.now_ns)
    offset = group.offsets[0]
    assert (offset.committed, offset.end_offset, offset.lag) == (3, 4, 0)
    check()
    setup.send(identity, 0, "e", "f")
    setup.transactions.add_group(setup.now_ns, "payments", identity, "audit")
    setup.transactions.put_offsets(
        setup.now_ns, "payments", identity, [PendingOffset("audit", "orders", 0, 5, member="audit-1")]
    )
    check()
    setup.end(identity, commits=commits)
    commit(1)
    check()
    setup.broker.cleaning.delete_records(setup.now_ns, "orders", 0, 5)
    check()
