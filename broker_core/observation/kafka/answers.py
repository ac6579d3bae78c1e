"""Requests that are answered from what was seen last."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from broker_core.errors import BrokerError, ErrorCode
from broker_core.operations.browse import ListLogs, LogName, LogNames
from broker_core.operations.groups import (
    DescribeGroup,
    DescribeShareGroup,
    GroupsAnswer,
    ListGroups,
    ListMembers,
    ListOffsets,
    ListShareGroups,
    MembersAnswer,
    OffsetsAnswer,
    ShareGroupsAnswer,
)
from broker_core.operations.topics import DescribeTopic, ListTopics, TopicsAnswer
from broker_core.snapshots import ShareGroupView, Snapshot

WHY_NOT: Final = "A Kafka cluster is only observed: nothing in it is changed, and not all of it is known from outside."
_Shares = Mapping[str, ShareGroupView]


def answer(request: Any, seen: Snapshot, shares: _Shares) -> Any:
    """Raises UNKNOWN_TOPIC_OR_PARTITION, GROUP_ID_NOT_FOUND, READ_ONLY."""
    found = ANSWERED.get(type(request))
    if found is None:
        raise BrokerError(ErrorCode.READ_ONLY, WHY_NOT.rstrip("."))
    return found(request, seen, shares)


def _named(views: Iterable[Any], name: str, code: ErrorCode) -> Any:
    for view in views:
        if view.name == name:
            return view
    raise BrokerError(code, name)


def _topic(request: Any, seen: Snapshot, _shares: _Shares) -> Any:
    return _named(seen.topics, request.topic, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)


def _group(request: Any, seen: Snapshot, _shares: _Shares) -> Any:
    return _named(seen.groups, request.group, ErrorCode.GROUP_ID_NOT_FOUND)


def _members(request: Any, seen: Snapshot, shares: _Shares) -> MembersAnswer:
    group = _group(request, seen, shares)
    return MembersAnswer(state=group.state, members=group.members)


ANSWERED: Final[Mapping[type[Any], Callable[[Any, Snapshot, _Shares], Any]]] = {
    ListLogs: lambda _request, seen, _shares: LogNames(
        logs=[LogName(name=topic.name, partitions=len(topic.partitions)) for topic in seen.topics]
    ),
    ListTopics: lambda _request, seen, _shares: TopicsAnswer(topics=list(seen.topics)),
    DescribeTopic: _topic,
    ListGroups: lambda _request, seen, _shares: GroupsAnswer(groups=list(seen.groups)),
    DescribeGroup: _group,
    ListMembers: _members,
    ListOffsets: lambda request, seen, shares: OffsetsAnswer(offsets=_group(request, seen, shares).offsets),
    ListShareGroups: lambda _request, _seen, shares: ShareGroupsAnswer(
        groups=[shares[name] for name in sorted(shares)]
    ),
    DescribeShareGroup: lambda request, _seen, shares: _named(
        shares.values(), request.group, ErrorCode.GROUP_ID_NOT_FOUND
    ),
}
