"""Partition assignors. Pure functions whose results do not depend on the hash seed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Literal

from broker_core.errors import BrokerError, ErrorCode
from broker_core.groups.protocol import decode_members, encode_assignment
from broker_core.groups.sticky import Members, Partitions, Plan, assign_cooperative, assign_sticky

AssignorName = Literal["range", "roundrobin", "sticky", "cooperative-sticky"]


def assign(name: str, members: Members, partitions: Partitions) -> Plan:
    """The plan of the assignor `name`: a sorted list of (topic, partition) for each member id.

    `members` maps member ids to subscriptions, `partitions` topics to their number of partitions; topics that are not
    in `partitions` are skipped. Members are ordered by instance id, or else by member id. Raises `BrokerError`
    (INCONSISTENT_GROUP_PROTOCOL) for an unknown name.
    """
    name = SERVER_SIDE.get(name, name)
    assignor = ASSIGNORS.get(name)
    if assignor is None:
        raise BrokerError(
            ErrorCode.INCONSISTENT_GROUP_PROTOCOL,
            f"there is no assignor {name!r}; there are {', '.join(ASSIGNORS)}",
        )
    plan = assignor(in_order(members), partitions)
    for owned in plan.values():
        owned.sort()
    return plan


def lead(
    protocol: str, members: Iterable[tuple[str, str, bytes]], partitions_of: Callable[[str], int]
) -> dict[str, bytes]:
    """Assignment bytes by member id, which a leader sends in its sync; `members` is its `JoinResult.members`."""
    subscriptions = decode_members(members)
    topics = sorted({topic for subscription in subscriptions.values() for topic in subscription.topics})
    plan = assign(protocol, subscriptions, {topic: partitions_of(topic) for topic in topics})
    return {member_id: encode_assignment(owned) for member_id, owned in plan.items()}


def in_order(members: Members) -> Members:
    """`members` in the order of assignors, in which static members keep their position across restarts."""
    return dict(sorted(members.items(), key=lambda item: (item[1].instance_id or item[0], item[0])))


def assign_range(members: Members, partitions: Partitions) -> Plan:
    """For each topic a range of partitions for each member; the first members get one more where it does not divide."""
    plan: Plan = {member_id: [] for member_id in members}
    readers: dict[str, list[str]] = {}
    for member_id, subscription in members.items():
        for topic in dict.fromkeys(subscription.topics):
            readers.setdefault(topic, []).append(member_id)
    for topic in sorted(readers):
        each, more = divmod(partitions.get(topic, 0), len(readers[topic]))
        first = 0
        for place, member_id in enumerate(readers[topic]):
            last = first + each + (place < more)
            plan[member_id].extend((topic, partition) for partition in range(first, last))
            first = last
    return plan


def assign_round_robin(members: Members, partitions: Partitions) -> Plan:
    """All partitions of all topics in order, one for each subscriber in turn."""
    plan: Plan = {member_id: [] for member_id in members}
    wanted = {member_id: frozenset(subscription.topics) for member_id, subscription in members.items()}
    ids = list(members)
    turn = 0
    for topic in sorted(frozenset().union(*wanted.values())) if wanted else ():
        for partition in range(partitions.get(topic, 0)):
            while topic not in wanted[ids[turn % len(ids)]]:
                turn += 1
            plan[ids[turn % len(ids)]].append((topic, partition))
            turn += 1
    return plan


ASSIGNORS: Mapping[str, Callable[[Members, Partitions], Plan]] = {
    "range": assign_range,
    "roundrobin": assign_round_robin,
    "sticky": assign_sticky,
    "cooperative-sticky": assign_cooperative,
}
COOPERATIVE: frozenset[str] = frozenset({"cooperative-sticky"})  # members keep reading what does not move
#: Assignors of the consumer group protocol (KIP-848), by ours.
SERVER_SIDE: Mapping[str, str] = {"uniform": "sticky"}
