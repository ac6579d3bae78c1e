"""Requests that are answered from what was seen last."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from broker_core.errors import BrokerError, ErrorCode
from broker_core.operations.browse import ListLogs, LogName
from broker_core.operations.groups import DescribeGroup, DescribeShareGroup, ListGroups, ListShareGroups
from broker_core.operations.topics import DescribeTopic, ListTopics
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


ANSWERED: Final[Mapping[type[Any], Callable[[Any, Snapshot, _Shares], Any]]] = {
    ListLogs: lambda _request, seen, _shares: [
        LogName(name=topic.name, partitions=len(topic.partitions)) for topic in seen.topics
    ],
    ListTopics: lambda _request, seen, _shares: list(seen.topics),
    DescribeTopic: lambda request, seen, _shares: _named(
        seen.topics, request.topic, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    ),
    ListGroups: lambda _request, seen, _shares: list(seen.groups),
    DescribeGroup: lambda request, seen, _shares: _named(seen.groups, request.group, ErrorCode.GROUP_ID_NOT_FOUND),
    ListShareGroups: lambda _request, _seen, shares: [shares[name] for name in sorted(shares)],
    DescribeShareGroup: lambda request, _seen, shares: _named(
        shares.values(), request.group, ErrorCode.GROUP_ID_NOT_FOUND
    ),
}
