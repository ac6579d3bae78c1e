from __future__ import annotations

from app.commands.context import CommandContext, Handlers
from app.commands.forms import choice, choices, group_names, name_error, topic_names
from app.commands.registry import Command
from app.presenters.what_if import assignor_plans, group_of
from broker_core.groups.assignors import ASSIGNORS
from broker_core.simulation.actions.groups import (
    CreateGroup,
    DeleteGroup,
    SetAssignor,
    SubscribeGroup,
    UnsubscribeGroup,
)
from widgets.dialogs.assignors import AssignorsDialog
from widgets.dialogs.form import Field
from widgets.i18n import mark, tr

NO_GROUP = mark("There is no group; create one first.")


class GroupHandlers(Handlers):
    COMMANDS = (
        Command("create_group", "Create group...", "Groups", "", "add", "A group for consumers to move into."),
        Command(
            "subscribe_group",
            "Subscribe group to topic...",
            "Groups",
            "Ctrl+Alt+S",
            "group",
            "The group reads one more topic.",
        ),
        Command("unsubscribe_group", "Unsubscribe group...", "Groups", "", "", "The group reads one topic less."),
        Command("what_if", "Compare assignors...", "Groups", "Ctrl+Alt+A", "assignments", "Owners of partitions."),
        Command("delete_group", "Delete group", "Groups", "", "close", "Deletes the group and its committed offsets."),
    )

    MENU = (
        (("group",), ("what_if", "subscribe_group", "unsubscribe_group", "delete_group")),
        (("topic",), ("subscribe_group",)),
        (("",), ("create_group",)),
    )

    def __init__(self, context: CommandContext) -> None:
        super().__init__(context)
        no_topic, no_group = tr("There is no topic; create one first."), tr(NO_GROUP)
        self.bind_action("create_group", CreateGroup, self.ask_group, lambda: topic_names(self._snapshot), no_topic)
        context.registry.bind(
            "subscribe_group",
            self.ask_subscribe,
            lambda: (
                context.why_not(self._snapshot.groups, no_group)
                or context.why_not(topic_names(self._snapshot), no_topic)
            ),
            SubscribeGroup,
        )
        self.bind_action(
            "unsubscribe_group", UnsubscribeGroup, self.ask_unsubscribe, lambda: self._snapshot.groups, no_group
        )
        context.registry.bind("what_if", self.show_what_if, self._why_no_members)
        context.registry.bind("delete_group", self._delete, self._why_no_delete, DeleteGroup)
        context.canvas.topicDropped.connect(self.subscribe)

    def _only_or_selected(self) -> str:
        groups = group_names(self._snapshot)
        return self._context.selected_group() or (groups[0] if groups else "")

    def _why_no_members(self) -> str:
        if self._controller.scenario is None:
            return self._context.why_ended()
        group = group_of(self._snapshot, self._only_or_selected())
        if group is None:
            return tr(NO_GROUP)
        return "" if group.members else tr("{group} has no members to assign partitions to.", group=group.name)

    def _why_no_delete(self) -> str:
        group = group_of(self._snapshot, self._context.selected("group"))
        if group is not None and group.members:
            return self._context.why_ended() or tr("{group} has members; move them out first.", group=group.name)
        return self._context.why_not(group, tr("Select a group on the canvas first."))

    def ask_group(self) -> None:
        snapshot = self._snapshot
        taken = group_names(snapshot)
        self.form(
            tr("Create group"),
            tr("Consumers that move into it share the partitions of its topic."),
            (
                Field("group", tr("Name"), hint=tr("such as reports")),
                choice("topic", tr("Reads"), topic_names(snapshot), self._context.selected("topic")),
                choice("assignor", tr("Assignor"), choices(ASSIGNORS), "range"),
            ),
            tr("Create"),
            lambda v: CreateGroup(v["group"], (v["topic"],), v["assignor"]),
            why_not=lambda v: name_error(v["group"], "group", taken),
        )

    def ask_subscribe(self) -> None:
        snapshot = self._snapshot
        reads = {each.name: each.topics for each in snapshot.groups}
        chosen = self._only_or_selected()
        topics = topic_names(snapshot)
        first = next((topic for topic in topics if topic not in reads.get(chosen, ())), "")
        self.form(
            tr("Subscribe group to topic"),
            tr("All its members rejoin and also share out the topic's partitions."),
            (
                choice("group", tr("Group"), choices(reads), chosen),
                choice("topic", tr("Topic"), topics, self._context.selected("topic") or first),
            ),
            tr("Subscribe"),
            lambda v: SubscribeGroup(v["group"], v["topic"]),
            why_not=lambda v: (
                tr("{group} already reads {topic}.", **v) if v["topic"] in reads.get(v["group"], ()) else ""
            ),
        )

    def ask_unsubscribe(self) -> None:
        reads = {each.name: each.topics for each in self._snapshot.groups}
        chosen = self._only_or_selected()
        self.form(
            tr("Unsubscribe group"),
            tr("Its committed offsets stay, so it can continue from there."),
            (
                choice("group", tr("Group"), choices(reads), chosen),
                choice(
                    "topic",
                    tr("Topic"),
                    sorted({topic for topics in reads.values() for topic in topics}),
                    next(iter(reads.get(chosen, ())), ""),
                ),
            ),
            tr("Unsubscribe"),
            lambda v: UnsubscribeGroup(v["group"], v["topic"]),
            why_not=lambda v: _why_not_unsubscribed(v["group"], v["topic"], reads.get(v["group"], ())),
        )

    def subscribe(self, topic: str, group: str) -> None:
        self._context.perform(SubscribeGroup(group, topic))

    def _delete(self) -> None:
        self._context.perform(DeleteGroup(group=self._context.selected("group")))

    def show_what_if(self) -> None:
        context, found = self._context, group_of(self._snapshot, self._only_or_selected())
        if found is None:
            context.show_message(tr(NO_GROUP))
            return
        places, now, plans = assignor_plans(self._snapshot, found)
        dialog = AssignorsDialog(found.name, places, now, plans, why_not=context.why_ended(), parent=context.window)
        dialog.chosen.connect(lambda name: context.perform(SetAssignor(found.name, name)))
        dialog.open()


def _why_not_unsubscribed(group: str, topic: str, reads: tuple[str, ...]) -> str:
    if topic not in reads:
        return tr("{group} does not read {topic}.", group=group, topic=topic)
    if len(reads) == 1:
        return tr("{group} would read nothing; move its consumers out and delete it.", group=group)
    return ""
