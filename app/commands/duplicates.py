"""Topics, queues and groups like others."""

from __future__ import annotations

from typing import get_args

import msgspec
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QMenu

from app.commands.context import CommandContext
from app.commands.forms import free_name, group_names, name_error, open_form
from app.commands.registry import Command
from app.presenters.what_if import group_of
from app.sessions.queries import Answers
from broker_core.flow.config import FlowConfig
from broker_core.groups.assignors import AssignorName
from broker_core.operations.queues import QueueSettings
from broker_core.operations.topics import FlowSettings
from broker_core.queues.config import QueueConfig
from broker_core.simulation.actions.groups import CreateGroup
from broker_core.simulation.actions.queues import CreateQueue
from broker_core.simulation.actions.topics import CreateTopic
from broker_core.simulation.simulation import Simulation
from widgets.dialogs.form import Field
from widgets.i18n import tr

KINDS = ("topic", "queue", "group")


class DuplicateHandlers(QObject):
    """One command for whatever is selected; clients have their own, which asks nothing."""

    COMMANDS = (
        Command("duplicate_place", "Duplicate topic, queue or group...", "Topics", "", "copy", "Another one like it."),
    )

    def __init__(self, context: CommandContext) -> None:
        super().__init__(context.window)
        self._context = context
        self._answers = Answers(context.controller, self)
        context.registry.bind("duplicate_place", self.ask, self._why_nothing)
        context.menu_parts.append(self._add_to_menu)

    def _selected(self) -> tuple[str, str]:
        context = self._context
        lane = context.selected("lane").rpartition("/")[0]
        found = ((kind, context.selected(kind)) for kind in KINDS)
        return next(((kind, name) for kind, name in found if name), ("topic", lane))

    def _why_nothing(self) -> str:
        if why := self._context.why_ended():
            return why
        return "" if self._selected()[1] else tr("Select a topic, a queue or a group on the canvas first.")

    def ask(self) -> None:
        """The name of the new one."""
        kind, name = self._selected()
        self._answers.drop()
        if kind == "group":
            self._ask_group(name)
        elif kind == "queue":
            self._answers.ask(
                lambda simulation: _queue_settings(simulation, name), lambda known: self._ask_queue(*known)
            )
        else:
            self._answers.ask(
                lambda simulation: (
                    simulation.broker.logs.partition_count(name),
                    simulation.broker.backpressure.config(name),
                ),
                lambda known: self._ask_topic(name, *known),
                self._context.show_message,
            )

    def _name_field(self, name: str, taken: list[str]) -> Field:
        return Field("name", tr("Name"), value=free_name(name, taken, 2))

    def _places(self) -> list[str]:
        snapshot = self._context.controller.snapshot
        return [topic.name for topic in snapshot.topics] + [queue.name for queue in snapshot.queues]

    def _ask_topic(self, name: str, partitions: int, flow: FlowConfig | None) -> None:
        taken = self._places()
        open_form(
            self._context,
            tr("Duplicate {name}", name=name),
            tr("A topic with as many partitions and the same limits, and without its messages."),
            (self._name_field(name, taken),),
            tr("Create"),
            lambda v: CreateTopic(name=v["name"], partitions=partitions, flow=FlowSettings.of(flow)),
            why_not=lambda v: name_error(v["name"], "topic", taken),
        )

    def _ask_queue(self, name: str, config: QueueConfig, flow: FlowConfig | None) -> None:
        taken = self._places()
        open_form(
            self._context,
            tr("Duplicate {name}", name=name),
            tr("A queue with the same settings and limits, and without its messages."),
            (self._name_field(name, taken),),
            tr("Create"),
            lambda v: CreateQueue(name=v["name"], settings=QueueSettings.of(config), flow=FlowSettings.of(flow)),
            why_not=lambda v: name_error(v["name"], "queue", taken),
        )

    def _ask_group(self, name: str) -> None:
        snapshot = self._context.controller.snapshot
        group = group_of(snapshot, name)
        if group is None:
            return
        taken = group_names(snapshot)
        topics = group.topics or tuple(sorted({at.topic for at in group.offsets}))
        assignor: AssignorName = "range"
        for known in get_args(AssignorName):
            if group.assignor == known:
                assignor = known
        open_form(
            self._context,
            tr("Duplicate {name}", name=name),
            tr("A group that reads the same by the same assignor, without members yet."),
            (self._name_field(name, taken),),
            tr("Create"),
            lambda v: CreateGroup(v["name"], topics, assignor),
            why_not=lambda v: name_error(v["name"], "group", taken),
        )

    def _add_to_menu(self, kind: str, _name: str, menu: QMenu) -> None:
        if kind in {*KINDS, "lane"}:
            menu.addAction(self._context.registry.action("duplicate_place"))


def _queue_settings(simulation: Simulation, name: str) -> tuple[str, QueueConfig, FlowConfig | None]:
    """It gets a dead-letter queue of its own. Raises UNKNOWN_QUEUE, UNKNOWN_TOPIC_OR_PARTITION for a subscription."""
    config = msgspec.structs.replace(simulation.broker.queues.queue(name).config, dead_letter_topic="")
    return name, config, simulation.broker.backpressure.config(name)
