"""What is done to a running session, as plain values: recorded with their session time, and played again the same.

A person does them, or the schedule of a scenario. Each has a `sentence` for the timeline and the status bar.
"""

from __future__ import annotations

from broker_core.simulation.actions.alerts import AlertAction
from broker_core.simulation.actions.clients import ClientAction
from broker_core.simulation.actions.dead_letters import DeadLetterAction
from broker_core.simulation.actions.faults import AnyFault, RuleAction
from broker_core.simulation.actions.groups import GroupAction
from broker_core.simulation.actions.queues import QueueAction
from broker_core.simulation.actions.topics import TopicAction

UserAction = (
    ClientAction | GroupAction | TopicAction | QueueAction | DeadLetterAction | AlertAction | RuleAction | AnyFault
)
