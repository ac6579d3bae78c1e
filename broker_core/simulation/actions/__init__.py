"""Actions on a running session, as plain values: recorded with their session time, and replayed identically.

A person does them, or the schedule of a scenario. Each has a `sentence` for the timeline and the status bar.
"""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

from broker_core.simulation.actions import access, alerts, clients, dead_letters, faults, groups, queues, topics
from broker_core.simulation.actions.action import Action

_ALL = [
    kind
    for module in (clients, groups, topics, queues, dead_letters, faults, alerts, access)
    for kind in vars(module).values()
    if isinstance(kind, type) and issubclass(kind, Action) and kind.__module__ == module.__name__
]
if TYPE_CHECKING:
    UserAction = Action
else:
    UserAction = reduce(or_, (kind for kind in _ALL if not kind.__subclasses__()))
