from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import msgspec

from broker_core.broker.broker import Broker
from broker_core.clients.effects import SqliteEffects
from broker_core.engine.loop import Loop
from broker_core.errors import BrokerError, ErrorCode, must
from broker_core.events import EventKind, EventStream
from broker_core.groups.offset_reset import Target
from broker_core.names import check_name
from broker_core.simulation.actor import Actor
from broker_core.simulation.alert_watch import AlertWatch
from broker_core.simulation.consumer import ConsumerActor
from broker_core.simulation.failure_rules import FailureRules
from broker_core.simulation.fault_injector import FaultInjector
from broker_core.simulation.specs import GroupSpec

USER = "user"

A = TypeVar("A", bound=Actor)


class SimulationContext(msgspec.Struct, eq=False):
    """`groups` are those that actors can join, by name, with what their members read.

    `begin_cleaning()` lets retention and compaction work from now on; `epoch_ms` is the Unix time of session time 0.
    """

    broker: Broker
    loop: Loop
    events: EventStream
    seed: int
    faults: FaultInjector
    rules: FailureRules
    actors: dict[str, Actor]
    groups: dict[str, GroupSpec]
    alerts: AlertWatch
    effects_of: Callable[[str], SqliteEffects]
    find_file: Callable[[str], Path]
    begin_cleaning: Callable[[], object]
    _epoch_ms: int

    @property
    def now_ns(self) -> int:
        return self.loop.now_ns

    def in_unix_time(self, target: Target) -> Target:
        """`target` of an action, whose timestamp is session time, as the broker takes it."""
        return msgspec.structs.replace(target, timestamp_ms=target.timestamp_ms + self._epoch_ms)

    # -- actors

    def actor(self, name: str) -> Actor:
        """Raises INVALID_REQUEST if nobody has that name."""
        found = self.actors.get(name)
        if found is None:
            raise BrokerError(ErrorCode.INVALID_REQUEST, self.why_not_ours(name))
        return found

    def why_not_ours(self, name: str) -> str:
        """Why nothing can be done to the client `name`: it belongs to another program, or is not there."""
        group = self.outside_group(name)
        if group:
            return f"{name} is another program's; its group.id is {group}: change that there and start it again"
        return f"there is no {name!r} among the clients of this session itself"

    def outside_group(self, client: str) -> str:
        """The group of a member that is another program's, on the bench or not; "" if there is none."""
        groups = self.broker.groups
        found = next((group for group in groups.groups() if client in groups.clients(group).values()), "")
        return found or self.broker.held.group_of(client)

    def members(self, group: str) -> list[ConsumerActor]:
        """The consumers that are in `group`, crashed ones too."""
        return [actor for actor in self.actors.values() if isinstance(actor, ConsumerActor) and actor.target == group]

    def group(self, name: str) -> GroupSpec:
        """Raises GROUP_ID_NOT_FOUND if no consumer of this session could join it."""
        return must(self.groups.get(name), ErrorCode.GROUP_ID_NOT_FOUND, name)

    def check_topic(self, name: str) -> None:
        """Raises UNKNOWN_TOPIC_OR_PARTITION."""
        if name not in self.broker.topics:
            raise BrokerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, name)

    def check_new_client(self, name: str) -> None:
        """Raises INVALID_REQUEST if nobody can get that name."""
        try:
            check_name(name, "client")
        except BrokerError as error:
            raise BrokerError(ErrorCode.INVALID_REQUEST, error.about) from None
        if name.lower() in {known.lower() for known in self.actors}:
            raise BrokerError(ErrorCode.INVALID_REQUEST, f"the name {name!r} is taken already")

    def free_name(self, name: str) -> str:
        """The next name like "indexer-5" that nobody has, where `name` is "indexer-4" or "indexer"."""
        head, _, tail = name.rpartition("-")
        base = head if tail.isdigit() and head else name
        taken = {known.lower() for known in self.actors}
        number = 2
        while f"{base}-{number}".lower() in taken:
            number += 1
        return f"{base}-{number}"

    def check_target(self, name: str) -> None:
        """Raises UNKNOWN_TOPIC_OR_PARTITION if `name` is neither a topic nor a queue of its own."""
        broker = self.broker
        queues = set(broker.queues.names()) - set(broker.queues.subscription_names())
        if name not in queues and name not in broker.topics:
            raise BrokerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, name)

    # -- adding and removing actors

    def add(self, actor: A) -> A:
        actor.attach(self.broker, self.loop, self.seed)
        actor.rules = self.rules
        self.enter(actor)
        return actor

    def enter(self, actor: Actor) -> None:
        self.actors[actor.name] = actor
        self.events.emit(self.now_ns, EventKind.CLIENT_STARTED, client=actor.name, detail={"role": actor.role})

    def remove(self, actor: Actor) -> None:
        self.actors.pop(actor.name, None)
        self.events.emit(self.now_ns, EventKind.CLIENT_STOPPED, client=actor.name, detail={"role": actor.role})
