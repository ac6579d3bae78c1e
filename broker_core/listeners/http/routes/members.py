from __future__ import annotations

from functools import partial

from broker_core.clients.membership import ConsumerConfig
from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.http.context import ByHand, HttpCall
from broker_core.listeners.http.members import GroupMember
from broker_core.operations.entry import READ
from broker_core.operations.groups import CommitOffsets, Join, Joined, Leave, Place, Poll, PolledAnswer, Seek
from broker_core.operations.messages import MessageAnswer
from broker_core.operations.request import Status


async def _join(call: HttpCall, request: Join) -> Joined:
    if request.prefix:
        # A prefix stands for all names that begin so: the right must cover that pattern.
        call.must(READ, "topic", f"{request.prefix}*")
    if not request.topics and not request.prefix:
        raise BrokerError(ErrorCode.MALFORMED_REQUEST, "a member reads topics, or a prefix of their names")
    config = ConsumerConfig(
        assignor=request.assignor,
        auto_offset_reset=request.auto_offset_reset,
        guarantee=request.guarantee,
        instance_id=request.instance_id,
        auto_commit_interval_ms=request.auto_commit_interval_ms,
        commit_on_revoke=request.auto_commit_interval_ms is not None,
    )
    client = call.named(request.client_id)
    member = call.context.members.join(
        request.group,
        request.topics,
        request.prefix,
        config,
        client,
        request.session_timeout_ms / 1_000,
        partial(call.may, READ, "topic"),
    )
    return Joined(
        group=request.group, member=member.name, client_id=client, session_timeout_ms=request.session_timeout_ms
    )


async def _poll(call: HttpCall, request: Poll) -> PolledAnswer:
    member = _member(call, request)
    found = await member.poll(call.wait, request.max_messages, call.wait_ms(request.timeout_ms))
    for topic in {message.topic for message in found}:
        call.must(READ, "topic", topic)  # a prefix may include a topic that a rule denies
    call.connection.messages_out += len(found)
    return PolledAnswer(
        messages=[MessageAnswer.of(message, request.encoding) for message in found],
        assignment=[
            Place(topic=topic, partition=number, offset=offset) for (topic, number), offset in member.positions.items()
        ],
    )


async def _commit_offsets(call: HttpCall, request: CommitOffsets) -> Status:
    member = _member(call, request)
    offsets = None
    if request.offsets is not None:
        for each in request.offsets:
            call.must(READ, "topic", each.topic)
        offsets = {(each.topic, each.partition): each.offset for each in request.offsets}
    member.commit(offsets)
    await call.wait(call.host.kept())
    return Status()


async def _seek(call: HttpCall, request: Seek) -> Status:
    member = _member(call, request)
    place = request.place
    call.must(READ, "topic", place.topic)
    member.seek(place.topic, place.partition, place.offset)
    return Status()


async def _leave(call: HttpCall, request: Leave) -> None:
    member = _member(call, request)
    call.context.members.leave(member.core.group, member.name)


def _member(call: HttpCall, request: Poll | CommitOffsets | Seek | Leave) -> GroupMember:
    return call.context.members.find(request.group, request.member)


HANDLERS: ByHand = {Join: _join, Poll: _poll, CommitOffsets: _commit_offsets, Seek: _seek, Leave: _leave}
