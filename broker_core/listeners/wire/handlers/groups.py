"""Consumer groups: taking part, committing, administration."""

from __future__ import annotations

from broker_core.broker.broker import Broker
from broker_core.groups.members import JoinResult
from broker_core.listeners.access.access import Operation
from broker_core.listeners.wire.rows import Caller, How, Need, Row, Waiting, kind_of, nothing, of_group
from broker_core.wire import fetch as reading
from broker_core.wire import groups as api
from broker_core.wire.body import Done
from broker_core.wire.topics import Names


def join(caller: Caller, request: api.Join, now_ns: int) -> Waiting:
    """A newcomer whose connection ends before it hears its id leaves again: nobody else could speak for it."""
    reply = caller.broker.join(
        now_ns,
        request.group,
        client_id=request.client_id,
        member_id=request.member_id,
        instance_id=request.instance_id,
        session_timeout_ms=request.session_timeout_ms,
        rebalance_timeout_ms=request.rebalance_timeout_ms,
        max_poll_interval_ms=request.max_poll_interval_ms,
        protocol_type=request.protocol_type,
        protocols=request.protocols,
        cause=request.cause,
    )

    def lost(joined: JoinResult) -> None:
        if not request.member_id and not request.instance_id:
            cause = f"the connection of {request.client_id} was lost"
            caller.broker.leave(caller.host.loop.now_ns, request.group, joined.member_id, cause)

    return Waiting(reply, api.Joined, parked=True, lost=lost)


def sync(caller: Caller, request: api.Sync, now_ns: int) -> Waiting:
    """See `GroupCoordinator.sync`."""
    reply = caller.broker.sync(now_ns, request.group, request.member_id, request.generation, request.assignments)
    return Waiting(reply, api.Synced, parked=True)


def heartbeat(caller: Caller, request: api.Heartbeat, now_ns: int) -> Done:
    """See `GroupCoordinator.heartbeat`."""
    caller.broker.heartbeat(now_ns, request.group, request.member_id, request.generation)
    return Done()


def polled(caller: Caller, request: api.Polled, now_ns: int) -> Done:
    """See `GroupCoordinator.polled`."""
    caller.broker.groups.polled(now_ns, request.group, request.member_id)
    return Done()


def leave(caller: Caller, request: api.Leave, now_ns: int) -> Done:
    """See `GroupCoordinator.leave`."""
    caller.broker.leave(now_ns, request.group, request.member_id, request.cause)
    return Done()


def commit(caller: Caller, request: api.Commit, now_ns: int) -> Done:
    """See `Broker.commit`."""
    offsets = {(topic, partition): offset for topic, partition, offset in request.offsets}
    caller.broker.commit(now_ns, request.group, request.client, request.member_id, request.generation, offsets)
    return Done()


def keep(caller: Caller, _request: api.Keep) -> Done:
    """There when all commits so far are on the disk."""
    caller.host.wait(caller.host.kept())
    return Done()


def committed(caller: Caller, request: api.Committed, _now_ns: int) -> reading.Offset:
    """See `GroupCoordinator.committed`."""
    return reading.Offset(caller.broker.groups.committed(request.group, request.topic, request.partition))


def list_groups(caller: Caller, _request: api.ListGroups, _now_ns: int) -> Names:
    """Those that the caller may read."""
    return Names(caller.allowed("group", caller.broker.groups.groups()))


def describe(caller: Caller, request: api.DescribeGroup, now_ns: int) -> api.GroupDescription:
    """See `GroupCoordinator.view`."""
    return api.GroupDescription(caller.broker.groups.view(now_ns, request.name))


def delete(caller: Caller, request: api.DeleteGroup) -> Done:
    """See `GroupCoordinator.delete`."""
    caller.host.call(lambda now_ns: caller.broker.groups.delete(now_ns, request.name))
    caller.host.wait(caller.host.kept())
    return Done()


def reset(caller: Caller, request: api.ResetOffsets) -> api.OffsetChanges:
    """See `Broker.reset_offsets` and `Broker.preview_reset`."""
    host, broker = caller.host, caller.broker
    places = [(topic, partition) for topic, partition in request.places]
    if not request.apply:
        preview = host.call(lambda _now: broker.preview_reset(request.group, request.target, places))
        return api.OffsetChanges(tuple(preview))
    changes = host.call(lambda now_ns: broker.reset_offsets(now_ns, request.group, request.target, places))
    host.wait(host.kept())
    return api.OffsetChanges(tuple(changes))


def _reset_needs(broker: Broker, request: api.ResetOffsets) -> list[Need]:
    needs: list[Need] = [(Operation.ADMIN if request.apply else Operation.READ, "group", request.group)]
    if request.target.group:
        needs.append((Operation.READ, "group", request.target.group))
    return needs + [(Operation.READ, kind_of(broker, name), name) for name in {name for name, _ in request.places}]


ROWS = (
    Row(api.Join, How.WAITS, of_group(Operation.READ), join),
    Row(api.Sync, How.WAITS, of_group(Operation.READ), sync),
    Row(api.Heartbeat, How.AT_ONCE, of_group(Operation.READ), heartbeat),
    Row(api.Polled, How.AT_ONCE, of_group(Operation.READ), polled),
    Row(api.Leave, How.AT_ONCE, of_group(Operation.READ), leave),
    Row(api.Commit, How.AT_ONCE, of_group(Operation.READ), commit),
    Row(api.Keep, How.SLOW, nothing, keep),
    Row(api.Committed, How.AT_ONCE, of_group(Operation.READ), committed),
    Row(api.ListGroups, How.AT_ONCE, nothing, list_groups),
    Row(api.DescribeGroup, How.AT_ONCE, of_group(Operation.READ, "name"), describe),
    Row(api.DeleteGroup, How.SLOW, of_group(Operation.ADMIN, "name"), delete),
    Row(api.ResetOffsets, How.SLOW, _reset_needs, reset),
)
