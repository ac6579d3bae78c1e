"""Scenarios: the typed form of a scenario file, how it is read, and the check that every name in it exists."""

from __future__ import annotations

import difflib
from collections.abc import Collection
from pathlib import Path
from typing import Annotated, Literal, NoReturn

import msgspec

from broker_core.broker.occurrences import FIELDS, unknown_thing
from broker_core.errors import BrokerError, ScenarioError
from broker_core.filters import FilterError, parse
from broker_core.names import check_name
from broker_core.plurals import counted
from broker_core.schemas.languages import read_schema
from broker_core.schemas.problem import InvalidSchemaError
from broker_core.settings import NotNegative, WaitMs
from broker_core.simulation import specs
from broker_core.simulation.actions import UserAction
from broker_core.simulation.actions.dead_letters import Redrive
from broker_core.simulation.actions.faults import Fault
from broker_core.simulation.actions.groups import MoveConsumer
from broker_core.simulation.actions.topics import RegisterSchema
from broker_core.simulation.alert_watch import Alert
from broker_core.simulation.arrival_files import FileArrivals
from broker_core.simulation.lesson import Lesson, Step, WindowNames
from broker_core.simulation.scenario_errors import fault
from broker_core.simulation.specs import ProducerSpec, ShareGroupSpec, SubscriberSpec, names_of
from broker_core.simulation.strict_yaml import Document, YamlError


class Scenario(specs.Strict, frozen=True, kw_only=True):
    """Everything that runs, and what a person should watch and try.

    `rebalance_delay_ms` is how long an empty group waits for more members, `consumer_session_timeout_ms` and
    `consumer_heartbeat_interval_ms` are what the broker tells members of the consumer protocol.
    With `attach` the window runs it as a cluster beside itself, and is attached to that.
    The steps of a `lesson` tick themselves; `watch` and `try` are what there is to see and to do besides.
    """

    title: str
    about: str
    watch: tuple[str, ...] = ()
    try_: tuple[str, ...] = msgspec.field(default=(), name="try")
    seed: int = 1
    until_s: Annotated[float, msgspec.Meta(gt=0, le=1_000_000)]
    attach: bool = False
    durability: Literal["memory", "file"] = "file"
    rebalance_delay_ms: NotNegative = 600
    consumer_session_timeout_ms: WaitMs = 45_000
    consumer_heartbeat_interval_ms: WaitMs = 5_000
    schemas: tuple[specs.SchemaSpec, ...] = ()
    topics: tuple[specs.TopicSpec, ...] = ()
    queues: tuple[specs.QueueSpec, ...] = ()
    groups: tuple[specs.GroupSpec, ...] = ()
    producers: tuple[specs.ProducerSpec, ...] = ()
    consumers: tuple[specs.ConsumerSpec, ...] = ()
    workers: tuple[specs.WorkerSpec, ...] = ()
    subscribers: tuple[specs.SubscriberSpec, ...] = ()
    share_groups: tuple[specs.ShareGroupSpec, ...] = ()
    schedule: tuple[specs.Scheduled, ...] = ()
    alerts: tuple[Alert, ...] = ()
    lesson: Lesson | None = None

    @property
    def subscriptions(self) -> dict[str, str]:
        """The topic of each subscription of subscribers and share groups."""
        readers: tuple[specs.SubscriberSpec | specs.ShareGroupSpec, ...] = (*self.subscribers, *self.share_groups)
        return {name: topic for spec in readers for topic, name in spec.subscriptions.items()}


#: By the field, or by the part of a scenario and its field: the sets of `ScenarioNames` that its value is one of.
NAMED_BY = {
    "to": ("topics", "queues"),
    "topic": ("topics",),
    "topics": ("topics",),
    "group": ("groups",),
    "queue": ("queues", "subscriptions"),
    "GroupSpec.topics": ("topics", "dead_letters"),
    "WorkerSpec.queue": ("queues",),
    "subject": ("subjects",),
    "consumer": ("consumers",),
    "client": ("actors",),
    "Consumer.client": ("consumers",),
}


class ScenarioNames:
    """Names that other parts of `scenario`, and actions, may use; clients have their names in the session."""

    def __init__(self, scenario: Scenario) -> None:
        self.topics = {topic.name for topic in scenario.topics}
        self.queues = {queue.name for queue in scenario.queues}
        self.dead_letters = {queue.config.dead_letter_topic_of(queue.name) for queue in scenario.queues}
        self.subjects = {schema.subject for schema in scenario.schemas}
        self.groups = {group.name for group in scenario.groups}
        self.subscriptions = set(scenario.subscriptions)
        self.consumers = {name for spec in scenario.consumers for name in names_of(spec)}
        others = (*scenario.producers, *scenario.workers, *scenario.subscribers, *scenario.share_groups)
        self.actors = self.consumers | {name for spec in others for name in names_of(spec)}
        done = (msgspec.structs.asdict(scheduled.do) for scheduled in scenario.schedule)
        #: What the schedule names, and may make, of any kind.
        self.scheduled = {value for each in done for value in each.values() if isinstance(value, str)}

    @property
    def things(self) -> dict[str, set[str]]:
        """The names by kind, as conditions look them up."""
        return {"group": self.groups, "queue": self.queues | self.subscriptions, "client": self.actors}

    def of_field(self, field: str, part: str = "") -> set[str]:
        """The allowed values of a field in a part of that type; empty if it names nothing."""
        sets = NAMED_BY.get(f"{part}.{field}") or NAMED_BY.get(field, ())
        return {name for known in sets for name in getattr(self, known)}


Place = tuple[str | int, ...]
KINDS_OF_OBJECTS = ("bench", "consumer", "dlq", "group", "lane", "producer", "queue", "topic", "worker", "workers")


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


class References:
    """`check` raises `YamlError` with the line of the first thing that is wrong."""

    def __init__(self, scenario: Scenario, document: Document, window: WindowNames | None) -> None:
        """Names of the window are checked only if `window` is given."""
        self._scenario = scenario
        self._document = document
        self._window = window
        self._names = ScenarioNames(scenario)
        self._objects = _objects(scenario, self._names)

    def check(self) -> None:
        self._unique("topic", "topics", "queues")
        self._unique("group", "groups")
        self._unique("actor", "producers", "consumers", "workers", "subscribers", "share_groups")
        self._check_topics()
        self._check_dead_letters()
        self._check_actors()
        for index, scheduled in enumerate(self._scenario.schedule):
            self._check_action(("schedule", index, "do"), scheduled.do)
        for index, alert in enumerate(self._scenario.alerts):
            self._check_condition(("alerts", index, "when"), alert.when)
        if self._scenario.lesson is not None:
            self._check_lesson(self._scenario.lesson)

    def _fail(self, path: Place, sentence: str) -> NoReturn:
        raise YamlError(self._document.line_of(path), sentence)

    def _known(self, path: Place, what: str, name: str, part: str = "") -> None:
        """The value of the last key in `path`, in a part of that type, is the name of something."""
        field = next(str(step) for step in reversed(path) if isinstance(step, str))
        known = self._names.of_field(field, part)
        if name not in known:
            there = ", ".join(sorted(known)) or "none"
            self._fail(path, f"there is no {what} '{name}'; the scenario has {there}.")

    def _unique(self, what: str, *sections: str) -> None:
        seen: set[str] = set()
        for section in sections:
            for index, spec in enumerate(getattr(self._scenario, section)):
                for name in names_of(spec):
                    try:
                        check_name(name, what)
                    except BrokerError as error:
                        self._fail((section, index, "name"), str(error))
                    if name.lower() in seen:
                        self._fail((section, index, "name"), f"the name '{name}' is already taken.")
                    seen.add(name.lower())

    def _check_topics(self) -> None:
        for index, topic in enumerate(self._scenario.topics):
            if topic.schema is not None:
                self._known(("topics", index, "schema", "subject"), "schema", topic.schema.subject)
        for index, group in enumerate(self._scenario.groups):
            for position, name in enumerate(group.topics):
                self._known(("groups", index, "topics", position), "topic", name, "GroupSpec")
        for index, schema in enumerate(self._scenario.schemas):
            try:
                read_schema(schema.kind, schema.text)
            except InvalidSchemaError as error:
                self._fail(("schemas", index, "text"), f"this is not a schema: {error}.")
        stored = {name.lower() for name in self._names.topics | self._names.queues}
        groups = {group.name.lower() for group in self._scenario.groups}
        for index, share_group in enumerate(self._scenario.share_groups):
            if share_group.name.lower() in groups:
                self._fail(("share_groups", index, "name"), f"the name '{share_group.name}' is already taken.")
            groups.add(share_group.name.lower())
        for section in ("subscribers", "share_groups"):
            for index, subscriber in enumerate(getattr(self._scenario, section)):
                self._check_subscriptions((section, index), subscriber, stored)

    def _check_dead_letters(self) -> None:
        for section in ("topics", "queues"):
            for index, spec in enumerate(getattr(self._scenario, section)):
                if spec.name in self._names.dead_letters:
                    self._fail((section, index, "name"), f"'{spec.name}' is the topic of a queue's dead letters.")

    def _check_subscriptions(self, path: Place, subscriber: SubscriberSpec | ShareGroupSpec, stored: set[str]) -> None:
        """`stored` are the names of topics, queues and subscriptions so far, to which it adds."""
        for position, name in enumerate(subscriber.topics):
            self._known((*path, "topics", position), "topic", name)
            if subscriber.topics.index(name) != position:
                self._fail((*path, "topics", position), f"the topic '{name}' is listed twice.")
        for subscription in subscriber.subscriptions.values():
            if subscription.lower() in stored:
                self._fail((*path, "name"), f"the name '{subscription}' is already taken.")
            stored.add(subscription.lower())

    def _check_actors(self) -> None:
        scenario = self._scenario
        for index, producer in enumerate(scenario.producers):
            self._known(("producers", index, "to"), "topic or queue", producer.to)
            self._check_priorities(("producers", index, "arrivals"), producer)
            if producer.transactional is not None and producer.to in self._names.queues:
                self._fail(("producers", index, "transactional"), "transactions go to a topic, not to a queue.")
        for index, consumer in enumerate(scenario.consumers):
            if consumer.group:
                self._known(("consumers", index, "group"), "group", consumer.group)
        for index, worker in enumerate(scenario.workers):
            self._known(("workers", index, "queue"), "queue", worker.queue, "WorkerSpec")
        for section in ("workers", "subscribers", "share_groups"):
            for index, spec in enumerate(getattr(scenario, section)):
                if sum(failure.rate for failure in spec.failures if failure.when is None) > 1:
                    self._fail((section, index, "failures"), "the failure rates add up to more than 1.")

    def _check_priorities(self, path: Place, producer: ProducerSpec) -> None:
        drawn = 0 if isinstance(producer.arrivals, FileArrivals) else len(producer.arrivals.priorities)
        queue = next((queue for queue in self._scenario.queues if queue.name == producer.to), None)
        if queue is not None and drawn > queue.config.priorities:
            has = counted(queue.config.priorities, "priority level")
            self._fail(path, f"{producer.name} draws {drawn} priorities, but the queue {queue.name} has {has}.")

    def _check_action(self, path: Place, action: UserAction) -> None:
        match action:
            case MoveConsumer():
                self._known((*path, "consumer"), "consumer", action.consumer)
            case Redrive():
                self._known((*path, "queue"), "queue", action.queue)
            case RegisterSchema():
                self._known((*path, "subject"), "schema", action.subject)
            case Fault() if client := getattr(action, "client", ""):
                self._known(
                    (*path, "client"), action.concerns, client, "Consumer" if action.concerns == "consumer" else ""
                )
            case _:
                # What it names may be made by what is done before it.
                pass

    def _check_lesson(self, lesson: Lesson) -> None:
        for index, step in enumerate(lesson.steps):
            place = ("lesson", "steps", index)
            self._check_condition((*place, "when"), step.when)
            self._check_objects(place, step)
            if self._window is not None:
                self._check_names_of_window(place, step, self._window)
        if self._window is not None and lesson.next:
            self._one_of(("lesson", "next"), "scenario", lesson.next, self._window.scenarios)

    def _check_condition(self, path: Place, text: str) -> None:
        try:
            condition = parse(text, FIELDS)
        except FilterError as error:
            self._fail(path, str(error))
        unknown = unknown_thing(condition, self._names.things)
        if unknown is not None:
            self._fail(path, str(unknown))

    def _check_objects(self, place: Place, step: Step) -> None:
        kind, colon, name = step.select.partition(":")
        if kind == "row":
            self._one_of((*place, "select"), "panel", name, (name,) if self._window is None else self._window.panels)
        elif kind and kind not in KINDS_OF_OBJECTS:
            self._one_of((*place, "select"), "kind of object", kind, KINDS_OF_OBJECTS)
        elif colon:
            self._one_of((*place, "select"), "object", step.select, self._objects)
        if step.point_at is not None and step.point_at.object:
            self._one_of((*place, "point_at", "object"), "object", step.point_at.object, self._objects)

    def _check_names_of_window(self, place: Place, step: Step, window: WindowNames) -> None:
        for index, command in enumerate(step.commands):
            self._one_of((*place, "commands", index), "command", command, window.commands)
        at = step.point_at
        if at is not None and at.command:
            self._one_of((*place, "point_at", "command"), "command", at.command, window.commands)
        if at is not None and at.panel:
            self._one_of((*place, "point_at", "panel"), "panel", at.panel, window.panels)

    def _one_of(self, path: Place, what: str, name: str, known: Collection[str]) -> None:
        if name not in known:
            close = difflib.get_close_matches(name, known, 1)
            hint = f"; did you mean '{close[0]}'?" if close else f", as '{min(known)}'." if known else "."
            self._fail(path, f"there is no {what} '{name}'{hint}")


def load_scenario(path: Path, window: WindowNames | None = None) -> tuple[Scenario, str]:
    """The scenario in the file and its text; `window` as for `parse_scenario`. Raises `ScenarioError`."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ScenarioError(f"The scenario {path} cannot be read: {error}.") from error
    return parse_scenario(text, path.name, window), text


def parse_scenario(text: str, source: str = "scenario", window: WindowNames | None = None) -> Scenario:
    """The scenario that `text` describes. Raises `ScenarioError`; `source` is how messages call it.

    The commands, panels and scenarios that its lesson names are checked against `window`, if it is given.
    """
    try:
        document = Document(text)
        try:
            scenario = msgspec.convert(document.value, Scenario)
        except msgspec.ValidationError as error:
            path, sentence = fault(error, document.value, Scenario)
            raise YamlError(document.line_of(path), sentence) from error
        References(scenario, document, window).check()
    except YamlError as error:
        raise ScenarioError(f"{source}, {error}") from error
    return scenario
