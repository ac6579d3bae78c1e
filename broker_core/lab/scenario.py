"""A scenario: what runs against the broker, read from YAML into typed structures, with errors that name the line."""

from __future__ import annotations

import difflib
import re
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec

from broker_core.errors import BrokerError
from broker_core.flow.config import FlowConfig
from broker_core.lab.arrivals import Arrivals
from broker_core.lab.durations import Duration
from broker_core.lab.strict_yaml import Document, YamlError
from broker_core.limits import MAX_PARTITIONS
from broker_core.names import check_name
from broker_core.queues.config import QueueConfig


class ScenarioError(Exception):
    """The scenario cannot be used; one sentence names the file, the line and what to do."""


class Strict(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A part of a scenario. A key that it does not know is an error."""


class TopicSpec(Strict, kw_only=True):
    """A topic with `partitions` partitions, bounded where `flow` says so."""

    name: str
    partitions: int = 1
    partitioner: Literal["crc32", "murmur2"] = "crc32"
    flow: FlowConfig | None = None


class QueueSpec(Strict, kw_only=True):
    """A work queue; `config` has its leases, attempts and retries."""

    name: str
    config: QueueConfig = QueueConfig()
    flow: FlowConfig | None = None


class GroupSpec(Strict, kw_only=True):
    """A consumer group and what it reads; the settings are those of every member."""

    name: str
    topics: tuple[str, ...]
    assignor: Literal["range", "roundrobin"] = "range"
    session_timeout_ms: int = 6_000
    heartbeat_interval_ms: int = 1_000
    rebalance_timeout_ms: int = 20_000


class Failure(Strict, kw_only=True):
    """A fraction `rate` of the messages fails with `cause`.

    `nack` tells the broker at once, `hang` says nothing until the lease has expired.
    """

    cause: str
    rate: float
    kind: Literal["nack", "hang"] = "nack"

    def __post_init__(self) -> None:
        if not 0 <= self.rate <= 1:
            raise ValueError("rate must lie between 0 and 1")


class ProducerSpec(Strict, kw_only=True):
    """Publishes what arrives to a topic or queue."""

    name: str
    to: str
    arrivals: Arrivals


class ConsumerSpec(Strict, kw_only=True):
    """`count` consumers, named NAME-1, NAME-2, ...; without a group they wait on the bench."""

    name: str
    count: int = 1
    first: int = 1
    group: str = ""
    processing: Duration = Duration(mean_ms=0)
    max_poll_messages: int = 20


class WorkerSpec(Strict, kw_only=True):
    """`count` workers of a queue, named NAME-1, NAME-2, ..."""

    name: str
    count: int = 1
    queue: str
    processing: Duration = Duration(mean_ms=0)
    prefetch: int = 1
    failures: tuple[Failure, ...] = ()


class Scenario(Strict, kw_only=True):
    """Everything that runs, and what a person should watch and try."""

    title: str
    about: str
    watch: tuple[str, ...] = ()
    try_: tuple[str, ...] = msgspec.field(default=(), name="try")
    seed: int = 1
    until_s: float
    durability: Literal["memory", "file"] = "file"
    topics: tuple[TopicSpec, ...] = ()
    queues: tuple[QueueSpec, ...] = ()
    groups: tuple[GroupSpec, ...] = ()
    producers: tuple[ProducerSpec, ...] = ()
    consumers: tuple[ConsumerSpec, ...] = ()
    workers: tuple[WorkerSpec, ...] = ()


T = TypeVar("T")


def numbered(spec: ConsumerSpec | WorkerSpec) -> list[str]:
    """The names of the actors that `spec` stands for."""
    first = spec.first if isinstance(spec, ConsumerSpec) else 1
    return [f"{spec.name}-{number}" for number in range(first, first + spec.count)]


def load_scenario(path: Path) -> tuple[Scenario, str]:
    """The scenario in the file and its text. Raises `ScenarioError`."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ScenarioError(f"The scenario {path} cannot be read: {error}.") from error
    return parse_scenario(text, path.name), text


def parse_scenario(text: str, source: str = "scenario") -> Scenario:
    """The scenario that `text` describes. Raises `ScenarioError`; `source` is how messages call it."""
    try:
        document = Document(text)
        scenario = _convert(document)
        _check_references(scenario, document)
    except YamlError as error:
        raise ScenarioError(f"{source}, {error}") from error
    return scenario


def _convert(document: Document) -> Scenario:
    try:
        return msgspec.convert(document.value, Scenario)
    except msgspec.ValidationError as error:
        sentence, _, place = str(error).partition(" - at ")
        path = _path_of(place.strip("`"))
        unknown = re.search(r"unknown field `([^`]*)`", sentence)
        if unknown is None:
            raise YamlError(document.line_of(path), f"{_name_of(path)}{sentence}.") from error
        key = unknown.group(1)
        near = difflib.get_close_matches(key, _known_keys(Scenario), n=1)
        hint = f"; did you mean '{near[0]}'?" if near else "."
        raise YamlError(document.line_of((*path, key)), f"the key '{key}' is not known here{hint}") from error


def _path_of(place: str) -> tuple[str | int, ...]:
    """("topics", 0, "partitions") of "$.topics[0].partitions"."""
    steps = re.findall(r"\.([^.\[\]]+)|\[(\d+)\]", place)
    return tuple(name or int(index) for name, index in steps)


def _name_of(path: tuple[str | int, ...]) -> str:
    return f"{path[-1]}: " if path and isinstance(path[-1], str) else ""


def _known_keys(struct: type[msgspec.Struct]) -> list[str]:
    keys: set[str] = set()
    waiting: list[Any] = [struct]
    seen: set[Any] = set()
    while waiting:
        kind = waiting.pop()
        if kind in seen:
            continue
        seen.add(kind)
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            for field in msgspec.structs.fields(kind):
                keys.add(field.encode_name)
                waiting.append(field.type)
        else:
            waiting.extend(getattr(kind, "__args__", ()))
    return sorted(keys)


def _check_references(scenario: Scenario, document: Document) -> None:
    """Everything that is named must be there, once."""

    def fail(path: tuple[str | int, ...], sentence: str) -> None:
        raise YamlError(document.line_of(path), sentence)

    def unique(what: str, *sections: str) -> None:
        seen: set[str] = set()
        for section in sections:
            for index, spec in enumerate(getattr(scenario, section)):
                for name in _names(spec):
                    try:
                        check_name(name, what)
                    except BrokerError as error:
                        fail((section, index, "name"), str(error))
                    if name.lower() in seen:
                        fail((section, index, "name"), f"the name '{name}' is taken already.")
                    seen.add(name.lower())

    topics = {topic.name for topic in scenario.topics}
    queues = {queue.name for queue in scenario.queues}
    groups = {group.name for group in scenario.groups}
    if not 0 < scenario.until_s <= 1_000_000:
        fail(("until_s",), "until_s must lie between 0 and 1000000 seconds.")
    unique("topic", "topics", "queues")
    unique("group", "groups")
    unique("actor", "producers", "consumers", "workers")
    for index, topic in enumerate(scenario.topics):
        if not 1 <= topic.partitions <= MAX_PARTITIONS:
            fail(("topics", index, "partitions"), f"partitions must lie between 1 and {MAX_PARTITIONS}.")
    for index, group in enumerate(scenario.groups):
        for position, name in enumerate(group.topics):
            if name not in topics:
                fail(("groups", index, "topics", position), _no_such("topic", name, topics))
    for index, producer in enumerate(scenario.producers):
        if producer.to not in topics | queues:
            fail(("producers", index, "to"), _no_such("topic or queue", producer.to, topics | queues))
    for index, consumer in enumerate(scenario.consumers):
        if consumer.group and consumer.group not in groups:
            fail(("consumers", index, "group"), _no_such("group", consumer.group, groups))
    for index, worker in enumerate(scenario.workers):
        if worker.queue not in queues:
            fail(("workers", index, "queue"), _no_such("queue", worker.queue, queues))
        if sum(failure.rate for failure in worker.failures) > 1:
            fail(("workers", index, "failures"), "the failure rates add up to more than 1.")


def _names(spec: Any) -> list[str]:
    return numbered(spec) if isinstance(spec, ConsumerSpec | WorkerSpec) else [spec.name]


def _no_such(what: str, name: str, known: set[str]) -> str:
    return f"there is no {what} '{name}'; the scenario has {', '.join(sorted(known)) or 'none'}."
