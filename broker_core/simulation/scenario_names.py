"""The names of a scenario, and which fields stand for which of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from broker_core.simulation.specs import ShareGroupSpec, SubscriberSpec, numbered

if TYPE_CHECKING:
    from broker_core.simulation.scenario import Scenario

#: By the field, or by the part of a scenario and its field: the sets of `ScenarioNames` that its value is one of.
FIELDS = {
    "to": ("topics", "queues"),
    "topic": ("topics",),
    "topics": ("topics",),
    "group": ("groups",),
    "queue": ("queues", "subscriptions"),
    "WorkerSpec.queue": ("queues",),
    "subject": ("subjects",),
    "consumer": ("consumers",),
    "client": ("actors",),
    "Consumer.client": ("consumers",),
}


class ScenarioNames:
    """What other parts of `scenario`, and actions, may name; clients by the names that they have in the session."""

    def __init__(self, scenario: Scenario) -> None:
        self.topics = {topic.name for topic in scenario.topics}
        self.queues = {queue.name for queue in scenario.queues}
        self.subjects = {schema.subject for schema in scenario.schemas}
        self.groups = {group.name for group in scenario.groups}
        self.subscriptions = set(scenario.subscriptions)
        self.consumers = {name for spec in scenario.consumers for name in numbered(spec)}
        others = (*scenario.producers, *scenario.workers, *scenario.subscribers, *scenario.share_groups)
        self.actors = self.consumers | {name for spec in others for name in names_of(spec)}

    def of_field(self, field: str, part: str = "") -> set[str]:
        """What the value of a field may be, in a part of that type; empty where it names nothing."""
        sets = FIELDS.get(f"{part}.{field}") or FIELDS.get(field, ())
        return {name for known in sets for name in getattr(self, known)}


def names_of(spec: Any) -> list[str]:
    if isinstance(spec, SubscriberSpec | ShareGroupSpec):
        return spec.workers
    return numbered(spec) if hasattr(spec, "count") else [spec.name]
