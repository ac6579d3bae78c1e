"""Members that belong to other programs, on the bench: out of their group, and their next join is held."""

from __future__ import annotations

import msgspec

from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import EventKind, EventStream
from broker_core.faults.client_faults import ClientFault, ClientFaults
from broker_core.faults.kafka_names import JOIN
from broker_core.groups.coordinator import GroupCoordinator
from broker_core.replies import Reply
from broker_core.snapshots import ActorView


class _HeldMember(msgspec.Struct):
    group: str
    fault: str
    since_ns: int


class HeldMembers:
    """The program sees a rebalance that takes long: UNKNOWN_MEMBER_ID, and a join that waits until it is released."""

    def __init__(self, groups: GroupCoordinator, faults: ClientFaults, events: EventStream) -> None:
        self._groups = groups
        self._faults = faults
        self._events = events
        self._held: dict[str, _HeldMember] = {}

    def group_of(self, client: str) -> str:
        """The group that `client` is held out of; "" if it is not on the bench."""
        held = self._held.get(client)
        return "" if held is None else held.group

    def hold(self, now_ns: int, client: str, group: str) -> None:
        """Put `client`, a member of `group`, out of it, and hold its next join.

        Raises INVALID_REQUEST if it is held already, UNKNOWN_MEMBER_ID if it is no member.
        """
        if client in self._held:
            raise BrokerError(ErrorCode.INVALID_REQUEST, f"{client} is already held; release it first")
        self._must_be_member(client, group)
        # Where two members share a client.id, an ending tells them apart (listeners/kafka/members.py).
        client_id = client.partition("#")[0]
        fault = self._faults.begin(now_ns, ClientFault(effect="hold", client=client_id, group=group, api=JOIN))
        self._held[client] = _HeldMember(group, fault.name, now_ns)
        self._faults.ended(fault.name).then(lambda ended: self._released(ended.result(), client))
        detail = {"role": "consumer", "held_from": group}
        self._events.emit(now_ns, EventKind.CLIENT_STARTED, client=client, detail=detail)
        self.kick(now_ns, client, group, f"{client} was moved to the bench")

    def until_released(self, client: str, group: str) -> Reply[int] | None:
        """A reply that is settled when `client` may join `group`; None if it may now. Joins of Kafka's clients are held
        by the fault.
        """
        held = self._held.get(client)
        return None if held is None or held.group != group else self._faults.ended(held.fault)

    def release(self, now_ns: int, client: str, group: str) -> None:
        """Let the join of `client` be served. Raises INVALID_REQUEST if it is not held outside `group`."""
        held = self._held.get(client)
        if held is None or held.group != group:
            raise BrokerError(ErrorCode.INVALID_REQUEST, f"{client} is not held outside group {group}")
        self._faults.end(now_ns, held.fault)

    def kick(self, now_ns: int, client: str, group: str, cause: str = "") -> None:
        """Remove `client` from `group`; its next request gets an error, and it may join again.

        Raises UNKNOWN_MEMBER_ID if it is no member.
        """
        for member_id in self._must_be_member(client, group):
            self._groups.leave(now_ns, group, member_id, cause or f"{client} was removed")

    def views(self) -> tuple[ActorView, ...]:
        return tuple(
            ActorView(client, "consumer", "idle", "", (), 0, 0, held.since_ns, held_from=held.group)
            for client, held in self._held.items()
        )

    def _must_be_member(self, client: str, group: str) -> list[str]:
        found = [member_id for member_id, name in self._groups.clients(group).items() if name == client]
        if not found:
            raise BrokerError(ErrorCode.UNKNOWN_MEMBER_ID, f"group {group} has no member {client}")
        return found

    def _released(self, now_ns: int, client: str) -> None:
        del self._held[client]
        self._events.emit(now_ns, EventKind.CLIENT_STOPPED, client=client, detail={"role": "consumer"})
