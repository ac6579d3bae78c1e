"""Consumer groups: members that poll by HTTP, and the administration of offsets."""

from __future__ import annotations

from broker_core.clients.membership import ConsumerConfig
from broker_core.errors import BrokerError, ErrorCode
from broker_core.groups.offset_reset import Change, Target
from broker_core.groups.protocol import TopicPartition
from broker_core.listeners.http.context import ADMIN, READ, Call
from broker_core.listeners.http.members import GroupMember
from broker_core.listeners.http.messages import shown
from broker_core.listeners.http.models import groups as shapes
from broker_core.listeners.http.models.basics import Name, Status
from broker_core.listeners.http.routing import Operations

operation = Operations("Groups")


@operation("GET", "/v1/groups", shapes.GroupsAnswer)
async def list_groups(call: Call) -> shapes.GroupsAnswer:
    """All groups that the caller may read."""
    views = call.host.call(call.broker.groups.views)
    return shapes.GroupsAnswer(
        groups=[shapes.GroupAnswer.of(view) for view in views if call.may(READ, "group", view.name)]
    )


@operation("GET", "/v1/groups/{group}", shapes.GroupAnswer)
async def describe_group(call: Call) -> shapes.GroupAnswer:
    """A group's state, members, offsets and lag."""
    name = call.name_of("group", READ)
    return shapes.GroupAnswer.of(call.context.admin.describe_group(name))


@operation("DELETE", "/v1/groups/{group}", status=204, errors=(409,))
async def delete_group(call: Call) -> None:
    """Forget an empty group and its offsets."""
    name = call.name_of("group", ADMIN)
    await call.slow(lambda: call.context.admin.delete_group(name))


@operation("GET", "/v1/groups/{group}/offsets", shapes.OffsetsAnswer)
async def list_offsets(call: Call) -> shapes.OffsetsAnswer:
    """Where a group is: committed offsets and lag."""
    name = call.name_of("group", READ)
    return shapes.OffsetsAnswer(offsets=[shapes.OffsetAnswer.of(each) for each in call.context.admin.lag(name)])


@operation("POST", "/v1/groups/{group}/offsets/reset", shapes.OffsetsReset, body=shapes.ResetOffsets, errors=(409,))
async def reset_offsets(call: Call) -> shapes.OffsetsReset:
    """Set what an empty group has committed, or see what that would change."""
    name = call.path("group", Name)
    body = await call.body(shapes.ResetOffsets)
    call.must(READ if body.dry_run else ADMIN, "group", name)
    if body.group is not None:
        call.must(READ, "group", body.group)
    target = Target(body.form, offset=body.offset, timestamp_ms=body.timestamp_ms, group=body.group or "")
    admin = call.context.admin

    def reset() -> list[Change]:
        places = _places(call, name, body.partitions)
        return admin.preview_reset(name, target, places) if body.dry_run else admin.reset_offsets(name, target, places)

    changes = await call.slow(reset)
    rows = [
        shapes.OffsetChange(
            topic=each.topic,
            partition=each.partition,
            from_offset=each.from_offset,
            to_offset=each.to_offset,
            change=each.change,
        )
        for each in changes
    ]
    return shapes.OffsetsReset(applied=not body.dry_run, changes=rows)


@operation("POST", "/v1/groups/{group}/members", shapes.Joined, status=201, body=shapes.Join, errors=(404, 409))
async def join(call: Call) -> shapes.Joined:
    """Become a member of a group.

    The member takes part in the group from its first poll on, and leaves it where no request of it comes for
    `session_timeout_ms`.
    """
    group = call.name_of("group", READ)
    body = await call.body(shapes.Join)
    for topic in body.topics:
        call.must(READ, "topic", topic)
    if body.prefix:
        # All names that begin so: only who may read what such a pattern names may ask for it.
        call.must(READ, "topic", f"{body.prefix}*")
    if not body.topics and not body.prefix:
        raise BrokerError(ErrorCode.INVALID_REQUEST, "a member reads topics, or a prefix of their names")
    config = ConsumerConfig(
        assignor=body.assignor,
        auto_offset_reset=body.auto_offset_reset,
        guarantee=body.guarantee,
        instance_id=body.instance_id,
        auto_commit_interval_ms=body.auto_commit_interval_ms,
        commit_on_revoke=body.auto_commit_interval_ms is not None,
    )
    client = call.named(body.client_id)
    member = call.context.members.join(group, body.topics, body.prefix, config, client, body.session_timeout_ms / 1_000)
    return shapes.Joined(group=group, member=member.name, client_id=client, session_timeout_ms=body.session_timeout_ms)


@operation("POST", "/v1/groups/{group}/members/{member}/poll", shapes.PolledAnswer, body=shapes.Poll, errors=(409,))
async def poll(call: Call) -> shapes.PolledAnswer:
    """Get the next messages of what a member owns; while its group rebalances there are none."""
    member = _member(call)
    body = await call.body(shapes.Poll)
    found = await member.poll(call, body.max_messages, call.wait_ms(body.timeout_ms))
    for topic in {message.topic for message in found}:
        call.must(READ, "topic", topic)  # a prefix may have brought in what a rule denies
    call.gave(len(found))
    return shapes.PolledAnswer(
        messages=[shown(message, body.encoding) for message in found],
        assignment=[
            shapes.Place(topic=topic, partition=number, offset=offset)
            for (topic, number), offset in member.positions.items()
        ],
    )


@operation("POST", "/v1/groups/{group}/members/{member}/commit", Status, body=shapes.CommitOffsets, errors=(409,))
async def commit_offsets(call: Call) -> Status:
    """Commit what a member has done; answered when that is kept.

    Refused where the group has moved on: somebody else gets these messages then.
    """
    member = _member(call)
    body = await call.body(shapes.CommitOffsets)
    offsets = None
    if body.offsets is not None:
        offsets = {(each.topic, each.partition): each.offset for each in body.offsets}
    member.commit(offsets)
    await call.wait(call.host.kept())
    return Status()


@operation("POST", "/v1/groups/{group}/members/{member}/seek", Status, body=shapes.CommitPlace, errors=(409,))
async def seek(call: Call) -> Status:
    """Let a member read on from another offset of a partition that it owns."""
    member = _member(call)
    body = await call.body(shapes.CommitPlace)
    member.seek(body.topic, body.partition, body.offset)
    return Status()


@operation("DELETE", "/v1/groups/{group}/members/{member}", status=204)
async def leave(call: Call) -> None:
    """Leave the group."""
    member = _member(call)
    call.context.members.leave(member.core.group, member.name)


def _member(call: Call) -> GroupMember:
    group = call.name_of("group", READ)
    return call.context.members.find(group, call.path("member"))


def _places(call: Call, group: str, chosen: list[shapes.PartitionPlace] | None) -> list[TopicPartition]:
    def look(_now: int) -> list[TopicPartition]:
        groups = call.broker.groups
        if chosen is None:
            if group not in groups.groups():
                raise BrokerError(ErrorCode.GROUP_ID_NOT_FOUND, group)
            return list(groups.offsets.fetch_all(group))
        found = []
        for place in chosen:
            if place.partition is not None:
                found.append((place.topic, place.partition))
            else:
                found += [(place.topic, number) for number in range(call.broker.partition_count(place.topic))]
        return list(dict.fromkeys(found))

    return call.host.call(look)
