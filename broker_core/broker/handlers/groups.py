from __future__ import annotations

from broker_core.broker.broker import Broker, Handlers
from broker_core.errors import BrokerError, ErrorCode
from broker_core.groups.config import GroupSettings
from broker_core.guarded.offsets import OffsetsPlan
from broker_core.operations import groups, guarded
from broker_core.operations.guarded import check_plan_is_for


def _delete_group(broker: Broker, now_ns: int, request: groups.DeleteGroup, _client: str) -> None:
    if request.group in broker.share_groups.names():
        broker.share_groups.delete(now_ns, request.group)
    else:
        broker.groups.delete(now_ns, request.group)


def _configure_group(broker: Broker, now_ns: int, request: groups.ConfigureGroup, _client: str) -> GroupSettings:
    settings = request.settings.on(broker.groups.configs.of(request.group))
    broker.share_groups.configure(now_ns, request.group, settings)
    return settings


def _reset_offsets(broker: Broker, now_ns: int, request: groups.ResetOffsets, _client: str) -> groups.OffsetsReset:
    target, places = request.target(), _places(broker, request)
    if request.dry_run:
        changes = broker.offsets.preview_reset(request.group, target, places)
    else:
        changes = broker.offsets.reset(now_ns, request.group, target, places)
    return groups.OffsetsReset(applied=not request.dry_run, changes=changes)


def _plan_offsets(broker: Broker, now_ns: int, request: guarded.PlanOffsets, _client: str) -> OffsetsPlan:
    undoes = request.form == "undo"
    places = [] if undoes else _places(broker, request)
    return broker.offsets.plan(now_ns, request.group, None if undoes else request.target(), places)


def _set_offsets(broker: Broker, now_ns: int, request: guarded.SetOffsets, client: str) -> OffsetsPlan:
    check_plan_is_for(request.group, request.plan.group)
    broker.offsets.set(now_ns, request.plan, client)
    return request.plan


def _places(broker: Broker, request: groups.ResetOffsets | guarded.PlanOffsets) -> list[tuple[str, int]]:
    if request.partitions is None:
        if request.group not in broker.groups.groups():
            raise BrokerError(ErrorCode.GROUP_ID_NOT_FOUND, request.group)
        return list(broker.groups.offsets.fetch_all(request.group))
    return broker.offsets.places(request.partitions)


HANDLERS: Handlers = {
    groups.ListGroups: lambda b, now_ns, r, _client: list(b.groups.views(now_ns)),
    groups.DescribeGroup: lambda b, now_ns, r, _client: b.groups.view(now_ns, r.group),
    groups.DeleteGroup: _delete_group,
    groups.GroupConfiguration: lambda b, now_ns, r, _client: b.groups.configs.of(r.group),
    groups.ConfigureGroup: _configure_group,
    groups.ResetOffsets: _reset_offsets,
    guarded.PlanOffsets: _plan_offsets,
    guarded.SetOffsets: _set_offsets,
    groups.ForgetOffsets: lambda b, now_ns, r, _client: b.groups.forget_offsets(
        now_ns, r.group, b.offsets.places(r.partitions)
    ),
    groups.KickMember: lambda b, now_ns, r, _client: b.held.kick(now_ns, r.client, r.group),
    groups.HoldMember: lambda b, now_ns, r, _client: b.held.hold(now_ns, r.client, r.group),
    groups.ReleaseMember: lambda b, now_ns, r, _client: b.held.release(now_ns, r.client, r.group),
    groups.ListShareGroups: lambda b, now_ns, r, _client: [
        b.share_groups.view(name) for name in sorted(b.share_groups.names())
    ],
    groups.DescribeShareGroup: lambda b, now_ns, r, _client: b.share_groups.view(r.group),
    groups.SubscribeShareGroup: lambda b, now_ns, r, _client: b.share_groups.subscribe(
        now_ns, r.group, r.topic, from_start=r.from_start
    ),
    groups.ResetShareOffsets: lambda b, now_ns, r, client: b.share_groups.reset(
        now_ns, r.group, r.topic, r.partition, r.offset, client
    ),
    groups.ForgetShareOffsets: lambda b, now_ns, r, _client: b.share_groups.unsubscribe(now_ns, r.group, r.topic),
}
