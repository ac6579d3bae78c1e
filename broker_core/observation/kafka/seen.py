"""Topics, groups, nodes and places as brokers tell them, made of the rows of their answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeVar
from uuid import UUID

from broker_core.errors import BrokerError
from broker_core.groups.members import read_subscription
from broker_core.groups.protocol import decode_assignment
from broker_core.groups.states import GroupState
from broker_core.messages import TopicPartition
from broker_core.snapshots import CLASSIC, STREAMS, ShareGroupView, ShareMemberView

T = TypeVar("T")
CONSUMER = "consumer"
OK: Final = 0
STATES: Final = {
    "Stable": GroupState.STABLE,
    "PreparingRebalance": GroupState.PREPARING,
    "CompletingRebalance": GroupState.COMPLETING,
    "Assigning": GroupState.RECONCILING,
    "Reconciling": GroupState.RECONCILING,
    "NotReady": GroupState.PREPARING,
    "Empty": GroupState.EMPTY,
    "Dead": GroupState.DEAD,
}


class MemberSeen(NamedTuple):
    """A member of a group, with what it subscribes to and what it is assigned."""

    member_id: str
    client: str
    instance_id: str
    topics: tuple[str, ...]
    partitions: tuple[TopicPartition, ...]


class GroupSeen(NamedTuple):
    """A group as its coordinator describes it, its members by their ids: brokers tell them in any order.

    `generation` is None if no API tells it. `kind` is as in `GroupView.kind`.
    """

    state: GroupState
    generation: int | None
    assignor: str
    members: tuple[MemberSeen, ...]
    kind: str = ""


class TopicSeen(NamedTuple):
    """`topic_id` is None if the cluster has none."""

    partitions: int
    topic_id: UUID | None


class NodeSeen(NamedTuple):
    """A broker as the cluster names it; `disk` holds (bytes that are free, bytes in all), None if that is not known."""

    address: str
    rack: str
    disk: tuple[int, int] | None = None


class PlaceSeen(NamedTuple):
    """A partition: its leader, -1 for none, the epoch of that, its replicas and those in sync."""

    leader: int
    epoch: int
    replicas: tuple[int, ...]
    in_sync: tuple[int, ...]


def once(row: Any, make: Callable[[Any], T]) -> T:
    """`make(row)` for a row of a response, computed once: rows that `Question` reuses keep the result."""
    made: T | None = row.__dict__.get("made")
    if made is None:
        made = row.made = make(row)
    return made


def offset_rows(topic: Any) -> tuple[list[tuple[TopicPartition, tuple[int, int]]], set[int]]:
    """And the errors."""
    rows = [
        ((topic.name, each.partition_index), (each.offset, each.timestamp))
        for each in topic.partitions
        if not each.error_code
    ]
    return rows, {each.error_code for each in topic.partitions} - {OK}


def offsets_of(group: Any) -> tuple[dict[TopicPartition, int], set[tuple[int, str]]]:
    """And the errors, with the topic of each."""
    errors = {(each.error_code, topic.name) for topic in group.topics for each in topic.partitions if each.error_code}
    return {
        (topic.name, each.partition_index): each.committed_offset
        for topic in group.topics
        for each in topic.partitions
        if each.committed_offset >= 0 and not each.error_code
    }, errors


def topics_of(metadata: bytes) -> tuple[str, ...]:
    """The topics that a classic member subscribes to; () if it is no consumer."""
    return tuple(sorted(read_subscription(CONSUMER, metadata).topics))


def partitions_of(assignment: bytes) -> tuple[TopicPartition, ...]:
    """The partitions that a classic member is assigned; () if it is no consumer."""
    try:
        return tuple(sorted(decode_assignment(assignment).partitions))
    except BrokerError:
        return ()


def _group(each: Any, epoch: int | None, assignor: str, members: list[MemberSeen], kind: str) -> GroupSeen | None:
    """None for a state that no group here has."""
    state = STATES.get(each.group_state)
    return None if state is None else GroupSeen(state, epoch, assignor, tuple(sorted(members)), kind)


def classic(each: Any) -> GroupSeen | None:
    members = []
    for member in each.members:
        instance = getattr(member, "group_instance_id", None) or ""
        topics, partitions = topics_of(member.member_metadata), partitions_of(member.member_assignment)
        members.append(MemberSeen(member.member_id, member.client_id, instance, topics, partitions))
    return _group(each, None, each.protocol_data, members, CLASSIC)


def consumer(each: Any) -> GroupSeen | None:
    members = []
    for member in each.members:
        places = sorted((at.topic_name, part) for at in member.assignment.topic_partitions for part in at.partitions)
        # Of one that subscribes by a pattern, the topics that it was given.
        topics = tuple(sorted(member.subscribed_topic_names or {topic for topic, _ in places}))
        members.append(MemberSeen(member.member_id, member.client_id, member.instance_id or "", topics, tuple(places)))
    return _group(each, each.group_epoch, each.assignor_name, members, CONSUMER)


def streams(each: Any) -> GroupSeen | None:
    """A member has the partitions of the topics that its active tasks read."""
    reads = {
        sub.subtopology_id: (*sub.source_topics, *(topic.name for topic in sub.repartition_source_topics))
        for sub in (each.topology.subtopologies or () if each.topology else ())
    }
    topics = tuple(sorted({topic for names in reads.values() for topic in names}))
    members = []
    for member in each.members:
        tasks = [(task.subtopology_id, part) for task in member.assignment.active_tasks for part in task.partitions]
        places = sorted({(topic, part) for name, part in tasks for topic in reads.get(name, ())})
        members.append(MemberSeen(member.member_id, member.client_id, member.instance_id or "", topics, tuple(places)))
    assignor = f"{len(reads)} subtopologies" if len(reads) != 1 else "1 subtopology"
    return _group(each, each.group_epoch, assignor, members, STREAMS)


def share(each: Any) -> ShareGroupView:
    members = tuple(
        ShareMemberView(member.client_id, member.member_id, member.member_epoch, tuple(member.subscribed_topic_names))
        for member in each.members
    )
    return ShareGroupView(
        each.group_id, str(STATES.get(each.group_state, each.group_state)), each.group_epoch, members, ()
    )
