"""A scenario at work: a broker, its actors, and what a person does to them, in session time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from broker_core.broker import Broker
from broker_core.clients.consumer import ConsumerConfig
from broker_core.engine.loop import Loop
from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import EventKind, EventStream
from broker_core.files import FileSystem
from broker_core.groups.config import GroupConfig
from broker_core.groups.offsets import OffsetStore
from broker_core.lab.actions import MoveConsumer, Redrive, UserAction
from broker_core.lab.actor import Actor
from broker_core.lab.arrivals import arrivals
from broker_core.lab.consumer import ConsumerActor
from broker_core.lab.producer import ProducerActor
from broker_core.lab.scenario import ConsumerSpec, GroupSpec, Scenario, numbered
from broker_core.lab.worker import WorkerActor
from broker_core.log.config import LogConfig
from broker_core.names import check_name
from broker_core.snapshots import Snapshot, Totals

USER = "user"
# Long enough to be seen, and to let a few consumers that start together join as one.
INITIAL_REBALANCE_DELAY_MS = 600


class Simulation:
    """Runs one scenario. Everything that happens follows from the scenario, the seed and the actions."""

    def __init__(
        self,
        scenario: Scenario,
        *,
        files: FileSystem,
        offsets_path: str,
        find_file: Callable[[str], Path],
        seed: int | None = None,
        epoch_ms: int = 0,
    ) -> None:
        """`files` holds the logs, `offsets_path` is the SQLite file for offsets or ":memory:"; `find_file` finds sample data."""
        self.scenario = scenario
        self.seed = scenario.seed if seed is None else seed
        self.loop = Loop()
        self.events = EventStream()
        self.broker = Broker(
            files,
            self.loop.timers,
            self.events,
            OffsetStore(offsets_path),
            log_config=LogConfig(durability=scenario.durability),
            group_config=GroupConfig(initial_rebalance_delay_ms=INITIAL_REBALANCE_DELAY_MS),
            epoch_ms=epoch_ms,
        )
        self._find_file = find_file
        self._groups: dict[str, GroupSpec] = {group.name: group for group in scenario.groups}
        self.actors: dict[str, Actor] = {}
        self._on_action: list[Callable[[int, dict[str, object]], object]] = []

    def on_action(self, listener: Callable[[int, dict[str, object]], object]) -> None:
        """`listener(time_ns, action)` is told of every action, as plain values."""
        self._on_action.append(listener)

    def start(self) -> None:
        """Create everything and let the actors begin, at the present time. Call it once, after the sinks are attached."""
        now_ns, scenario = self.loop.now_ns, self.scenario
        self.events.emit(now_ns, EventKind.SESSION_STARTED, detail={"scenario": scenario.title, "seed": self.seed})
        for topic in scenario.topics:
            self.broker.create_topic(
                now_ns, topic.name, topic.partitions, partitioner=topic.partitioner, flow=topic.flow
            )
        for index, queue in enumerate(scenario.queues):
            self.broker.create_queue(now_ns, queue.name, queue.config, flow=queue.flow, jitter_seed=self.seed + index)
        for consumer in scenario.consumers:
            self._start_consumers(consumer)
        for spec in scenario.workers:
            for name in numbered(spec):
                self._add(WorkerActor(name, self.broker, self.loop, self.seed, spec)).start()
        for producer in scenario.producers:
            actor = ProducerActor(producer.name, self.broker, self.loop, self.seed, producer.to)
            actor.feed(arrivals(producer.arrivals, actor.numbers, self._find_file))
            self._add(actor).start()

    def _start_consumers(self, spec: ConsumerSpec) -> None:
        for name in numbered(spec):
            actor = ConsumerActor(name, self.broker, self.loop, self.seed, spec.processing, spec.max_poll_messages)
            self._add(actor)
            if spec.group:
                self._join(actor, self._groups[spec.group])

    def _add(self, actor: Actor) -> Actor:
        self.actors[actor.name] = actor
        self.events.emit(self.loop.now_ns, EventKind.CLIENT_STARTED, client=actor.name, detail={"role": actor.role})
        return actor

    def _join(self, actor: ConsumerActor, group: GroupSpec) -> None:
        config = ConsumerConfig(
            assignor=group.assignor,
            session_timeout_ms=group.session_timeout_ms,
            heartbeat_interval_ms=group.heartbeat_interval_ms,
            rebalance_timeout_ms=group.rebalance_timeout_ms,
        )
        actor.join(group.name, group.topics, config)

    # -- what a person does

    def perform(self, action: UserAction) -> str:
        """Do `action` now, record it, and say in a sentence what was done. Raises `BrokerError` where it cannot be done."""
        match action:
            case MoveConsumer():
                sentence = self._move(action)
            case Redrive():
                sentence = self._redrive(action)
        return sentence

    def _record(self, action: UserAction, sentence: str, client: str = "") -> None:
        detail = msgspec.to_builtins(action)
        self.events.emit(self.loop.now_ns, EventKind.USER_ACTION, client=client, cause=sentence, detail=detail)
        for listener in self._on_action:
            listener(self.loop.now_ns, detail)

    def _move(self, action: MoveConsumer) -> str:
        actor = self.actors.get(action.consumer)
        if not isinstance(actor, ConsumerActor):
            raise BrokerError(ErrorCode.INVALID_REQUEST, f"{action.consumer!r} is not a consumer of this session")
        if actor.target == action.group:
            where = f"in {action.group}" if action.group else "on the bench"
            raise BrokerError(ErrorCode.INVALID_REQUEST, f"{actor.name} is {where} already")
        if not action.group:
            self._record(action, action.sentence, actor.name)
            actor.leave()
            return action.sentence
        group = self._groups.get(action.group) or self._new_group(check_name(action.group, "group"), actor)
        self._record(action, action.sentence, actor.name)
        self._join(actor, group)
        return action.sentence

    def _new_group(self, name: str, actor: ConsumerActor) -> GroupSpec:
        """A group that reads what the consumer read last, or, from the bench, what the scenario's first group reads."""
        known = list(self._groups.values())
        if not known:
            raise BrokerError(
                ErrorCode.INVALID_REQUEST, f"group {name!r} would read nothing: this scenario has no groups"
            )
        model = self._groups.get(actor.last_group, known[0])
        group = self._groups[name] = msgspec.structs.replace(model, name=name)
        return group

    def _redrive(self, action: Redrive) -> str:
        if not action.offsets:
            raise BrokerError(ErrorCode.INVALID_REQUEST, "no dead letters are selected")
        # The action stands before its effects in the stream.
        self._record(action, action.sentence)
        result = self.broker.redrive(self.loop.now_ns, action.queue, action.offsets, client=USER)
        if not result.refused:
            return action.sentence
        first = result.refused[0]
        return (
            f"redrove {len(result.redriven)} of {len(action.offsets)} dead letters of {action.queue}; "
            f"the one at {first.offset} stays: {first.error}"
        ).rstrip(".")

    # -- what is seen

    def totals(self) -> Totals:
        """The broker's own counters."""
        return self.broker.totals()

    def snapshot(self, *, max_leases: int = 1_000, max_dead_letters: int = 1_000) -> Snapshot:
        """The state at the loop's present time."""
        now_ns = self.loop.now_ns
        topics, groups, queues = self.broker.views(now_ns, max_leases=max_leases, max_dead_letters=max_dead_letters)
        # As the scenario names them, for that is the order in which they are told; groups that came later follow.
        places = {name: place for place, name in enumerate(self._groups)}
        groups = tuple(sorted(groups, key=lambda group: places.get(group.name, len(places))))
        return Snapshot(
            time_ns=now_ns,
            events=self.events.count,
            topics=topics,
            groups=groups,
            queues=queues,
            actors=tuple(actor.view() for actor in self.actors.values()),
            rebalances=tuple(self.broker.groups.rebalances),
            totals=self.totals(),
        )

    def flush(self) -> None:
        """Write what is pending, as an engine does once in every tick."""
        self.broker.flush()

    def end(self) -> None:
        """Say that the session is over; what is in flight stays in flight."""
        self.events.emit(self.loop.now_ns, EventKind.SESSION_ENDED)

    def close(self) -> None:
        """Give back files and the offset store."""
        self.broker.close()
