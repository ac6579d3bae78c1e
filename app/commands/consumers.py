from __future__ import annotations

from functools import partial

from PySide6.QtWidgets import QMenu

from app.commands.context import CommandContext, Handlers
from app.commands.forms import free_name, group_names, name_error
from app.presenters.ghost import ghost
from broker_core.simulation.actions.groups import MoveConsumer, Start
from broker_core.snapshots import Snapshot
from widgets.canvas.view import NEW_GROUP
from widgets.dialogs.move_to_group import BENCH, MoveChoice, MoveToGroupDialog
from widgets.i18n import tr
from widgets.theme_states import state_style


class ConsumerHandlers(Handlers):
    def __init__(self, context: CommandContext) -> None:
        super().__init__(context)
        canvas = context.canvas
        canvas.consumerDropped.connect(self.move)
        canvas.consumerDroppedOnEmpty.connect(lambda consumer: self.ask_where(consumer, NEW_GROUP))
        canvas.moveRequested.connect(self.ask_where)
        canvas.ghostRequested.connect(self._show_ghost)
        bind, select = self.bind_action, tr("Select a consumer on the canvas first.")
        bind("move_consumer", MoveConsumer, lambda: self.ask_where(self._consumer()), self._consumer, select)
        put = partial(self.move, group="")
        bind(
            "bench_consumer",
            MoveConsumer,
            lambda: put(self._consumer()),
            self._consumer,
            select,
            why_not=lambda: why_not_benched(self._snapshot, self._consumer()),
        )

    def _show_ghost(self, consumer: str, target: str) -> None:
        context = self._context
        snapshot, why = context.controller.snapshot, context.controller.why_not()
        if not why and (other := why_not_to(snapshot, consumer, target)):
            why = tr("{consumer} cannot go there.", consumer=consumer) + "\n" + other
        context.canvas.set_ghost(why or ghost(snapshot, context.views.owners, consumer, target))

    def _consumer(self) -> str:
        return self._context.selected("consumer")

    def move(self, consumer: str, group: str, start: Start = "earliest") -> None:
        """Move `consumer` to `group`; "" is the bench, and a new group reads from `start`."""
        self._controller.perform(MoveConsumer(consumer, group, start))

    def ask_where(self, consumer: str, target: str = "") -> None:
        context = self._context
        snapshot = context.controller.snapshot
        if why := context.controller.why_not() or why_not_to(snapshot, consumer, target):
            context.show_message(why)
            return
        taken = group_names(snapshot)
        new_name = free_name(current_group(snapshot, consumer) or "group", taken, 2)
        dialog = MoveToGroupDialog(
            consumer,
            move_choices(snapshot, consumer),
            lambda name: name_error(name, "group", taken),
            new_name,
            context.window,
        )
        dialog.ghostRequested.connect(
            lambda who, where: dialog.set_ghost(ghost(context.controller.snapshot, context.views.owners, who, where))
        )
        dialog.chosen.connect(self.move)
        if target == NEW_GROUP:
            dialog.choose(NEW_GROUP)
        dialog.open()

    def _add_to_menu(self, kind: str, consumer: str, menu: QMenu) -> None:
        if kind != "consumer":
            return
        ended = self._controller.why_not()
        for choice in move_choices(self._snapshot, consumer):
            if choice.target == NEW_GROUP:
                continue
            words = tr("Move to {target}", target=choice.target or tr("the bench"))
            move = partial(self.move, consumer, choice.target)
            self.add_entry(menu, words, move, choice.reason or ended, choice.about)
        menu.addSeparator()
        menu.addAction(self._context.registry.action("move_consumer"))


def current_group(snapshot: Snapshot, consumer: str) -> str:
    """The group that a consumer belongs to or is on its way to; "" on the bench."""
    actor = next((one for one in snapshot.actors if one.name == consumer), None)
    if actor is not None:
        return actor.target
    return next((group.name for group in snapshot.groups if any(one.client == consumer for one in group.members)), "")


def group_of_other_program(snapshot: Snapshot, consumer: str) -> str:
    """The group of a consumer that is another program's, on the bench or not; "" for one of the session."""
    actor = next((one for one in snapshot.actors if one.name == consumer), None)
    return current_group(snapshot, consumer) if actor is None else actor.held_from


def why_not_to(snapshot: Snapshot, consumer: str, target: str) -> str:
    """Why a consumer of another program cannot go to `target`, a group or a new one; "" if it can."""
    group = group_of_other_program(snapshot, consumer)
    if not group or target in {BENCH, group}:
        return ""
    return tr(
        "{consumer} belongs to another program, which sets its group.id: it can only go to the bench and back to "
        "{group}.",
        consumer=consumer,
        group=group,
    )


def why_not_benched(snapshot: Snapshot, consumer: str) -> str:
    on_bench = not current_group(snapshot, consumer)
    return tr("{consumer} is already on the bench.", consumer=consumer) if on_bench else ""


def move_choices(snapshot: Snapshot, consumer: str) -> list[MoveChoice]:
    """Every group, the bench, and a new group; if the consumer already is says so.

    One of another program goes to its own group and the bench only.
    """
    now = current_group(snapshot, consumer)
    choices = []
    for group in snapshot.groups:
        if why_not_to(snapshot, consumer, group.name):
            continue
        members = len(group.members)
        reads = ", ".join(group.topics) or tr("nothing")
        about = tr(
            "{state}, {members}, reads {topics}",
            state=state_style(group.state).word,
            members=tr("1 member") if members == 1 else tr("{count} members", count=members),
            topics=reads,
        )
        reason = tr("{consumer} is already in this group.", consumer=consumer) if group.name == now else ""
        choices.append(MoveChoice(group.name, group.name, about, reason))
    benched = why_not_benched(snapshot, consumer)
    choices.append(MoveChoice(BENCH, tr("The bench"), tr("Reads nothing until it is moved again"), benched))
    if not why_not_to(snapshot, consumer, NEW_GROUP):
        choices.append(MoveChoice(NEW_GROUP, tr("New group..."), tr("Has all partitions to itself")))
    return choices
