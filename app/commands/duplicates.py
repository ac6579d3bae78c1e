from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec

from app.commands.context import CommandContext, Handlers
from app.commands.forms import free_name, group_names, name_error, place_names
from app.presenters.what_if import group_of
from broker_core.flow.config import FlowConfig
from broker_core.groups.assignors import ASSIGNORS
from broker_core.operations.queues import QueueConfigAnswer, QueueConfiguration
from broker_core.operations.topics import DescribeTopic, TopicConfig
from broker_core.simulation.actions import UserAction
from broker_core.simulation.actions.groups import CreateGroup
from broker_core.simulation.actions.queues import CreateQueue, CreateSubscription
from broker_core.simulation.actions.topics import CreateTopic
from broker_core.snapshots import TopicView
from widgets.dialogs.form import Values
from widgets.i18n import tr

KINDS = ("topic", "queue", "group")


class DuplicateHandlers(Handlers):
    MENU = (((*KINDS, "lane"), ("duplicate_place",)),)

    def __init__(self, context: CommandContext) -> None:
        super().__init__(context)
        select = tr("Select a topic, a queue or a group on the canvas first.")
        self.bind_action("duplicate_place", None, self.ask, lambda: self._selected()[1], select)

    def _selected(self) -> tuple[str, str]:
        context = self._context
        lane = context.selected("lane").rpartition("/")[0]
        found = ((kind, context.selected(kind)) for kind in KINDS)
        return next(((kind, name) for kind, name in found if name), ("topic", lane))

    def ask(self) -> None:
        (kind, name), show = self._selected(), self._context.show_message
        self._answers.drop()
        if kind == "group":
            self._ask_group(name)
        elif kind == "queue":
            self._answers.ask(QueueConfiguration(queue=name), partial(self._ask_queue, name), show)
        else:
            self._answers.ask(
                DescribeTopic(topic=name),
                lambda topic: self._answers.ask(
                    TopicConfig(topic=name), lambda settings: self._ask_topic(topic, settings.flow), show
                ),
                show,
            )

    def _ask(self, name: str, what: str, taken: list[str], make: Callable[[Values], UserAction]) -> None:
        fields = {"name": {"value": free_name(name, taken, 2)}}
        self.form(f"duplicate_{what}", make, fields, why_not=lambda v: name_error(v["name"], what, taken), name=name)

    def _ask_topic(self, topic: TopicView, flow: FlowConfig | None) -> None:
        partitions, taken = len(topic.partitions), place_names(self._snapshot)
        self._ask(topic.name, "topic", taken, lambda v: CreateTopic(name=v["name"], partitions=partitions, flow=flow))

    def _ask_queue(self, name: str, known: QueueConfigAnswer) -> None:
        # It gets a dead-letter queue of its own.
        settings = msgspec.structs.replace(known.settings, dead_letter_topic="")

        def made(values: Values) -> UserAction:
            name, topic, flow = values["name"], known.topic, known.flow
            if topic is None:
                return CreateQueue(name=name, settings=settings, flow=flow)
            if flow is None:
                return CreateSubscription(name=name, topic=topic, settings=settings)
            return CreateSubscription(
                name=name, topic=topic, settings=settings, max_messages=flow.max_messages, policy=flow.policy
            )

        self._ask(name, "queue", place_names(self._snapshot), made)

    def _ask_group(self, name: str) -> None:
        snapshot = self._snapshot
        group = group_of(snapshot, name)
        if group is None:
            return
        topics = group.topics or tuple(sorted({at.topic for at in group.offsets}))
        assignor: Any = group.assignor if group.assignor in ASSIGNORS else "range"
        self._ask(name, "group", group_names(snapshot), lambda v: CreateGroup(v["name"], topics, assignor))
