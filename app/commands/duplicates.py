from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec

from app.commands.context import CommandContext, Handlers
from app.commands.forms import free_name, group_names, name_error, place_names
from app.commands.registry import Command
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
from widgets.dialogs.form import Field, Values
from widgets.i18n import tr

KINDS = ("topic", "queue", "group")


class DuplicateHandlers(Handlers):
    COMMANDS = (
        Command(
            "duplicate_place",
            "Duplicate topic, queue or group...",
            "Topics",
            "",
            "copy",
            "Another one of the same kind.",
        ),
    )

    MENU = (((*KINDS, "lane"), ("duplicate_place",)),)

    def __init__(self, context: CommandContext) -> None:
        super().__init__(context)
        select = tr("Select a topic, a queue or a group on the canvas first.")
        context.registry.bind("duplicate_place", self.ask, lambda: context.why_not(self._selected()[1], select))

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

    def _ask(self, name: str, what: str, about: str, taken: list[str], make: Callable[[Values], UserAction]) -> None:
        self.form(
            tr("Duplicate {name}", name=name),
            about,
            (Field("name", tr("Name"), value=free_name(name, taken, 2)),),
            tr("Create"),
            make,
            why_not=lambda v: name_error(v["name"], what, taken),
        )

    def _ask_topic(self, topic: TopicView, flow: FlowConfig | None) -> None:
        partitions = len(topic.partitions)
        about = tr("A topic with the same number of partitions and the same limits, but without the messages.")
        self._ask(
            topic.name,
            "topic",
            about,
            place_names(self._snapshot),
            lambda v: CreateTopic(name=v["name"], partitions=partitions, flow=flow),
        )

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

        about = tr("A queue with the same settings and limits, but without the messages.")
        self._ask(name, "queue", about, place_names(self._snapshot), made)

    def _ask_group(self, name: str) -> None:
        snapshot = self._snapshot
        group = group_of(snapshot, name)
        if group is None:
            return
        topics = group.topics or tuple(sorted({at.topic for at in group.offsets}))
        assignor: Any = group.assignor if group.assignor in ASSIGNORS else "range"
        about = tr("A group that reads the same topics with the same assignor, without members at first.")
        self._ask(name, "group", about, group_names(snapshot), lambda v: CreateGroup(v["name"], topics, assignor))
