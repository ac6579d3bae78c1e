"""Members of groups poll and commit; leases of queues are taken, settled and extended. What waits is served here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from broker_core.clients.membership import ConsumerConfig
from broker_core.clock import NS_PER_MS, NS_PER_S
from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.http.context import SPARE_S, ByHand, HttpCall
from broker_core.listeners.http.members import GroupMember
from broker_core.operations.entry import READ
from broker_core.operations.groups import CommitOffsets, Join, Joined, Leave, Place, Poll, PolledAnswer, Seek
from broker_core.operations.messages import MessageAnswer
from broker_core.operations.queues import Ack, Delivery, Extend, LeaseRefused, LeasesDone, Nack, Release, Take
from broker_core.operations.request import Status
from broker_core.queues.lease import Held, Lease
from broker_core.queues.queue import Queue
from broker_core.replies import Reply, all_done


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
    await call.wait(call.host.durable())
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


async def _take(call: HttpCall, request: Take) -> list[Delivery]:
    holder = call.named(request.holder)
    wait_ns = call.wait_ms(request.timeout_ms) * NS_PER_MS

    def ask(now_ns: int) -> Reply[list[Lease]]:
        deadline_ns = now_ns + wait_ns if wait_ns else None
        return call.broker.queues.take(
            now_ns,
            request.queue,
            holder,
            max_messages=request.max_messages,
            deadline_ns=deadline_ns,
            weight=request.weight,
        )

    def give_back(reply: Reply[list[Lease]]) -> None:
        call.broker.queues.abandon_take(request.queue, reply, lambda: call.host.now_ns)

    try:
        # The deadline is in session time; while a session is paused, the wall clock ends the wait.
        leases = await call.wait(call.host.call(ask), give_back, wait_ns / NS_PER_S + SPARE_S)
    except TimeoutError:
        leases = []
    call.connection.messages_out += len(leases)
    now_ns = call.host.now_ns
    return [Delivery.of_lease(lease, now_ns, request.encoding) for lease in leases]


async def _settle(call: HttpCall, request: Ack | Nack | Extend | Release, use: Callable[..., object]) -> LeasesDone:
    """Call `use` with each lease, an `Ack` with each run of leases, and wait for the replies. Raises the first error if
    all have failed.
    """
    leases = request.leases

    def settled(queue: Queue, now_ns: int, texts: Sequence[str]) -> list[Reply[None]]:
        try:
            count = {"count": len(texts)} if len(texts) > 1 else {}
            done = use(queue, now_ns, _held(queue, texts[0]), **count)
        except BrokerError as error:
            if len(texts) > 1:
                return [end for text in texts for end in settled(queue, now_ns, [text])]
            failed: Reply[None] = Reply()
            failed.fail(error)
            return [failed]
        return [done if isinstance(done, Reply) else Reply.of(None)] * len(texts)

    def run(now_ns: int) -> tuple[list[Reply[None]], Reply[None]]:
        queue = call.broker.queues.queue(request.queue)
        runs = _runs(leases) if isinstance(request, Ack) else ([text] for text in leases)
        ends = [end for texts in runs for end in settled(queue, now_ns, texts)]
        return ends, all_done(ends)

    ends, whole = call.host.call(run)
    await call.wait(whole)
    refused = [(text, end.error) for text, end in zip(leases, ends, strict=True) if isinstance(end.error, BrokerError)]
    if len(refused) == len(leases):
        raise refused[0][1]
    return LeasesDone(
        done=len(leases) - len(refused),
        refused=[LeaseRefused(lease=text, error=error.code.name, message=str(error)) for text, error in refused],
    )


def _held(queue: Queue, text: str) -> Held:
    partition, offset, attempt, holder = text.split(".", 3)
    if int(partition) >= len(queue.levels.tables):
        raise BrokerError(ErrorCode.INVALID_LEASE, text)
    return Held(int(partition), int(offset), holder, int(attempt))


def _runs(leases: Sequence[str]) -> Iterator[list[str]]:
    """Leases of consecutive offsets that were delivered together, in the order given."""
    run: list[str] = []
    following = ""
    for text in leases:
        if run and text != following:
            yield run
            run = []
        run.append(text)
        partition, offset, attempt_and_holder = text.split(".", 2)
        following = f"{partition}.{int(offset) + 1}.{attempt_and_holder}"
    if run:
        yield run


HANDLERS: ByHand = {
    Join: _join,
    Poll: _poll,
    CommitOffsets: _commit_offsets,
    Seek: _seek,
    Leave: _leave,
    Take: _take,
    Ack: lambda call, request: _settle(call, request, partial(Queue.ack, durable=request.durable)),
    Nack: lambda call, request: _settle(
        call, request, partial(Queue.nack, cause=request.cause, requeue=request.requeue)
    ),
    Extend: lambda call, request: _settle(call, request, partial(Queue.extend, lease_ms=request.lease_ms)),
    Release: lambda call, request: _settle(call, request, Queue.release),
}
