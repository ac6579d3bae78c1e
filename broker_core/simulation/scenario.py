from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import msgspec

from broker_core.errors import ScenarioError
from broker_core.settings import NotNegative, WaitMs
from broker_core.simulation import specs
from broker_core.simulation.alert_watch import Alert
from broker_core.simulation.lesson import Lesson, WindowNames
from broker_core.simulation.references import References
from broker_core.simulation.scenario_errors import fault
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


def load_scenario(path: Path, window: WindowNames | None = None) -> tuple[Scenario, str]:
    """The scenario in the file and its text; `window` as for `parse_scenario`. Raises `ScenarioError`."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ScenarioError(f"The scenario {path} cannot be read: {error}.") from error
    return parse_scenario(text, path.name, window), text


def parse_scenario(text: str, source: str = "scenario", window: WindowNames | None = None) -> Scenario:
    """The scenario that `text` describes. Raises `ScenarioError`; `source` is how messages call it.

    The commands, panels and scenarios that its lesson names are checked against `window`, where it is given.
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
