"""Translates actions in a session into requests to the observed broker."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from broker_core.errors import BrokerError, ErrorCode, must
from broker_core.operations import clock
from broker_core.operations.catalogue import CATALOGUE
from broker_core.operations.faults import BeginFault, EndFault
from broker_core.operations.groups import HoldMember, ReleaseMember
from broker_core.operations.messages import PublishBatch, PublishMessages, Record, SendMessages
from broker_core.operations.queues import SettleLease
from broker_core.operations.request import Request
from broker_core.simulation.actions import UserAction, access, dead_letters, faults, groups, queues, topics
from broker_core.simulation.actions.action import Action
from broker_core.snapshots import Snapshot


class AdvanceClock(clock.AdvanceClock, Action, frozen=True, kw_only=True, tag="advance_clock"):
    """Moves the clock of a broker elsewhere that is opened for tests; a session that runs here has its engine's."""

    says = "moved the clock on by {by_ms:g} ms"


_CATALOGUE: Final = {entry.request for entry in CATALOGUE}


def kind_requested(action: type[Any]) -> type[Request[Any]] | None:
    """The kind of request that an action of this type is; None if only a session that runs here can do it."""
    other = _OTHERS.get(action)
    return other[0] if other is not None else next((each for each in action.__mro__ if each in _CATALOGUE), None)


def requested(action: UserAction, latest: Snapshot, epoch_ms: int) -> Request[Any]:
    """The request for it, where the session is as in `latest` and began at `epoch_ms`, in Unix time.

    Raises INVALID_REQUEST for what cannot be requested.
    """
    why = "this is possible only in a session that runs in this window"
    kind = must(kind_requested(type(action)), ErrorCode.INVALID_REQUEST, why)
    other = _OTHERS.get(type(action))
    if other is not None:
        return other[1](action, latest)
    fields = {name: getattr(action, name) for name in kind.__struct_fields__}
    if isinstance(action, groups.ResetOffsets) and action.form == "timestamp":
        fields["timestamp_ms"] += epoch_ms
    return kind(**fields)


def stopped_for(action: UserAction, latest: Snapshot) -> list[dict[str, str]]:
    """The group and client of each member that stops before it, and starts again after it."""
    if not isinstance(action, groups.ResetOffsets) or not action.restart_members:
        return []
    members = (member for group in latest.groups if group.name == action.group for member in group.members)
    return [{"group": action.group, "client": client} for client in sorted({member.client for member in members})]


def undone_by(action: UserAction) -> UserAction | None:
    """The action that undoes it; None if there is none."""
    if isinstance(action, groups.SetOffsets):
        return groups.SetOffsets(group=action.group, plan=action.plan.undo())
    found = _UNDO.get(type(action))
    return None if found is None else found(queue=action.queue)  # type: ignore[attr-defined]


def tells_itself(action: UserAction) -> bool:
    """Whether the broker has an event that says that a person did it."""
    return type(action) in _TOLD


def _moved(action: groups.MoveConsumer, latest: Snapshot) -> Request[None]:
    if action.group:
        return ReleaseMember(group=action.group, client=action.consumer)
    of = {member.client: group.name for group in latest.groups for member in group.members}
    return HoldMember(group=of.get(action.consumer, ""), client=action.consumer)


def _sent(action: topics.Produce, latest: Snapshot) -> Request[Any]:
    if action.rate_per_s is not None:
        raise BrokerError(
            ErrorCode.INVALID_REQUEST, "sending at a rate is possible only in a session that runs in this window"
        )
    records = []
    for number in range(action.count):
        value = action.value
        if value is not None and action.count > 1 and action.encoding == "utf-8":
            value = value.replace("$number", str(number))
        records.append(
            Record(
                value=value,
                key=action.key,
                headers=dict(action.headers) or None,
                encoding="base64" if action.encoding == "base64" else "text",
                partition=action.partition,
                ttl_ms=action.ttl_ms,
                priority=action.priority,
            )
        )
    batch = PublishBatch(messages=records)
    if any(queue.name == action.to for queue in latest.queues):
        return SendMessages(queue=action.to, batch=batch)
    return PublishMessages(topic=action.to, batch=batch)


_OTHERS: Final[dict[type[Any], tuple[type[Request[Any]], Callable[[Any, Snapshot], Request[Any]]]]] = {
    groups.MoveConsumer: (HoldMember, _moved),
    topics.Produce: (PublishMessages, _sent),
    faults.BreakRequests: (BeginFault, lambda action, _latest: action.fault),
    **dict.fromkeys(
        (queues.AckLease, queues.NackLease, queues.ExtendLease, queues.ReleaseLease),
        (SettleLease, lambda action, _latest: action.request),
    ),
    faults.EndRequestFault: (EndFault, lambda action, _latest: EndFault(fault=action.name)),
}
#: Actions of which the broker has an event of its own.
_TOLD: Final = {
    access.CreateAcls,
    access.DeleteAcls,
    access.SetQuota,
    access.RemoveQuota,
    access.DeleteUser,
    AdvanceClock,
    groups.ConfigureGroup,
    topics.ConfigureTopic,
    dead_letters.RedriveTopic,
    topics.RegisterSchema,
    groups.SetOffsets,
    dead_letters.StopTopicRedrive,
    queues.UndoPurgeQueue,
    dead_letters.UndoPurgeDeadLetters,
    dead_letters.UndoRedrive,
}
_UNDO: Final[dict[type[Any], Callable[..., UserAction]]] = {
    dead_letters.Redrive: dead_letters.UndoRedrive,
    queues.PurgeQueue: queues.UndoPurgeQueue,
    dead_letters.PurgeDeadLetters: dead_letters.UndoPurgeDeadLetters,
}
