from __future__ import annotations

from broker_core.groups.assignors import ASSIGNORS, assign
from broker_core.groups.protocol import MemberSubscription
from broker_core.snapshots import GroupView, Snapshot
from widgets.dialogs.assignors import AssignorPlan
from widgets.i18n import mark, tr

# What each assignor does, in words.
ABOUT: dict[str, str] = {
    "range": mark("A block of adjacent partitions for each member, topic by topic."),
    "roundrobin": mark("One to each in turn, over all topics."),
    "sticky": mark("Balanced, and keeps as many partitions as possible with their owners."),
    "cooperative-sticky": mark("Like sticky, but partitions that stay are still read during the rebalance."),
}


def group_of(snapshot: Snapshot, name: str) -> GroupView | None:
    return next((group for group in snapshot.groups if group.name == name), None)


def assignor_plans(
    snapshot: Snapshot, group: GroupView
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[AssignorPlan, ...]]:
    partitions = {topic.name: len(topic.partitions) for topic in snapshot.topics}
    read = sorted({topic for member in group.members for topic in member.topics} | set(group.topics))
    places = [(topic, number) for topic in read for number in range(partitions.get(topic, 0))]
    now = {place: member.client for member in group.members for place in member.partitions}
    clients = {member.member_id: member.client for member in group.members}
    members = {
        member.member_id: MemberSubscription(
            member.topics or group.topics, owned=member.partitions, generation=group.generation
        )
        for member in group.members
    }
    plans = []
    for name in ASSIGNORS:
        plan = assign(name, members, partitions)
        owners = {place: clients[member_id] for member_id, owned in plan.items() for place in owned}
        would = tuple(owners.get(place, "") for place in places)
        kept = sum(owner == now.get(place, "") for place, owner in zip(places, would, strict=True))
        current = group.assignor == name
        plans.append(AssignorPlan(name, would, len(places) - kept, kept, tr(ABOUT[name]), current))
    return (
        tuple(f"{topic}/{number}" for topic, number in places),
        tuple(now.get(place, "") for place in places),
        tuple(plans),
    )
