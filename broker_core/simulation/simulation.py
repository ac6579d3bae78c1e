from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import msgspec

from broker_core.broker.broker import Broker
from broker_core.broker.handlers import HANDLERS
from broker_core.clock import ns_from_s
from broker_core.engine.loop import Loop
from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import NOT_DONE, SCENARIO, EventKind, EventStream
from broker_core.files import BreakableFiles, FileSystem, MemoryFiles
from broker_core.groups.config import GroupConfig
from broker_core.groups.offsets import OffsetStore
from broker_core.log.config import LogConfig
from broker_core.operations.catalogue import entry_of
from broker_core.operations.groups import SubscribeShareGroup
from broker_core.operations.queues import CreateQueue, CreateSubscription
from broker_core.operations.request import Request
from broker_core.operations.topics import CreateTopic, LogSettings
from broker_core.simulation.actions import UserAction
from broker_core.simulation.actions.faults import Fault, HoldSchedule, RuleAction
from broker_core.simulation.actor import Actor
from broker_core.simulation.arrivals import arrivals
from broker_core.simulation.client_counts import ClientCounts, ClientSettings, DescribeClient
from broker_core.simulation.consumer import ConsumerActor
from broker_core.simulation.context import SimulationContext
from broker_core.simulation.handlers import Performed, planners
from broker_core.simulation.producer import ProducerActor
from broker_core.simulation.scenario import Scenario
from broker_core.simulation.scenario_errors import fault
from broker_core.simulation.schedule import EventCount, ScheduledAction
from broker_core.simulation.specs import names_of
from broker_core.simulation.transactional_producer import producer_of
from broker_core.simulation.worker import ShareMemberActor, SubscriberActor, WorkerActor
from broker_core.snapshots import STAYS_AFTER_THE_END, Snapshot, Totals

A = TypeVar("A", bound=Actor)
T = TypeVar("T")


class Simulation:
    """Runs one scenario. Everything that happens follows from the scenario, the seed and the actions."""

    def __init__(
        self,
        scenario: Scenario,
        *,
        files: FileSystem | None = None,
        offsets_path: str = ":memory:",
        find_file: Callable[[str], Path] = Path,
        seed: int | None = None,
        epoch_ms: int = 0,
    ) -> None:
        """`files` holds the logs (in memory if none are given), `offsets_path` is the SQLite file for offsets.

        `find_file` finds sample data; `epoch_ms` is the Unix time of session time 0.
        """
        self.scenario = scenario
        self.seed = scenario.seed if seed is None else seed
        self.loop = Loop()
        self.events = EventStream()
        self._counts = ClientCounts()
        self.events.attach(self._counts)
        breakable = BreakableFiles(MemoryFiles() if files is None else files)
        self.broker = Broker(
            breakable,
            self.loop.timers,
            self.events,
            OffsetStore(offsets_path),
            handlers=HANDLERS,
            log_config=LogConfig(durability=scenario.durability),
            group_config=GroupConfig(
                initial_rebalance_delay_ms=scenario.rebalance_delay_ms,
                consumer_session_timeout_ms=scenario.consumer_session_timeout_ms,
                consumer_heartbeat_interval_ms=scenario.consumer_heartbeat_interval_ms,
            ),
            epoch_ms=epoch_ms,
        )
        self.context = SimulationContext(
            self.broker, self.loop, self.events, breakable, seed=self.seed, find_file=find_file, epoch_ms=epoch_ms
        )
        self.context.groups.update((group.name, group) for group in scenario.groups)
        self.actors = self.context.actors
        self._plans = planners(self.context)
        self.broker.complete = self._complete
        self._waiting: list[Actor] = []
        self._started = False
        self._event_count = EventCount(self.loop)
        self._on_action: list[Callable[[int, dict[str, object]], object]] = []

    def on_action(self, listener: Callable[[int, dict[str, object]], object]) -> None:
        """`listener(time_ns, action)` gets every action of the user, as plain values.

        Besides the action's own fields these hold `step`, which says exactly where in the run it came; see `replay`.
        """
        self._on_action.append(listener)

    def add(self, actor: A) -> A:
        """Add an actor, which begins with the others, or at once if they have. Raises INVALID_REQUEST: a taken name."""
        if self.context.is_taken(actor.name) or actor.name.lower() in {each.name.lower() for each in self._waiting}:
            raise BrokerError(ErrorCode.INVALID_REQUEST, f"the name {actor.name!r} is already taken")
        if self._started:
            self.context.add(actor).start()
        else:
            self._waiting.append(actor)
        return actor

    def start(self) -> None:
        """Create everything and let the actors begin. Call it once, after the sinks are attached."""
        self._started = True
        if any(scheduled.after_events for scheduled in self.scenario.schedule):
            self.events.attach(self._event_count)
        now_ns, scenario = self.loop.now_ns, self.scenario
        self.events.emit(now_ns, EventKind.SESSION_STARTED, detail={"scenario": scenario.title, "seed": self.seed})
        self._create(now_ns)
        self.broker.corruption.update(now_ns, self.broker.durability.all_logs())
        for consumer in scenario.consumers:
            for name in names_of(consumer):
                joining = self.context.add(ConsumerActor(name, consumer, self.context.effects_of))
                if consumer.group:
                    joining.join(self.context.groups[consumer.group])
        for worker in scenario.workers:
            for name in names_of(worker):
                self.context.add(WorkerActor(name, worker)).start()
        for spec in scenario.producers:
            producer = self.context.add(producer_of(spec))
            producer.feed(arrivals(spec.arrivals, producer.numbers, self.context.find_file))
            producer.start()
        for actor in self._waiting:
            self.context.add(actor).start()
        for scheduled in scenario.schedule:
            ScheduledAction(scheduled, self.loop, self._event_count, self.context.faults.postpone, self._do_scheduled)
        for alert in scenario.alerts:
            self.context.alerts.set(now_ns, alert)
        if any(topic.log is not None for topic in scenario.topics):
            self.context.begin_cleaning()

    def _create(self, now_ns: int) -> None:
        scenario = self.scenario
        for schema in scenario.schemas:
            self.broker.schemas.registry.set_compatibility(schema.compatibility, schema.subject)
            self.broker.schemas.registry.register(schema.subject, schema.text, schema.kind)
        kept = LogConfig(durability=scenario.durability, segment_ms=None)
        for topic in scenario.topics:
            create = CreateTopic(
                name=topic.name,
                partitions=topic.partitions,
                partitioner=topic.partitioner,
                flow=topic.flow,
                log=LogSettings.of(None if topic.log is None else topic.log.on(kept)),
                rule=topic.schema,
            )
            self.broker.handle(now_ns, create)
        for index, queue in enumerate(scenario.queues):
            self.broker.queues.jitter_seed = self.seed + index
            self.broker.handle(now_ns, CreateQueue(name=queue.name, settings=queue.config, flow=queue.flow))
        self.broker.queues.jitter_seed = 0
        for spec in scenario.subscribers:
            for source, name in spec.subscriptions.items():
                subscribe = CreateSubscription(
                    name=name, topic=source, settings=spec.config, max_messages=spec.backlog, policy=spec.policy
                )
                self.broker.handle(now_ns, subscribe)
            for name in names_of(spec):
                self.context.add(SubscriberActor(spec, name)).start()
        for group in scenario.share_groups:
            configs = self.broker.groups.configs
            configs.set(group.name, group.config(configs.default))
            for source in group.topics:
                self.broker.handle(now_ns, SubscribeShareGroup(group=group.name, topic=source))
            for name in names_of(group):
                self.context.add(ShareMemberActor(group, name)).start()
        self.broker.queues.jitter_seed = self.seed

    def _do_scheduled(self, action: UserAction) -> None:
        try:
            self.events.acting = SCENARIO
            self._do(action, record=False)
        except BrokerError as error:
            # An action of the user may have made it impossible; the session goes on and reports it.
            client, cause = getattr(action, "client", ""), f"{NOT_DONE}: {error}"
            self.events.emit(self.loop.now_ns, EventKind.FAULT, client=client, cause=cause)
        finally:
            self.events.acting = ""

    def run(self, until_s: float | None = None) -> None:
        """Run up to and including `until_s`, the end of the scenario if none is given, as fast as it goes."""
        if not self._started:
            self.start()
        self.loop.run_until(ns_from_s(self.scenario.until_s if until_s is None else until_s))

    # -- actions of the user

    def perform(self, action: UserAction) -> Performed:
        """Do and record `action`. Raises one `BrokerError`, and has changed nothing, if it cannot be done now."""
        return self._do(_as_recorded(action), record=True)

    def ask(self, request: Request[T]) -> T:
        """The answer to a request that changes nothing. Raises its errors, and INVALID_REQUEST for another request."""
        if isinstance(request, DescribeClient):
            actor = self.context.actor(request.client)
            rate_per_s = actor.rate_per_s if isinstance(actor, ProducerActor) else None
            return cast(T, ClientSettings(rate_per_s=rate_per_s, takes=actor.processing_time))
        if not entry_of(request).only_asks(request):
            raise BrokerError(ErrorCode.INVALID_REQUEST, f"{type(request).__name__} is not a query")
        return self.broker.handle(self.loop.now_ns, request).result()

    def _do(self, action: UserAction, *, record: bool) -> Performed:
        plan = self._plans[type(action)](action)
        done, said = plan.action, None
        if plan.reported:
            said = plan.do()
        elif record or not isinstance(done, Fault | RuleAction):
            # The action comes before its effects in the stream. A scheduled fault has no event but its effect.
            detail: dict[str, Any] = msgspec.to_builtins(done)
            if isinstance(done, HoldSchedule):
                detail["by"] = SCENARIO  # the lesson does it, not the user
            self.events.emit_action(self.loop.now_ns, client=plan.client, cause=done.sentence, detail=detail)
        for listener in self._on_action if record else ():
            listener(self.loop.now_ns, {**msgspec.to_builtins(done), "step": self.loop.steps})
        if not plan.reported:
            said = plan.do()
        return Performed(done, said if isinstance(said, str) else done.sentence, plan.inverse, plan.final)

    # -- what is seen

    def totals(self) -> Totals:
        return self.broker.views.totals()

    def snapshot(self, *, max_leases: int = 1_000, max_dead_letters: int = 1_000) -> Snapshot:
        return self.broker.snapshot(self.loop.now_ns, max_leases=max_leases, max_dead_letters=max_dead_letters)

    def _complete(self, snapshot: Snapshot) -> Snapshot:
        # Groups in the order of the scenario; those that came later follow.
        places = {name: place for place, name in enumerate(self.context.groups)}
        actors = (*(actor.view() for actor in self.actors.values()), *snapshot.actors)
        return msgspec.structs.replace(
            snapshot,
            groups=tuple(sorted(snapshot.groups, key=lambda group: places.get(group.name, len(places)))),
            actors=tuple(map(self._counts.counted, actors)),
            faults=(*self.context.faults.lasting.views(), *self.context.rules.lasting.views(), *snapshot.faults),
        )

    def flush(self) -> None:
        """Write what is pending, as an engine does once in every tick."""
        self.broker.offsets.store.flush()

    def end(self) -> None:
        for actor in self.actors.values():
            if actor.state not in STAYS_AFTER_THE_END:
                actor.enter("stopped")
        self.events.emit(self.loop.now_ns, EventKind.SESSION_ENDED)

    def close(self) -> None:
        self.loop.close()
        self.context.close()
        self.broker.close()


def _as_recorded(action: UserAction) -> UserAction:
    """The action as read back from its record: 5 seconds become 5.0. Raises INVALID_REQUEST for a wrong value."""
    plain = msgspec.to_builtins(action)
    try:
        found: UserAction = msgspec.convert(plain, UserAction)
    except msgspec.ValidationError as error:
        _path, sentence = fault(error, plain, UserAction, "the action")
        raise BrokerError(ErrorCode.INVALID_REQUEST, sentence.rstrip(".")) from None
    return found
