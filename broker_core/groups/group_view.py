"""The view of a group, a pure function of its state."""

from __future__ import annotations

from collections.abc import Callable

from broker_core.groups.commits import Commits
from broker_core.groups.group import Group
from broker_core.groups.offsets import OffsetStore
from broker_core.snapshots import GroupView


def view_of(
    now_ns: int, group: Group, offsets: OffsetStore, commits: Commits, partitions_of: Callable[[str], int]
) -> GroupView:
    """The view of `group` with its members, and its offsets in each subscribed or committed partition."""
    owners = {(topic, number): client for topic, number, client in group.owned()}
    wanted = {topic for member in group.members.values() for topic in member.subscription.topics}
    topics = sorted(wanted | {topic for topic, _ in offsets.fetch_all(group.name)})
    return GroupView(
        name=group.name,
        state=str(group.state),
        generation=group.generation,
        assignor=group.protocol,
        leader=group.members[group.leader].client if group.leader else "",
        topics=tuple(sorted(wanted)),
        members=tuple(member.view() for member in group.members.values()),
        offsets=tuple(
            commits.view(now_ns, group.name, topic, number, owners.get((topic, number), ""))
            for topic in topics
            for number in range(partitions_of(topic))
        ),
        state_since_ns=group.state_since_ns,
    )
