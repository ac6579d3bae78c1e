"""Queues and subscriptions."""

from __future__ import annotations

from broker_core.broker.broker import Broker
from broker_core.clock import NS_PER_MS
from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.access.access import Operation
from broker_core.listeners.wire.rows import Caller, How, Need, Row, Waiting, nothing, of_queue
from broker_core.messages import StoredMessage
from broker_core.queues.lease import Lease
from broker_core.replies import Reply, all_done
from broker_core.wire import queues as api
from broker_core.wire.body import Done
from broker_core.wire.fetch import Messages
from broker_core.wire.topics import Names

MOST_LEASES = 1_000
_AT_A_TIME = 16  # leases that are taken before somebody looks how many bytes they have
MOST_TAKEN_BYTES = 4 * 1_048_576
_NO_MESSAGE = StoredMessage("", 0, 0, 0, 0, None, None)


def create(caller: Caller, request: api.CreateQueue) -> Done:
    """See `Broker.create_queue`."""
    caller.host.admin(
        lambda now_ns: caller.broker.create_queue(
            now_ns, request.name, request.config, flow=request.flow, log=request.log
        )
    )
    return Done()


def subscribe(caller: Caller, request: api.CreateSubscription) -> Done:
    """See `Broker.subscribe`."""
    caller.host.admin(
        lambda now_ns: caller.broker.subscribe(
            now_ns,
            request.name,
            request.topic,
            request.config,
            max_messages=request.max_messages,
            policy=request.policy,
        )
    )
    return Done()


def delete(caller: Caller, request: api.DeleteQueue) -> Done:
    """See `Broker.delete_queue`."""
    caller.host.admin(lambda now_ns: caller.broker.delete_queue(now_ns, request.name))
    return Done()


def list_queues(caller: Caller, _request: api.ListQueues, _now_ns: int) -> Names:
    """Those that the caller may read."""
    return Names(caller.allowed("queue", caller.broker.queue_names()))


def describe(caller: Caller, request: api.DescribeQueue, now_ns: int) -> api.QueueDescription:
    """See `QueueView`."""
    leases, letters = min(request.max_leases, MOST_LEASES), min(request.max_dead_letters, MOST_LEASES)
    view = caller.broker.queue_view(now_ns, request.name, leases, letters)
    return api.QueueDescription(view, caller.broker.queue(request.name).config)


def purge(caller: Caller, request: api.PurgeQueue, now_ns: int) -> api.Count:
    """See `Queue.purge` and `Queue.undo_purge`."""
    queue = caller.broker.queue(request.name)
    who = caller.principal.name
    return api.Count(queue.undo_purge(now_ns, who) if request.undo else queue.purge(now_ns, who))


def peek(caller: Caller, request: api.PeekQueue, _now_ns: int) -> Messages:
    """See `Queue.peek`."""
    found = caller.broker.queue(request.name).peek(min(request.max_messages, MOST_LEASES))
    caller.connection.messages_out += len(found)
    return Messages.of(list(found))


def take(caller: Caller, request: api.Take, now_ns: int) -> Waiting:
    """See `Queue.take`; what comes to who is gone is given back at once."""
    broker, name, holder = caller.broker, request.queue, request.holder
    most = min(request.max_messages, MOST_LEASES)
    wait_ms = min(request.wait_ms, caller.limits.max_wait_ms)
    deadline_ns = now_ns + wait_ms * NS_PER_MS if wait_ms else None
    reply = broker.take(
        now_ns,
        name,
        holder,
        max_messages=min(most, _AT_A_TIME),
        deadline_ns=deadline_ns,
        weight=request.weight,
    )
    if reply.done and reply.error is None:
        leases = reply.result()
        size_bytes = sum(lease.message.size_bytes for lease in leases)
        while len(leases) < most and size_bytes < MOST_TAKEN_BYTES:
            next_ones = broker.take(now_ns, name, holder, max_messages=min(most - len(leases), _AT_A_TIME))
            if not next_ones.done or not (more := next_ones.result()):
                break
            size_bytes += sum(lease.message.size_bytes for lease in more)
            leases += more

    def answer(found: list[Lease]) -> api.Leases:
        caller.connection.messages_out += len(found)
        return api.Leases(tuple(found))

    def lost(found: list[Lease]) -> None:
        for lease in found:
            broker.release(caller.host.loop.now_ns, lease)

    return Waiting(reply, answer, parked=True, cancel=lambda: broker.cancel_take(name, reply), lost=lost)


def settle(caller: Caller, request: api.Settle, now_ns: int) -> Waiting:
    """Each lease by itself; answered when all are as durable as was asked for."""
    broker = caller.broker
    ends: list[Reply[None]] = []
    for held in request.leases:
        lease = _lease(held)
        end: Reply[None] = Reply()
        try:
            match request.outcome:
                case "ack":
                    end = broker.ack(now_ns, lease, durable=request.durable)
                case "nack":
                    broker.nack(now_ns, lease, request.cause or "nack", requeue=request.requeue)
                    end.resolve(None)
                case "release":
                    broker.release(now_ns, lease)
                    end.resolve(None)
        except BrokerError as error:
            end.fail(error)
        ends.append(end)
    return Waiting(all_done(ends), lambda _done: api.Settled(tuple(map(_error, ends))))


def _error(end: Reply[None]) -> tuple[int, str]:
    if end.error is None:
        return 0, ""
    if not isinstance(end.error, BrokerError):
        raise end.error
    return end.error.code.code, end.error.about


def extend(caller: Caller, request: api.Extend, now_ns: int) -> api.Extended:
    """Each lease by itself."""
    ends: list[tuple[int, int, str]] = []
    for held in request.leases:
        try:
            lease = caller.broker.extend(now_ns, _lease(held), request.lease_ms)
        except BrokerError as error:
            ends.append((0, error.code.code, error.about))
        else:
            ends.append((lease.deadline_ns, 0, ""))
    return api.Extended(tuple(ends))


def _lease(held: api.Held) -> Lease:
    return Lease(held.queue, held.partition, held.offset, held.holder, held.attempt, 0, _NO_MESSAGE)


def release_holder(caller: Caller, request: api.ReleaseHolder, now_ns: int) -> api.Count:
    """See `Queue.release_holder`."""
    return api.Count(caller.broker.queue(request.queue).release_holder(now_ns, request.holder, request.cause))


def _held(_broker: Broker, request: api.Settle | api.Extend) -> list[Need]:
    if len(request.leases) > MOST_LEASES:
        raise BrokerError(ErrorCode.INVALID_REQUEST, f"{len(request.leases)} leases; send {MOST_LEASES} at a time")
    return [(Operation.READ, "queue", name) for name in {held.queue for held in request.leases}]


def _subscription(_broker: Broker, request: api.CreateSubscription) -> list[Need]:
    return [(Operation.ADMIN, "queue", request.name), (Operation.READ, "topic", request.topic)]


ROWS = (
    Row(api.CreateQueue, How.SLOW, of_queue(Operation.ADMIN), create),
    Row(api.CreateSubscription, How.SLOW, _subscription, subscribe),
    Row(api.DeleteQueue, How.SLOW, of_queue(Operation.ADMIN), delete),
    Row(api.ListQueues, How.AT_ONCE, nothing, list_queues),
    Row(api.DescribeQueue, How.AT_ONCE, of_queue(Operation.READ), describe),
    Row(api.PurgeQueue, How.AT_ONCE, of_queue(Operation.ADMIN), purge),
    Row(api.PeekQueue, How.AT_ONCE, of_queue(Operation.READ), peek),
    Row(api.Take, How.WAITS, of_queue(Operation.READ, "queue"), take),
    Row(api.Settle, How.WAITS, _held, settle),
    Row(api.Extend, How.AT_ONCE, _held, extend),
    Row(api.ReleaseHolder, How.AT_ONCE, of_queue(Operation.READ, "queue"), release_holder),
)
