"""One look at a whole cluster: topics, groups, committed offsets, then ends."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Any, Final, NamedTuple, TypeVar
from uuid import UUID

import msgspec

from broker_core.errors import BrokerError
from broker_core.groups.protocol import decode_assignment, decode_subscription
from broker_core.groups.states import GroupState
from broker_core.messages import TopicPartition
from broker_core.observation.kafka.cluster import Call, Cluster
from broker_core.snapshots import ShareGroupView, ShareMemberView, ShareOffsetView

T = TypeVar("T")
CLASSIC, CONSUMER, SHARE = "classic", "consumer", "share"
LATEST, EARLIEST = -1, -2
_SELDOM_S: Final = 30.0  # earliest offsets and settings
_ASK_AGAIN_S: Final = 60.0  # what was denied
_MOST_PARTITIONS, _MOST_GROUPS = 1_000, 500  # in one request
_OK = 0
_GONE_MEANWHILE: Final = frozenset({3, 69, 100})  # a topic or a group that was there a moment ago
_DENIED: Final = {29: "topic", 30: "group", 31: "cluster"}
_STATES: Final = {
    "Stable": GroupState.STABLE,
    "PreparingRebalance": GroupState.PREPARING,
    "CompletingRebalance": GroupState.COMPLETING,
    "Assigning": GroupState.RECONCILING,
    "Reconciling": GroupState.RECONCILING,
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

    `generation` is None if no API tells it.
    """

    state: GroupState
    generation: int | None
    assignor: str
    members: tuple[MemberSeen, ...]


class TopicSeen(NamedTuple):
    """`topic_id` is None if the cluster has none."""

    partitions: int
    topic_id: UUID | None


class Sweep(msgspec.Struct):
    """The result of one poll; parts that could not be requested are missing, and `failures` says why, by request.

    `all_groups` is False if a broker has not told which groups it has. `compacted` is None if that was not asked.
    """

    topics: dict[str, TopicSeen] = msgspec.field(default_factory=dict)
    all_groups: bool = True
    listed: dict[str, str] = msgspec.field(default_factory=dict)  # group: kind
    groups: dict[str, GroupSeen] = msgspec.field(default_factory=dict)
    share_groups: dict[str, ShareGroupView] = msgspec.field(default_factory=dict)
    committed: dict[str, dict[TopicPartition, int]] = msgspec.field(default_factory=dict)
    ends: dict[TopicPartition, int] = msgspec.field(default_factory=dict)
    starts: dict[TopicPartition, int] = msgspec.field(default_factory=dict)
    compacted: dict[str, bool] = msgspec.field(default_factory=dict)
    failures: dict[str, str] = msgspec.field(default_factory=dict)


class Reader:
    """Looks at the topics and groups whose names match one of the patterns; without any, at all but internal topics."""

    def __init__(self, cluster: Cluster, topics: Sequence[str] = (), groups: Sequence[str] = ()) -> None:
        self._cluster = cluster
        self._topics, self._groups = tuple(topics), tuple(groups)
        self._denied_until: dict[tuple[str, str], float] = {}
        self._denials: dict[tuple[str, str], str] = {}
        self._seldom_at = 0.0
        self._configured: set[str] = set()
        self._leaders: dict[TopicPartition, int] = {}

    def sweep(self) -> Sweep:
        """Committed offsets are asked before ends, so that no lag is negative. Raises `BrokerError` where no broker
        answers.
        """
        found = Sweep()
        self._metadata(found)
        coordinators = self._list_groups(found)
        self._describe(found, coordinators)
        self._committed(found, coordinators)
        self._share_offsets(found, coordinators)
        found.ends = {place: offset for place, (offset, _) in self.offsets(self._at(LATEST), found.failures).items()}
        if time.monotonic() >= self._seldom_at:
            self._seldom_at = time.monotonic() + _SELDOM_S
            self._configured.clear()
            starts = self.offsets(self._at(EARLIEST), found.failures)
            found.starts = {place: offset for place, (offset, _) in starts.items()}
        self._settings(found)
        self._share_lags(found)
        for (api, name), sentence in self._denials.items():
            if time.monotonic() < self._denied_until[api, name]:
                found.failures.setdefault(f"{api} {name}", sentence)
        return found

    def offsets(
        self, wanted: Iterable[tuple[TopicPartition, int]], failures: dict[str, str] | None = None
    ) -> dict[TopicPartition, tuple[int, int]]:
        """ListOffsets of (partition, Unix time in ms, or LATEST, EARLIEST...): (offset, time of that record)."""
        by_leader: dict[int, list[tuple[TopicPartition, int]]] = {}
        for place, at in wanted:
            if (leader := self._leaders.get(place)) is not None and not self._is_denied("ListOffsets", place[0]):
                by_leader.setdefault(leader, []).append((place, at))
        calls = [
            Call(leader, "ListOffsets", {"replica_id": -1, "isolation_level": 0, "topics": _by_topic(part)})
            for leader, places in by_leader.items()
            for part in _parts(places, _MOST_PARTITIONS)
        ]
        found: dict[TopicPartition, tuple[int, int]] = {}
        said: dict[str, str] = {} if failures is None else failures
        for _call, answer in self._answers(calls, said):
            for topic in answer.topics:
                for each in topic.partitions:
                    if self._fine(each.error_code, "ListOffsets", topic.name, said):
                        found[topic.name, each.partition_index] = each.offset, each.timestamp
        return found

    # -- the parts of a sweep

    def _at(self, when: int) -> Iterator[tuple[TopicPartition, int]]:
        return ((place, when) for place in self._leaders)

    def _metadata(self, found: Sweep) -> None:
        answer = self._cluster.metadata()
        self._leaders = {}
        for topic in answer.topics:
            wanted = _matches(topic.name, self._topics) if self._topics else not getattr(topic, "is_internal", False)
            if not wanted or not self._fine(topic.error_code, "Metadata", topic.name, found.failures):
                continue
            topic_id = getattr(topic, "topic_id", None)
            found.topics[topic.name] = TopicSeen(len(topic.partitions), topic_id if topic_id and topic_id.int else None)
            for part in topic.partitions:
                if part.leader_id in self._cluster.nodes:
                    self._leaders[topic.name, part.partition_index] = part.leader_id
                else:
                    found.failures[f"leader {topic.name}"] = f"A partition of {topic.name} has no leader now."

    def _list_groups(self, found: Sweep) -> dict[str, int]:
        """The coordinator of each group: a broker lists those that it coordinates."""
        coordinators: dict[str, int] = {}
        answered = 0
        calls = [Call(node, "ListGroups", {"states_filter": (), "types_filter": ()}) for node in self._cluster.nodes]
        for call, answer in self._answers(calls, found.failures):
            if not self._fine(answer.error_code, "ListGroups", self._cluster.name, found.failures):
                continue
            answered += 1
            for each in answer.groups:
                kind = getattr(each, "group_type", "").lower() or (SHARE if each.protocol_type == SHARE else CLASSIC)
                if each.protocol_type in {"", CONSUMER, SHARE} and _matches(each.group_id, self._groups or ("*",)):
                    found.listed[each.group_id] = kind
                    coordinators[each.group_id] = call.node
        found.all_groups = answered == len(calls)
        return coordinators

    def _describe(self, found: Sweep, coordinators: dict[str, int]) -> None:
        for api, kind, field, take in (
            ("DescribeGroups", CLASSIC, "groups", _classic),
            ("ConsumerGroupDescribe", CONSUMER, "group_ids", _consumer),
            ("ShareGroupDescribe", SHARE, "group_ids", None),
        ):
            names = [name for name in coordinators if found.listed[name] == kind]
            for _call, answer in self._answers(self._by_coordinator(api, names, coordinators, field), found.failures):
                for each in answer.groups:
                    if not self._fine(each.error_code, api, each.group_id, found.failures):
                        continue
                    if take is None:
                        found.share_groups[each.group_id] = _share(each)
                    elif (group := take(each)) is not None:
                        found.groups[each.group_id] = group

    def _committed(self, found: Sweep, coordinators: dict[str, int]) -> None:
        api = "OffsetFetch"
        calls: list[Call] = []
        names = [name for name in coordinators if found.listed[name] in {CLASSIC, CONSUMER}]
        names = [name for name in names if not self._is_denied(api, name)]
        for node in set(coordinators.values()):
            here = [name for name in names if coordinators[name] == node]
            if self._cluster.has(node, api, 8):
                calls += (
                    Call(node, api, {"groups": [{"group_id": name, "topics": None} for name in part]})
                    for part in _parts(here, _MOST_GROUPS)
                )
            else:
                calls += (Call(node, api, {"group_id": name, "topics": None}) for name in here)
        for call, answer in self._answers(calls, found.failures):
            for group in getattr(answer, "groups", None) or (answer,):
                name = getattr(group, "group_id", None) or call.body["group_id"]
                if not self._fine(getattr(group, "error_code", _OK), api, name, found.failures):
                    continue
                found.committed[name] = {
                    (topic.name, each.partition_index): each.committed_offset
                    for topic in group.topics
                    if topic.name in found.topics
                    for each in topic.partitions
                    if each.committed_offset >= 0 and self._fine(each.error_code, api, topic.name, found.failures)
                }

    def _share_offsets(self, found: Sweep, coordinators: dict[str, int]) -> None:
        api = "DescribeShareGroupOffsets"
        names = [name for name in found.share_groups if not self._is_denied(api, name)]
        calls = [
            Call(node, api, {"groups": [{"group_id": name, "topics": None} for name in part]})
            for node in set(coordinators.values())
            for part in _parts([name for name in names if coordinators[name] == node], _MOST_GROUPS)
        ]
        for _call, answer in self._answers(calls, found.failures):
            for group in answer.groups:
                if self._fine(group.error_code, api, group.group_id, found.failures):
                    rows = tuple(
                        ShareOffsetView(
                            topic.topic_name, at.partition_index, at.start_offset, -1, 0, getattr(at, "lag", -1)
                        )
                        for topic in group.topics
                        for at in topic.partitions
                        if at.start_offset >= 0 and not at.error_code
                    )
                    view = found.share_groups[group.group_id]
                    found.share_groups[group.group_id] = msgspec.structs.replace(view, offsets=rows)

    def _share_lags(self, found: Sweep) -> None:
        """The ends, and, where an older broker does not tell the lag, what is not finished at most."""
        for name, view in found.share_groups.items():
            rows = []
            for at in view.offsets:
                end = found.ends.get((at.topic, at.partition))
                if end is not None:
                    lag = at.lag if at.lag >= 0 else max(0, end - at.start_offset)
                    rows.append(msgspec.structs.replace(at, end_offset=end, lag=lag))
            found.share_groups[name] = msgspec.structs.replace(view, offsets=tuple(rows))

    def _settings(self, found: Sweep) -> None:
        nodes = list(self._cluster.nodes)
        names = [name for name in found.topics if name not in self._configured]
        self._configured.update(names)
        names = [name for name in names if not self._is_denied("DescribeConfigs", name)]
        calls = [
            Call(
                nodes[number % len(nodes)],
                "DescribeConfigs",
                {
                    "resources": [
                        {"resource_type": 2, "resource_name": name, "configuration_keys": ("cleanup.policy",)}
                        for name in part
                    ]
                },
            )
            for number, part in enumerate(_parts(names, _MOST_PARTITIONS))
        ]
        for _call, answer in self._answers(calls, found.failures):
            for each in answer.results:
                if self._fine(each.error_code, "DescribeConfigs", each.resource_name, found.failures):
                    policy = next((one.value for one in each.configs if one.name == "cleanup.policy"), "") or ""
                    found.compacted[each.resource_name] = "compact" in policy

    # -- what can fail

    def _by_coordinator(self, api: str, names: list[str], coordinators: dict[str, int], field: str) -> list[Call]:
        names = [name for name in names if not self._is_denied(api, name)]
        return [
            Call(node, api, {field: part, "include_authorized_operations": False})
            for node in set(coordinators.values())
            for part in _parts([name for name in names if coordinators[name] == node], _MOST_GROUPS)
        ]

    def _answers(self, calls: Iterable[Call], failures: dict[str, str]) -> Iterator[tuple[Call, Any]]:
        for call, answer in self._cluster.ask(calls):
            if isinstance(answer, BrokerError):
                failures[f"{call.api} of broker {call.node}"] = f"{call.api} failed: {answer}"
            else:
                yield call, answer

    def _is_denied(self, api: str, name: str) -> bool:
        return time.monotonic() < self._denied_until.get((api, name), 0.0)

    def _fine(self, code: int, api: str, name: str, failures: dict[str, str]) -> bool:
        """Whether there is no error; one is noted, and what was denied is not asked again for a minute."""
        if code in _GONE_MEANWHILE or code == _OK:
            return code == _OK
        what = _DENIED.get(code)
        if what is not None:
            sentence = f"{api} of the {what} {name} is denied; the DESCRIBE permission is missing."
            self._denied_until[api, name] = time.monotonic() + _ASK_AGAIN_S
            self._denials[api, name] = sentence
        else:
            sentence = f"{api} of {name} failed with Kafka's error {code}."
        failures[f"{api} {name}"] = sentence
        return False


def _parts(items: Sequence[T], most: int) -> Iterator[Sequence[T]]:
    return (items[at : at + most] for at in range(0, len(items), most))


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _by_topic(places: Iterable[tuple[TopicPartition, int]]) -> list[dict[str, Any]]:
    rows: dict[str, list[dict[str, Any]]] = {}
    for (topic, partition), when in places:
        rows.setdefault(topic, []).append({"partition_index": partition, "current_leader_epoch": -1, "timestamp": when})
    return [{"name": topic, "partitions": parts} for topic, parts in rows.items()]


def _classic(each: Any) -> GroupSeen | None:
    state = _STATES.get(each.group_state)
    if state is None:
        return None
    members = []
    for member in each.members:
        try:
            topics = decode_subscription(member.member_metadata).topics if member.member_metadata else ()
            partitions = decode_assignment(member.member_assignment).partitions
        except BrokerError:  # of a client that is no consumer
            topics, partitions = (), ()
        instance = getattr(member, "group_instance_id", None) or ""
        members.append(
            MemberSeen(member.member_id, member.client_id, instance, tuple(sorted(topics)), tuple(sorted(partitions)))
        )
    return GroupSeen(state, None, each.protocol_data, tuple(sorted(members)))


def _consumer(each: Any) -> GroupSeen | None:
    state = _STATES.get(each.group_state)
    if state is None:
        return None
    members = []
    for member in each.members:
        places = sorted((at.topic_name, part) for at in member.assignment.topic_partitions for part in at.partitions)
        # Of one that subscribes by a pattern, the topics that it was given.
        topics = tuple(sorted(member.subscribed_topic_names or {topic for topic, _ in places}))
        members.append(MemberSeen(member.member_id, member.client_id, member.instance_id or "", topics, tuple(places)))
    return GroupSeen(state, each.group_epoch, each.assignor_name, tuple(sorted(members)))


def _share(each: Any) -> ShareGroupView:
    members = tuple(
        ShareMemberView(member.client_id, member.member_id, member.member_epoch, tuple(member.subscribed_topic_names))
        for member in each.members
    )
    return ShareGroupView(
        each.group_id, str(_STATES.get(each.group_state, each.group_state)), each.group_epoch, members, ()
    )
