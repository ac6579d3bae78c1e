from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial

import msgspec

from broker_core.clock import NS_PER_S
from broker_core.errors import ArrivalError
from broker_core.simulation.actions import clients
from broker_core.simulation.actions.action import Action
from broker_core.simulation.actions.topics import Produce
from broker_core.simulation.actor import Actor
from broker_core.simulation.arrivals import RateArrivals, arrivals
from broker_core.simulation.consumer import ConsumerActor
from broker_core.simulation.context import SimulationContext
from broker_core.simulation.handlers.plan import Handler, Plan, needed, refuse
from broker_core.simulation.producer import ProducerActor
from broker_core.simulation.specs import ConsumerSpec, ProducerSpec, WorkerSpec
from broker_core.simulation.transactional_producer import producer_of
from broker_core.simulation.worker import ShareMemberActor, WorkerActor


class ClientHandler(Handler):
    """Removed actors are kept, so that an undo can bring them back."""

    def __init__(self, context: SimulationContext) -> None:
        super().__init__(context)
        self._removed: dict[str, Actor] = {}

    # -- in

    def _add_consumer(self, action: clients.AddConsumer) -> Plan:
        self._context.check_new_client(action.consumer)
        if action.group:
            self._context.group(action.group)
        fields = msgspec.structs.asdict(action)
        name, group = fields.pop("consumer"), fields.pop("group")
        spec = ConsumerSpec(name=name, **fields)
        return self._plan(action, name, lambda: self._enter_consumer(name, spec, group))

    def _enter_consumer(self, name: str, spec: ConsumerSpec, group: str) -> None:
        actor = self._context.add(ConsumerActor(name, spec, self._context.effects_of))
        if group:
            actor.join(self._context.groups[group])

    def _add_producer(self, action: clients.AddProducer) -> Plan:
        self._context.check_new_client(action.producer)
        self._context.check_target(action.to)
        try:
            next(arrivals(action.arrivals, random.Random(0), self._context.find_file), None)
        except ArrivalError as error:
            raise refuse(str(error).rstrip(".")) from error
        fields = msgspec.structs.asdict(action)
        spec = ProducerSpec(name=fields.pop("producer"), **fields)
        return self._plan(action, action.producer, lambda: self._enter_producer(spec, None))

    def _enter_producer(self, spec: ProducerSpec, rate_per_s: float | None) -> None:
        actor = self._context.add(producer_of(spec))
        coming = arrivals(spec.arrivals, actor.numbers, self._context.find_file)
        start_ns = self._context.now_ns
        actor.feed((start_ns + time_ns, message) for time_ns, message in coming)
        actor.set_rate(rate_per_s)
        actor.start()

    def _add_worker(self, action: clients.AddWorker) -> Plan:
        self._context.check_new_client(action.worker)
        self._context.broker.queues.queue(action.queue)
        fields = msgspec.structs.asdict(action)
        spec = WorkerSpec(name=fields.pop("worker"), **fields)
        return self._plan(action, action.worker, lambda: self._enter(WorkerActor(action.worker, spec)))

    def _enter(self, actor: Actor) -> None:
        self._context.add(actor).start()

    def _duplicate(self, action: clients.DuplicateClient) -> Plan:
        actor = self._context.actor(action.client)
        name = action.name or self._context.free_name(actor.name)
        self._context.check_new_client(name)
        match actor:
            case ConsumerActor():
                enter = partial(self._enter_consumer, name, actor.spec, actor.target)
            case ProducerActor():
                self._context.check_target(actor.target)
                spec = msgspec.structs.replace(actor.spec, name=name)
                enter = partial(self._enter_producer, spec, actor.rate_per_s)
            case WorkerActor():
                self._context.broker.queues.queue(actor.target)
                enter = partial(self._enter, WorkerActor(name, actor.spec))
            case ShareMemberActor():
                enter = partial(self._enter, ShareMemberActor(actor.share_group, name))
            case _:
                raise refuse(f"{actor.name} cannot be duplicated: what it reads was created only for it")

        def do() -> None:
            enter()
            self._context.actors[name].processing = actor.processing

        return self._plan(msgspec.structs.replace(action, name=name), name, do)

    @staticmethod
    def _plan(action: Action, name: str, do: Callable[[], object]) -> Plan:
        return Plan(action, do, clients.RemoveClient(name), client=name)

    def generate(self, action: Produce) -> Plan:
        """A producer for the messages of `action`, which goes when the last is sent."""
        name = self._context.free_name(action.client) if self._context.is_taken(action.client) else action.client
        self._context.check_new_client(name)
        action = msgspec.structs.replace(action, client=name)
        rate_per_s = action.rate_per_s or 1.0

        def do() -> None:
            spec = ProducerSpec(name=name, to=action.to, arrivals=RateArrivals(per_s=rate_per_s))
            actor = self._context.add(Generator(spec, self._remove))
            start_ns = self._context.now_ns
            times_ns = (start_ns + round(number * NS_PER_S / rate_per_s) for number in range(action.count))
            actor.feed((time_ns, action.message(number)) for number, time_ns in enumerate(times_ns))
            actor.start()

        return self._plan(action, name, do)

    # -- out and in again

    def _remove_client(self, action: clients.RemoveClient) -> Plan:
        actor = self._context.actor(action.client)
        return Plan(action, lambda: self._remove(actor), clients.RestoreClient(action.client), client=action.client)

    def _remove(self, actor: Actor) -> None:
        self._context.faults.forget(actor.name)
        actor.retire()
        self._context.remove(actor)
        self._removed[actor.name] = actor

    def _restore(self, action: clients.RestoreClient) -> Plan:
        actor = needed(self._removed.get(action.client), f"{action.client} was not removed from this session")
        self._context.check_new_client(action.client)

        def do() -> None:
            del self._removed[action.client]
            self._context.enter(actor)
            actor.come_back(self._context.groups)

        return self._plan(action, action.client, do)

    # -- tuning

    def _set_rate(self, action: clients.SetProducerRate) -> Plan:
        actor = self._context.actor(action.client)
        if not isinstance(actor, ProducerActor):
            raise refuse(f"{actor.name} is not a producer")
        if actor.state == "stopped":
            raise refuse(f"{actor.name} has sent everything it had")
        old = clients.SetProducerRate(action.client, actor.rate_per_s)
        return Plan(action, lambda: actor.set_rate(action.rate_per_s), old, client=action.client)

    def _set_processing(self, action: clients.SetProcessingTime) -> Plan:
        actor = self._context.actor(action.client)
        usual = needed(actor.processing_time, f"{actor.name} processes no messages")
        do = partial(setattr, actor, "processing", action.processing)
        return Plan(action, do, clients.SetProcessingTime(action.client, usual), client=action.client)


class Generator(ProducerActor):
    """A producer that is gone when it has sent what it had."""

    def __init__(self, spec: ProducerSpec, gone: Callable[[Actor], object]) -> None:
        super().__init__(spec)
        self._gone = gone

    async def run(self) -> None:
        await super().run()
        self._gone(self)
