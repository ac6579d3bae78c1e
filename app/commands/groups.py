from __future__ import annotations

import msgspec

from app.commands.context import CommandContext, Handlers, lacking
from app.commands.forms import as_is, choice, group_names, name_error, request_field, topic_names
from app.presenters.what_if import assignor_plans, group_of
from broker_core.groups.assignors import ASSIGNORS
from broker_core.groups.config import GroupSettings
from broker_core.operations.field_info import field_info
from broker_core.operations.groups import GroupChanges, GroupConfiguration
from broker_core.simulation.actions.groups import (
    ConfigureGroup,
    CreateGroup,
    DeleteGroup,
    SetAssignor,
    SubscribeGroup,
    UnsubscribeGroup,
)
from broker_core.snapshots import GroupView
from widgets.dialogs.assignors import AssignorsDialog
from widgets.dialogs.form import Field
from widgets.formats import sentence
from widgets.i18n import mark, tr

NO_GROUP = mark("There is no group; create one first.")


class GroupHandlers(Handlers):
    MENU = (
        (("group",), ("what_if", "subscribe_group", "unsubscribe_group", "configure_group", "delete_group")),
        (("topic",), ("subscribe_group",)),
        (("",), ("create_group",)),
    )

    def __init__(self, context: CommandContext) -> None:
        super().__init__(context)
        no_topic, no_group = tr("There is no topic; create one first."), tr(NO_GROUP)
        select = tr("Select a group on the canvas first.")
        bind, groups, topics = self.bind_action, lambda: self._snapshot.groups, lambda: topic_names(self._snapshot)
        bind("create_group", CreateGroup, self.ask_group, topics, no_topic)
        why_no_topic = lacking(topics, no_topic)
        bind("subscribe_group", SubscribeGroup, self.ask_subscribe, groups, no_group, why_not=why_no_topic)
        bind("unsubscribe_group", UnsubscribeGroup, self.ask_unsubscribe, groups, no_group)
        bind("configure_group", ConfigureGroup, self.ask_settings)
        context.registry.bind("what_if", self.show_what_if, self._why_no_members)
        bind("delete_group", DeleteGroup, self._delete, self._group, select, why_not=self._why_no_delete)
        context.canvas.topicDropped.connect(self.subscribe)

    def _only_or_selected(self) -> str:
        groups = group_names(self._snapshot)
        return self._context.selected_group() or (groups[0] if groups else "")

    def _why_no_members(self) -> str:
        if self._controller.source.scenario is None:
            return self._controller.why_not()
        group = group_of(self._snapshot, self._only_or_selected())
        if group is None:
            return tr(NO_GROUP)
        return "" if group.members else tr("{group} has no members to assign partitions to.", group=group.name)

    def _group(self) -> GroupView | None:
        return group_of(self._snapshot, self._context.selected("group"))

    def _why_no_delete(self) -> str:
        group = self._group()
        has_members = group is not None and group.members
        return tr("{group} has members; move them out first.", group=group.name) if group and has_members else ""

    def ask_group(self) -> None:
        snapshot = self._snapshot
        taken = group_names(snapshot)
        self.form(
            "create_group",
            lambda v: CreateGroup(v["group"], (v["topic"],), v["assignor"]),
            {
                "topic": choice(topic_names(snapshot), self._context.selected("topic")),
                "assignor": {"choices": list(ASSIGNORS)},
            },
            why_not=lambda v: name_error(v["group"], "group", taken),
        )

    def ask_subscribe(self) -> None:
        snapshot = self._snapshot
        reads = {each.name: each.topics for each in snapshot.groups}
        chosen = self._only_or_selected()
        topics = topic_names(snapshot)
        first = next((topic for topic in topics if topic not in reads.get(chosen, ())), "")
        self.form(
            "subscribe_group",
            lambda v: SubscribeGroup(v["group"], v["topic"]),
            {"group": choice(as_is(reads), chosen), "topic": choice(topics, self._context.selected("topic") or first)},
            why_not=lambda v: (
                tr("{group} already reads {topic}.", **v) if v["topic"] in reads.get(v["group"], ()) else ""
            ),
        )

    def ask_unsubscribe(self) -> None:
        reads = {each.name: each.topics for each in self._snapshot.groups}
        chosen = self._only_or_selected()
        topics = sorted({topic for topics in reads.values() for topic in topics})
        first = next(iter(reads.get(chosen, ())), "")
        self.form(
            "unsubscribe_group",
            lambda v: UnsubscribeGroup(v["group"], v["topic"]),
            {"group": choice(as_is(reads), chosen), "topic": choice(topics, first)},
            why_not=lambda v: _why_not_unsubscribed(v["group"], v["topic"], reads.get(v["group"], ())),
        )

    def ask_settings(self) -> None:
        """A group of any kind: subscriptions of share groups are named by group and topic."""
        shared = (each.name.removesuffix(f".{each.reads}") for each in self._snapshot.queues if each.reads)
        known = dict.fromkeys(filter(None, (self._only_or_selected(), *group_names(self._snapshot), *shared)))
        names = GroupSettings.__struct_fields__
        self.form(
            "configure_group",
            lambda v: ConfigureGroup(
                group=v["group"], settings=GroupChanges.of(GroupSettings(**{name: v[name] for name in names}))
            ),
            {"group": {"choices": list(known)}},
            more=map(_setting, names),
            why_not=lambda v: name_error(v["group"], "group", ()),
            known=lambda v: GroupConfiguration(group=v["group"]),
            values=msgspec.structs.asdict,
            by="group",
        )

    def subscribe(self, topic: str, group: str) -> None:
        self._controller.perform(SubscribeGroup(group, topic))

    def _delete(self) -> None:
        self._controller.perform(DeleteGroup(group=self._context.selected("group")))

    def show_what_if(self) -> None:
        context, found = self._context, group_of(self._snapshot, self._only_or_selected())
        if found is None:
            context.show_message(tr(NO_GROUP))
            return
        places, now, plans = assignor_plans(self._snapshot, found)
        why_not = self._controller.why_not(SetAssignor)
        dialog = AssignorsDialog(found.name, places, now, plans, why_not=why_not, parent=context.window)
        dialog.chosen.connect(lambda name: self._controller.perform(SetAssignor(found.name, name)))
        dialog.open()


def _setting(name: str) -> Field:
    label = sentence(tr(field_info(GroupSettings, name).about).partition(" (")[0]).rstrip(".")
    return request_field(GroupSettings, name, label, hint="", suffix=" ms" if name.endswith("_ms") else "")


def _why_not_unsubscribed(group: str, topic: str, reads: tuple[str, ...]) -> str:
    if topic not in reads:
        return tr("{group} does not read {topic}.", group=group, topic=topic)
    if len(reads) == 1:
        return tr("{group} would read nothing; move its consumers out and delete it.", group=group)
    return ""
