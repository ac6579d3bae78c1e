from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path
from typing import TypeVar

import msgspec

from broker_core.broker.broker import Broker
from broker_core.broker.occurrences import BrokerState
from broker_core.clients.effects import SqliteEffects
from broker_core.clock import NS_PER_S
from broker_core.engine.loop import Loop
from broker_core.errors import BrokerError, ErrorCode, must
from broker_core.events import EventKind, EventStream
from broker_core.files import BreakableFiles
from broker_core.groups.offset_reset import Target
from broker_core.names import check_name
from broker_core.operations.request import Request
from broker_core.simulation.actor import Actor
from broker_core.simulation.alert_watch import AlertWatch
from broker_core.simulation.consumer import ConsumerActor
from broker_core.simulation.fault_injector import FaultInjector
from broker_core.simulation.lasting_faults import FailureRules, LastingFaults
from broker_core.simulation.specs import GroupSpec

USER = "user"
CLEAN_EVERY_NS = NS_PER_S
SLICES_PER_CLEANING = 16  # of compaction: a mebibyte a second, which no scenario comes near

A = TypeVar("A", bound=Actor)
T = TypeVar("T")


class SimulationContext:
    """The contents of a simulation. `groups` are those that actors can join, by name, with the topics that their
    members read."""

    def __init__(
        self,
        broker: Broker,
        loop: Loop,
        events: EventStream,
        files: BreakableFiles,
        *,
        seed: int,
        find_file: Callable[[str], Path],
        epoch_ms: int,
    ) -> None:
        """`files` are those of the broker; `epoch_ms` is the Unix time of session time 0."""
        self.broker, self.loop, self.events = broker, loop, events
        self.seed, self.find_file, self._epoch_ms = seed, find_file, epoch_ms
        self.actors: dict[str, Actor] = {}
        self.groups: dict[str, GroupSpec] = {}
        self.faults = FaultInjector(loop, LastingFaults(loop, events), self.actors, files)
        self.rules = FailureRules(self.faults.do, LastingFaults(loop, events))
        self.alerts = AlertWatch(loop.timers, events, partial(BrokerState, broker, self.actors))
        self._databases: dict[str, sqlite3.Connection] = {}
        self._cleaning = False

    @property
    def now_ns(self) -> int:
        return self.loop.now_ns

    def handle(self, request: Request[T]) -> T:
        """The result of an operation of the catalogue that the user asks for."""
        return self.broker.handle(self.now_ns, request, USER).result()

    def effects_of(self, group: str) -> SqliteEffects:
        """The database in which the application of `group` keeps what it has done."""
        if group not in self._databases:
            # Built and run in different threads, never at the same time.
            self._databases[group] = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        return SqliteEffects(self._databases[group], group)

    def begin_cleaning(self) -> None:
        """Let retention and compaction work from now on."""
        if not self._cleaning:
            self._cleaning = True
            self._clean(self.now_ns)

    def _clean(self, now_ns: int) -> None:
        # A full disk is no reason to stop: the next time may succeed.
        with contextlib.suppress(BrokerError):
            self.broker.cleaning.clean(now_ns)
            for _ in range(SLICES_PER_CLEANING):
                if not self.broker.cleaning.compact(now_ns):
                    break
        self.loop.timers.at(now_ns + CLEAN_EVERY_NS, self._clean)

    def close(self) -> None:
        for database in self._databases.values():
            database.close()

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
            return (
                f"{name} belongs to another program, whose group.id is {group}: change it there and restart the program"
            )
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
        if self.is_taken(name):
            raise BrokerError(ErrorCode.INVALID_REQUEST, f"the name {name!r} is already taken")

    def is_taken(self, name: str) -> bool:
        return name.lower() in {known.lower() for known in self.actors}

    def free_name(self, name: str) -> str:
        """The next name like "indexer-5" that nobody has, if `name` is "indexer-4" or "indexer"."""
        head, _, tail = name.rpartition("-")
        base = head if tail.isdigit() and head else name
        return next(new for number in count(2) if not self.is_taken(new := f"{base}-{number}"))

    def check_target(self, name: str) -> None:
        """Raises UNKNOWN_TOPIC_OR_PARTITION if `name` is neither a topic nor a queue of its own."""
        broker = self.broker
        queues = set(broker.queues.names()) - set(broker.queues.subscription_names())
        if name not in queues and name not in broker.topics:
            raise BrokerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, name)

    # -- adding and removing actors

    def add(self, actor: A) -> A:
        actor.attach(self.broker, self.loop, self.rules, self.seed)
        self.enter(actor)
        return actor

    def enter(self, actor: Actor) -> None:
        self.actors[actor.name] = actor
        self.events.emit(self.now_ns, EventKind.CLIENT_STARTED, client=actor.name, detail={"role": actor.role})

    def remove(self, actor: Actor) -> None:
        self.actors.pop(actor.name, None)
        self.events.emit(self.now_ns, EventKind.CLIENT_STOPPED, client=actor.name, detail={"role": actor.role})
