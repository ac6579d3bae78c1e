"""Handlers of the user's actions: each first makes a plan, which changes nothing, then carries it out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from broker_core.simulation.context import SimulationContext
from broker_core.simulation.handlers.access import AccessHandler
from broker_core.simulation.handlers.alerts import AlertHandler
from broker_core.simulation.handlers.clients import ClientHandler
from broker_core.simulation.handlers.faults import FaultHandler
from broker_core.simulation.handlers.groups import GroupHandler
from broker_core.simulation.handlers.plan import Performed, Plan, planning
from broker_core.simulation.handlers.queues import DeadLetterHandler, QueueHandler
from broker_core.simulation.handlers.topics import TopicHandler

__all__ = ["Performed", "Plan", "planners"]


def planners(context: SimulationContext) -> dict[type[Any], Callable[[Any], Plan]]:
    """The planner of each type of action: it raises one BrokerError and changes nothing if the action is not possible
    now."""
    clients = ClientHandler(context)
    handlers: tuple[Any, ...] = (
        clients,
        GroupHandler(context),
        TopicHandler(context, clients.generate),
        QueueHandler(context),
        DeadLetterHandler(context),
        AlertHandler(context),
        FaultHandler(context),
        AccessHandler(context),
    )
    return {
        action: getattr(handler, name) for handler in handlers for action, name in planning(cast(Any, type(handler)))
    }
