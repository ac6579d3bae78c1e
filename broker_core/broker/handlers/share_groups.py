"""Share groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

from broker_core.operations import share_groups

if TYPE_CHECKING:
    from broker_core.broker.broker import Broker


def _list_share_groups(
    broker: Broker, _now_ns: int, _request: share_groups.ListShareGroups
) -> share_groups.ShareGroupsAnswer:
    names = sorted(broker.share_groups.names())
    return share_groups.ShareGroupsAnswer(groups=[_described(broker, name) for name in names])


def _describe_share_group(
    broker: Broker, _now_ns: int, request: share_groups.DescribeShareGroup
) -> share_groups.ShareGroupAnswer:
    return _described(broker, request.group)


def _described(broker: Broker, name: str) -> share_groups.ShareGroupAnswer:
    view = broker.share_groups.view(name)
    return share_groups.ShareGroupAnswer(
        name=name,
        state=view.state,
        epoch=view.epoch,
        members=[
            share_groups.ShareMemberAnswer(
                client=member.holder, member_id=member.member_id, epoch=member.epoch, topics=list(member.topics)
            )
            for member in view.members
        ],
        offsets=[
            share_groups.ShareOffsetAnswer(
                topic=at.topic,
                partition=at.partition,
                start_offset=at.start_offset,
                end_offset=broker.logs.partition(at.topic, at.partition).end_offset,
                in_flight=at.in_flight,
                lag=at.lag,
            )
            for at in view.positions
        ],
    )
