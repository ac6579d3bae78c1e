"""Handlers of the user's actions: each first makes a plan, which changes nothing, then carries it out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from broker_core.simulation.actions import UserAction
from broker_core.simulation.context import SimulationContext
from broker_core.simulation.handlers.clients import ClientHandler
from broker_core.simulation.handlers.dead_letters import DeadLetterHandler
from broker_core.simulation.handlers.faults import AlertHandler, FaultHandler
from broker_core.simulation.handlers.groups import GroupHandler
from broker_core.simulation.handlers.plan import Performed, Plan
from broker_core.simulation.handlers.queues import QueueHandler
from broker_core.simulation.handlers.topics import TopicHandler

__all__ = ["ActionHandlers", "Performed", "Plan"]


class ActionHandlers:
    def __init__(self, context: SimulationContext) -> None:
        self.groups = GroupHandler(context)
        clients = ClientHandler(context)
        topics = TopicHandler(context, clients.generate)
        others = (QueueHandler(context), DeadLetterHandler(context), AlertHandler(context), FaultHandler(context))
        self._planners: dict[type[Any], Callable[[Any], Plan]] = {}
        for handler in (self.groups, clients, topics, *others):
            self._planners |= handler.planners

    def prepare(self, action: UserAction) -> Plan:
        """What there is to do. Raises one BrokerError if it cannot be done now; nothing has changed then."""
        return self._planners[type(action)](action)
