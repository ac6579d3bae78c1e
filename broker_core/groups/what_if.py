from __future__ import annotations

from broker_core.groups.assignors import Partitions, assign
from broker_core.groups.protocol import MemberSubscription
from broker_core.messages import TopicPartition
from broker_core.snapshots import GroupView


def would_own(
    group: GroupView, assignor: str, partitions: Partitions, *, without: str = "", joins: str = ""
) -> dict[TopicPartition, str]:
    """The client that would own each partition by an assignor, if the client `without` left and `joins` came."""
    clients, members = {}, {}
    for member in group.members:
        if member.client != without:
            clients[member.member_id] = member.client
            topics, owned = member.topics or group.topics, member.partitions
            members[member.member_id] = MemberSubscription(topics, owned=owned, generation=group.generation)
    if joins:
        topics = group.topics or tuple(sorted({at.topic for at in group.offsets}))
        # Members are ordered by their ids, and a newcomer's is its name with a number behind.
        newcomer = f"{joins}-~"
        clients[newcomer], members[newcomer] = joins, MemberSubscription(topics)
    plan = assign(assignor, members, partitions)
    return {place: clients[member_id] for member_id, places in plan.items() for place in places}
