"""Work queues: take, acknowledge, give back, hold longer."""

from __future__ import annotations

from collections.abc import Callable

from broker_core.clock import NS_PER_MS, NS_PER_S
from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.http.context import ADMIN, READ, SPARE_S, WRITE, Call
from broker_core.listeners.http.messages import publish, shown, shown_headers, shown_pair
from broker_core.listeners.http.models import queues as shapes
from broker_core.listeners.http.models.basics import Encoding
from broker_core.listeners.http.models.topics import BatchPublished, PublishBatch
from broker_core.listeners.http.routing import Operations
from broker_core.queues.lease import Lease
from broker_core.queues.queue import Queue
from broker_core.replies import Reply, all_done

operation = Operations("Queues")


@operation("GET", "/v1/queues", shapes.QueuesAnswer)
async def list_queues(call: Call) -> shapes.QueuesAnswer:
    """All queues and subscriptions that the caller may read."""

    def look(now_ns: int) -> list[shapes.QueueAnswer]:
        names = [name for name in call.broker.queue_names() if call.may(READ, "queue", name)]
        return [shapes.QueueAnswer.of(call.broker.queue_view(now_ns, name, 0, 0), now_ns) for name in names]

    return shapes.QueuesAnswer(queues=call.host.call(look))


@operation("POST", "/v1/queues", shapes.QueueAnswer, status=201, body=shapes.CreateQueue, errors=(409,))
async def create_queue(call: Call) -> shapes.QueueAnswer:
    """Create a queue."""
    body = await call.body(shapes.CreateQueue)
    call.must(ADMIN, "queue", body.name)
    await call.slow(
        lambda: call.context.admin.create_queue(
            body.name,
            body.settings.config(),
            flow=None if body.flow is None else body.flow.config(),
            log=body.log.on(call.host.config.log),
        )
    )
    return _described(call, body.name)


@operation(
    "POST", "/v1/subscriptions", shapes.QueueAnswer, status=201, body=shapes.CreateSubscription, errors=(404, 409)
)
async def create_subscription(call: Call) -> shapes.QueueAnswer:
    """Create a queue that gets every message of a topic, beside all others that do."""
    body = await call.body(shapes.CreateSubscription)
    call.must(ADMIN, "queue", body.name)
    call.must(READ, "topic", body.topic)
    await call.slow(
        lambda: call.context.admin.create_subscription(
            body.name, body.topic, body.settings.config(), max_messages=body.max_messages, policy=body.policy
        )
    )
    return _described(call, body.name)


@operation("GET", "/v1/queues/{queue}", shapes.QueueAnswer)
async def describe_queue(call: Call) -> shapes.QueueAnswer:
    """A queue's counts, settings and leases."""
    name = call.name_of("queue", READ)
    return _described(call, name)


@operation("DELETE", "/v1/queues/{queue}", status=204, errors=(409,))
async def delete_queue(call: Call) -> None:
    """Delete a queue or subscription, its messages and its dead letters."""
    name = call.name_of("queue", ADMIN)
    await call.slow(lambda: call.context.admin.delete_queue(name))


@operation("POST", "/v1/queues/{queue}/messages", BatchPublished, body=PublishBatch, errors=(409,))
async def send(call: Call) -> BatchPublished:
    """Put messages into a queue; their priority chooses the level."""
    name = call.name_of("queue", WRITE)
    body = await call.body(PublishBatch)
    _found(call, name)
    client = call.named(body.producer_id)
    return await publish(call, name, body.messages, client, call.wait_ms(body.timeout_ms))


@operation("GET", "/v1/queues/{queue}/messages", shapes.Peeked, query=shapes.PeekQuery)
async def peek(call: Call) -> shapes.Peeked:
    """Look at the next messages of a queue without taking them."""
    name = call.name_of("queue", READ)
    query = call.query(shapes.PeekQuery)
    found = call.context.admin.peek_queue(name, query.max_messages)
    return shapes.Peeked(messages=[shown(message, query.encoding) for message in found])


@operation("POST", "/v1/queues/{queue}/take", shapes.Taken, body=shapes.Take, errors=(409,))
async def take(call: Call) -> shapes.Taken:
    """Take messages; each is the caller's until its lease ends."""
    name = call.name_of("queue", READ)
    body = await call.body(shapes.Take)
    holder = call.named(body.holder)
    wait_ns = call.wait_ms(body.timeout_ms) * NS_PER_MS

    def ask(now_ns: int) -> Reply[list[Lease]]:
        deadline_ns = now_ns + wait_ns if wait_ns else None
        return call.broker.take(
            now_ns, name, holder, max_messages=body.max_messages, deadline_ns=deadline_ns, weight=body.weight
        )

    def give_back(reply: Reply[list[Lease]]) -> None:
        if not reply.done:
            call.broker.cancel_take(name, reply)
        reply.then(release_all)

    def release_all(reply: Reply[list[Lease]]) -> None:
        for lease in reply.result() if reply.error is None else ():
            call.broker.release(call.host.now_ns, lease)

    try:
        # The deadline is the session's; where that stands still, the client's own time counts.
        leases = await call.wait(call.host.call(ask), give_back, wait_ns / NS_PER_S + SPARE_S)
    except TimeoutError:
        leases = []
    call.gave(len(leases))
    now_ns = call.host.now_ns
    return shapes.Taken(deliveries=[delivery(lease, now_ns, body.encoding) for lease in leases])


@operation("POST", "/v1/queues/{queue}/ack", shapes.LeasesDone, body=shapes.Ack, errors=(409,))
async def ack(call: Call) -> shapes.LeasesDone:
    """The work is done: these messages are finished."""
    body = await call.body(shapes.Ack)

    def finish(queue: Queue, now_ns: int, lease: LeaseId) -> Reply[None]:
        return queue.ack(now_ns, *lease[:3], attempt=lease[3], durable=body.durable)

    return await _each(call, body.leases, finish)


@operation("POST", "/v1/queues/{queue}/nack", shapes.LeasesDone, body=shapes.Nack, errors=(409,))
async def nack(call: Call) -> shapes.LeasesDone:
    """The work failed: these messages are tried again as the queue's retry policy says, or become dead letters."""
    body = await call.body(shapes.Nack)

    def fail(queue: Queue, now_ns: int, lease: LeaseId) -> None:
        queue.nack(now_ns, *lease[:3], body.cause, requeue=body.requeue, attempt=lease[3])

    return await _each(call, body.leases, fail)


@operation("POST", "/v1/queues/{queue}/extend", shapes.LeasesDone, body=shapes.Extend, errors=(409,))
async def extend(call: Call) -> shapes.LeasesDone:
    """Hold these messages longer."""
    body = await call.body(shapes.Extend)

    def hold(queue: Queue, now_ns: int, lease: LeaseId) -> None:
        queue.extend(now_ns, *lease[:3], body.lease_ms, attempt=lease[3])

    return await _each(call, body.leases, hold)


@operation("POST", "/v1/queues/{queue}/release", shapes.LeasesDone, body=shapes.Release, errors=(409,))
async def release(call: Call) -> shapes.LeasesDone:
    """Give these messages back, as if they had never been handed out."""
    body = await call.body(shapes.Release)

    def give_back(queue: Queue, now_ns: int, lease: LeaseId) -> None:
        queue.release(now_ns, *lease[:3], attempt=lease[3])

    return await _each(call, body.leases, give_back)


@operation("POST", "/v1/queues/{queue}/purge", shapes.Messages, errors=(409,))
async def purge_queue(call: Call) -> shapes.Messages:
    """Take out everything that nobody holds."""
    name = call.name_of("queue", ADMIN)
    return shapes.Messages(messages=call.context.admin.purge_queue(name))


@operation("POST", "/v1/queues/{queue}/undo-purge", shapes.Messages, errors=(409,))
async def undo_purge_queue(call: Call) -> shapes.Messages:
    """Bring back what the last purge took, unless that is more than five minutes ago."""
    name = call.name_of("queue", ADMIN)
    return shapes.Messages(messages=call.context.admin.undo_purge_queue(name))


LeaseId = tuple[int, int, str, int]  # partition, offset, holder, attempt
Use = Callable[[Queue, int, LeaseId], object]


def delivery(lease: Lease, now_ns: int, wanted: Encoding) -> shapes.Delivery:
    """A lease as it is answered."""
    stored = lease.message
    value, key, encoding = shown_pair(stored, wanted)
    return shapes.Delivery(
        lease=f"{lease.partition}.{lease.offset}.{lease.attempt}.{lease.holder}",
        attempt=lease.attempt,
        lease_ms=max(0, (lease.deadline_ns - now_ns) // NS_PER_MS),
        partition=lease.partition,
        offset=lease.offset,
        timestamp_ms=stored.timestamp_ms,
        key=key,
        value=value,
        headers=shown_headers(stored.headers) if stored.headers else {},
        encoding=encoding,
    )


async def _each(call: Call, leases: list[str], use: Use) -> shapes.LeasesDone:
    """`use` each lease, and wait for what it replies; where none could be used, raises what the first had to say."""
    name = call.name_of("queue", READ)

    def run(now_ns: int) -> tuple[list[Reply[None]], Reply[None]]:
        queue = call.broker.queue(name)
        ends: list[Reply[None]] = []
        for text in leases:
            partition, offset, attempt, holder = text.split(".", 3)
            end: Reply[None] = Reply()
            try:
                if int(partition) >= len(queue.levels.tables):
                    raise BrokerError(ErrorCode.INVALID_LEASE, text)
                done = use(queue, now_ns, (int(partition), int(offset), holder, int(attempt)))
            except BrokerError as error:
                end.fail(error)
            else:
                end = done if isinstance(done, Reply) else Reply.of(None)
            ends.append(end)
        return ends, all_done(ends)

    ends, whole = call.host.call(run)
    await call.wait(whole)
    refused = [(text, end.error) for text, end in zip(leases, ends, strict=True) if isinstance(end.error, BrokerError)]
    if len(refused) == len(leases):
        raise refused[0][1]
    return shapes.LeasesDone(
        done=len(leases) - len(refused),
        refused=[shapes.LeaseRefused(lease=text, error=error.code.name, message=str(error)) for text, error in refused],
    )


def _found(call: Call, name: str) -> Queue:
    return call.host.call(lambda _now: call.broker.queue(name))


def _described(call: Call, name: str) -> shapes.QueueAnswer:
    return call.host.call(lambda now_ns: shapes.QueueAnswer.of(call.broker.queue_view(now_ns, name, 100, 0), now_ns))
