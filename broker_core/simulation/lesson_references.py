"""What a lesson names: in conditions fields and things, objects of the canvas, commands and panels of the window."""

from __future__ import annotations

import difflib
from collections.abc import Collection
from typing import TYPE_CHECKING

from broker_core.broker.occurrences import FIELDS, unknown_thing
from broker_core.filters import FilterError, parse
from broker_core.simulation.lesson import Lesson, Step, WindowNames
from broker_core.simulation.scenario_names import ScenarioNames, names_of
from broker_core.simulation.strict_yaml import Document, YamlError

if TYPE_CHECKING:
    from broker_core.simulation.scenario import Scenario

Place = tuple[str | int, ...]
KINDS_OF_OBJECTS = ("bench", "consumer", "dlq", "group", "lane", "producer", "queue", "topic", "worker", "workers")


class LessonReferences:
    """Checks the lesson of `scenario`; names of the window only where `window` is given."""

    def __init__(self, scenario: Scenario, document: Document, window: WindowNames | None) -> None:
        self._document = document
        self._window = window
        self._names = ScenarioNames(scenario)
        self._objects = _objects(scenario, self._names)

    def check(self, lesson: Lesson) -> None:
        """Raises `YamlError` with the line of the first thing that is wrong."""
        for index, step in enumerate(lesson.steps):
            place = ("lesson", "steps", index)
            self.check_condition((*place, "when"), step.when)
            self._check_objects(place, step)
            if self._window is not None:
                self._check_names_of_window(place, step, self._window)
        if self._window is not None and lesson.next:
            self._known(("lesson", "next"), "scenario", lesson.next, self._window.scenarios)

    def check_condition(self, path: Place, text: str) -> None:
        """A condition that can be judged, and that asks for things of the scenario."""
        try:
            condition = parse(text, FIELDS)
        except FilterError as error:
            raise YamlError(self._document.line_of(path), str(error)) from error
        names = self._names
        things = {"group": names.groups, "queue": names.queues | names.subscriptions, "client": names.actors}
        unknown = unknown_thing(condition, things)
        if unknown is not None:
            raise YamlError(self._document.line_of(path), str(unknown))

    def _check_objects(self, place: Place, step: Step) -> None:
        kind, colon, name = step.select.partition(":")
        if kind == "row":
            self._known((*place, "select"), "panel", name, (name,) if self._window is None else self._window.panels)
        elif kind and kind not in KINDS_OF_OBJECTS:
            self._known((*place, "select"), "kind of object", kind, KINDS_OF_OBJECTS)
        elif colon:
            self._known((*place, "select"), "object", step.select, self._objects)
        if step.point_at is not None and step.point_at.object:
            self._known((*place, "point_at", "object"), "object", step.point_at.object, self._objects)

    def _check_names_of_window(self, place: Place, step: Step, window: WindowNames) -> None:
        for index, command in enumerate(step.commands):
            self._known((*place, "commands", index), "command", command, window.commands)
        at = step.point_at
        if at is not None and at.command:
            self._known((*place, "point_at", "command"), "command", at.command, window.commands)
        if at is not None and at.panel:
            self._known((*place, "point_at", "panel"), "panel", at.panel, window.panels)

    def _known(self, path: Place, what: str, name: str, known: Collection[str]) -> None:
        """Of what is too much to be listed, the closest is named."""
        if name not in known:
            close = difflib.get_close_matches(name, known, 1)
            hint = f"; did you mean '{close[0]}'?" if close else f", as '{min(known)}'." if known else "."
            raise YamlError(self._document.line_of(path), f"there is no {what} '{name}'{hint}")


def _objects(scenario: Scenario, names: ScenarioNames) -> set[str]:
    """The ids of what the canvas shows from the beginning, or once everybody has joined."""
    queues = names.queues | names.subscriptions
    workers = {
        name for spec in (*scenario.workers, *scenario.subscribers, *scenario.share_groups) for name in names_of(spec)
    }
    return {
        "bench",
        "timeline",
        *(f"lane:{topic.name}/{number}" for topic in scenario.topics for number in range(topic.partitions)),
        *(f"{kind}:{name}" for kind in ("queue", "dlq", "workers") for name in queues),
        *(f"topic:{name}" for name in names.topics),
        *(f"group:{name}" for name in names.groups),
        *(f"producer:{spec.name}" for spec in scenario.producers),
        *(f"consumer:{name}" for name in names.consumers),
        *(f"worker:{name}" for name in workers),
    }
