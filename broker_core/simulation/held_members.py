"""Members that belong to other programs, on the bench: out of their group, and their next join is held."""

from __future__ import annotations

import msgspec

from broker_core.broker.broker import Broker
from broker_core.engine.loop import Loop
from broker_core.events import EventKind, EventStream
from broker_core.faults.client_fault import ClientFault
from broker_core.faults.kafka_apis import JOIN
from broker_core.snapshots import ActorView


class _Held(msgspec.Struct):
    group: str
    fault: str
    since_ns: int


class HeldMembers:
    """The program sees a rebalance that takes long: UNKNOWN_MEMBER_ID, and a join that waits until it is released."""

    def __init__(self, broker: Broker, loop: Loop, events: EventStream) -> None:
        self._broker = broker
        self._loop = loop
        self._events = events
        self._held: dict[str, _Held] = {}

    def group_of(self, client: str) -> str:
        """The group that `client` is held out of; "" where it is not on the bench."""
        held = self._held.get(client)
        return "" if held is None else held.group

    def hold(self, client: str, group: str) -> None:
        """Put `client`, a member of `group`, out of it, and hold its next join."""
        now_ns, broker = self._loop.now_ns, self._broker
        # Where two members share a client.id, an ending tells them apart (listeners/kafka/members.py).
        client_id = client.partition("#")[0]
        fault = broker.client_faults.begin(
            now_ns,
            ClientFault(effect="hold", client=client_id, group=group, api=JOIN),
        )
        self._held[client] = _Held(group, fault.name, now_ns)
        broker.client_faults.over(fault.name).then(lambda _over: self._released(client))
        self._events.emit(now_ns, EventKind.CLIENT_STARTED, client=client, detail={"role": "consumer"})
        for member_id, name in broker.groups.clients(group).items():
            if name == client:
                broker.groups.leave(now_ns, group, member_id, f"{client} was moved to the bench")

    def release(self, client: str) -> None:
        """Let the join of `client` be served."""
        self._broker.client_faults.end(self._loop.now_ns, self._held[client].fault)

    def views(self) -> tuple[ActorView, ...]:
        """As the bench shows them."""
        return tuple(
            ActorView(client, "consumer", "idle", "", (), 0, 0, held.since_ns) for client, held in self._held.items()
        )

    def _released(self, client: str) -> None:
        del self._held[client]
        self._events.emit(self._loop.now_ns, EventKind.CLIENT_STOPPED, client=client, detail={"role": "consumer"})
