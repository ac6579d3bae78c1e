"""Handlers of the user's actions: each first makes a plan, which changes nothing, then carries it out."""

from __future__ import annotations

from broker_core.simulation.actions import UserAction
from broker_core.simulation.actions.alerts import AlertAction
from broker_core.simulation.actions.clients import ClientAction
from broker_core.simulation.actions.dead_letters import DeadLetterAction
from broker_core.simulation.actions.groups import GroupAction
from broker_core.simulation.actions.queues import QueueAction
from broker_core.simulation.actions.topics import TopicAction
from broker_core.simulation.context import SimulationContext
from broker_core.simulation.handlers.alerts import AlertHandler
from broker_core.simulation.handlers.clients import ClientHandler
from broker_core.simulation.handlers.dead_letters import DeadLetterHandler
from broker_core.simulation.handlers.faults import FaultHandler
from broker_core.simulation.handlers.groups import GroupHandler
from broker_core.simulation.handlers.plan import Performed, Plan
from broker_core.simulation.handlers.queues import QueueHandler
from broker_core.simulation.handlers.topics import TopicHandler

__all__ = ["ActionHandlers", "Performed", "Plan"]


class ActionHandlers:
    """All of them."""

    def __init__(self, context: SimulationContext) -> None:
        self.clients = ClientHandler(context)
        self.groups = GroupHandler(context)
        self.topics = TopicHandler(context, self.clients.generate)
        self.queues = QueueHandler(context)
        self.dead_letters = DeadLetterHandler(context)
        self.alerts = AlertHandler(context)
        self.faults = FaultHandler(context.faults, context.rules, context.broker.client_faults, lambda: context.now_ns)

    def prepare(self, action: UserAction) -> Plan:
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
        if isinstance(action, AlertAction):
            return self.alerts.prepare(action)
        return self.faults.prepare(action)
