"""Who does what a person wants done: for each kind of action a performer, which looks before it does anything."""

from __future__ import annotations

from broker_core.simulation.actions import (
    ClientAction,
    DeadLetterAction,
    GroupAction,
    QueueAction,
    TopicAction,
    UserAction,
)
from broker_core.simulation.context import World
from broker_core.simulation.handlers.clients import ClientPerformer
from broker_core.simulation.handlers.dead_letters import DeadLetterPerformer
from broker_core.simulation.handlers.faults import FaultPerformer
from broker_core.simulation.handlers.groups import GroupPerformer
from broker_core.simulation.handlers.plan import Performed, Prepared
from broker_core.simulation.handlers.queues import QueuePerformer
from broker_core.simulation.handlers.topics import TopicPerformer

__all__ = ["Performed", "Performers", "Prepared"]


class Performers:
    """All of them."""

    def __init__(self, world: World) -> None:
        self.clients = ClientPerformer(world)
        self.groups = GroupPerformer(world)
        self.topics = TopicPerformer(world, self.clients.generate)
        self.queues = QueuePerformer(world)
        self.dead_letters = DeadLetterPerformer(world)
        self.faults = FaultPerformer(world.faults, world.rules)

    def prepare(self, action: UserAction) -> Prepared:
        """What there is to do. Raises one BrokerError where it cannot be done now; nothing has changed then."""
        if isinstance(action, ClientAction):
            return self.clients.prepare(action)
        if isinstance(action, GroupAction):
            return self.groups.prepare(action)
        if isinstance(action, TopicAction):
            return self.topics.prepare(action)
        if isinstance(action, QueueAction):
            return self.queues.prepare(action)
        if isinstance(action, DeadLetterAction):
            return self.dead_letters.prepare(action)
        return self.faults.prepare(action)
