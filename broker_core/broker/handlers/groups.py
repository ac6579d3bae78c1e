from __future__ import annotations

from broker_core.broker.broker import Broker
from broker_core.errors import BrokerError, ErrorCode
from broker_core.operations import groups
from broker_core.snapshots import GroupView, ShareGroupView


def _list_groups(broker: Broker, now_ns: int, _request: groups.ListGroups) -> list[GroupView]:
    return list(broker.groups.views(now_ns))


def _describe_group(broker: Broker, now_ns: int, request: groups.DescribeGroup) -> GroupView:
    return broker.groups.view(now_ns, request.group)


def _delete_group(broker: Broker, now_ns: int, request: groups.DeleteGroup) -> None:
    if request.group in broker.share_groups.names():
        broker.share_groups.delete(now_ns, request.group)
    else:
        broker.groups.delete(now_ns, request.group)


def _reset_offsets(broker: Broker, now_ns: int, request: groups.ResetOffsets) -> groups.OffsetsReset:
    target, places = request.target(), _places(broker, request)
    if request.dry_run:
        changes = broker.offsets.preview_reset(request.group, target, places)
    else:
        changes = broker.offsets.reset(now_ns, request.group, target, places)
    return groups.OffsetsReset(applied=not request.dry_run, changes=changes)


def _kick_member(broker: Broker, now_ns: int, request: groups.KickMember) -> None:
    broker.held.kick(now_ns, request.client, request.group)


def _hold_member(broker: Broker, now_ns: int, request: groups.HoldMember) -> None:
    broker.held.hold(now_ns, request.client, request.group)


def _release_member(broker: Broker, now_ns: int, request: groups.ReleaseMember) -> None:
    broker.held.release(now_ns, request.client, request.group)


def _places(broker: Broker, request: groups.ResetOffsets) -> list[tuple[str, int]]:
    if request.partitions is None:
        if request.group not in broker.groups.groups():
            raise BrokerError(ErrorCode.GROUP_ID_NOT_FOUND, request.group)
        return list(broker.groups.offsets.fetch_all(request.group))
    return broker.offsets.places(request.partitions)


def _list_share_groups(broker: Broker, _now_ns: int, _request: groups.ListShareGroups) -> list[ShareGroupView]:
    return [broker.share_groups.view(name) for name in sorted(broker.share_groups.names())]


def _describe_share_group(broker: Broker, _now_ns: int, request: groups.DescribeShareGroup) -> ShareGroupView:
    return broker.share_groups.view(request.group)
