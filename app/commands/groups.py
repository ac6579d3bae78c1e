from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import msgspec

from app.commands.context import CommandContext, Handlers, lacking
from app.commands.forms import Form, as_is, choice, form_of, group_names, name_error, request_field, topic_names
from app.commands.review import open_review
from app.presenters.offsets import OffsetsPanel
from app.presenters.reviews import offsets_review, reset_review, seek_review
from app.presenters.what_if import assignor_plans
from app.sessions.previews import preview_of, seek_preview
from broker_core.groups.assignors import ASSIGNORS
from broker_core.groups.config import GroupSettings
from broker_core.groups.offset_reset import Change, Target
from broker_core.operations.field_info import field_info
from broker_core.operations.groups import GroupChanges, GroupConfiguration
from broker_core.operations.groups import ResetOffsets as Reset
from broker_core.operations.guarded import PlanOffsets
from broker_core.simulation.actions.groups import (
    ConfigureGroup,
    CreateGroup,
    DeleteGroup,
    ResetOffsets,
    Seek,
    SetAssignor,
    SetOffsets,
    SubscribeGroup,
    UnsubscribeGroup,
)
from broker_core.snapshots import GroupView, Snapshot
from widgets.dialogs.assignors import AssignorsDialog
from widgets.dialogs.field_widgets import Field
from widgets.dialogs.form import Values
from widgets.dialogs.review import Review
from widgets.formats import sentence
from widgets.i18n import mark, tr

NO_GROUP = mark("There is no group; create one first.")
A = TypeVar("A", ResetOffsets, Seek)


class GroupHandlers(Handlers):
    MENU = (
        ("group", "what_if subscribe_group unsubscribe_group configure_group delete_group reset_offsets"),
        ("consumer", "seek"),
        ("topic", "subscribe_group"),
        ("", "create_group"),
    )

    def __init__(self, context: CommandContext) -> None:
        super().__init__(context)

        def groups() -> object:
            return self._snapshot.groups

        bind, why_not = context.registry.bind, self._why_impossible
        no_topic = lacking(lambda: topic_names(self._snapshot), tr("There is no topic; create one first."))
        no_group, unselected = lacking(groups, tr(NO_GROUP)), tr("Select a group on the canvas first.")
        bind("create_group", self.ask_group, why_not(CreateGroup), no_topic)
        bind("subscribe_group", self.ask_subscribe, why_not(SubscribeGroup), no_group, no_topic)
        bind("unsubscribe_group", self.ask_unsubscribe, why_not(UnsubscribeGroup), no_group)
        bind("configure_group", self.ask_settings, why_not(ConfigureGroup))
        bind("what_if", self.show_what_if, self._why_no_members)
        bind("delete_group", self._delete, why_not(DeleteGroup), lacking(self._group, unselected), self._why_no_delete)
        bind("reset_offsets", self.ask_reset, why_not(PlanOffsets), lacking(groups, tr("There is no group.")))
        bind("seek", self.ask_seek, why_not(Seek), lacking(self._is_any_owned, tr("No consumer owns a partition now.")))
        context.canvas.topic_drag.dropped.connect(self.subscribe)

    def _only_or_selected(self) -> str:
        groups = group_names(self._snapshot)
        return self._context.selected_group() or (groups[0] if groups else "")

    def _why_no_members(self) -> str:
        if self._controller.source.scenario is None:
            return self._controller.why_not()
        group = self._snapshot.group(self._only_or_selected())
        if group is None:
            return tr(NO_GROUP)
        return "" if group.members else tr("{group} has no members to assign partitions to.", group=group.name)

    def _group(self) -> GroupView | None:
        return self._snapshot.group(self._context.selected("group"))

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
        dialog = self.form(
            "configure_group",
            lambda v: ConfigureGroup(
                group=v["group"], settings=GroupChanges.of(GroupSettings(**{name: v[name] for name in names}))
            ),
            {"group": {"choices": list(known)}},
            more=map(_setting, names),
            why_not=lambda v: name_error(v["group"], "group", ()),
        )
        self.begin_with(dialog, lambda v: GroupConfiguration(group=v["group"]), msgspec.structs.asdict, by="group")

    def subscribe(self, topic: str, group: str) -> None:
        self._controller.perform(SubscribeGroup(group, topic))

    def _delete(self) -> None:
        self._controller.perform(DeleteGroup(group=self._context.selected("group")))

    def show_what_if(self) -> None:
        context, found = self._context, self._snapshot.group(self._only_or_selected())
        if found is None:
            context.show_message(tr(NO_GROUP))
            return
        places, now, plans = assignor_plans(self._snapshot, found)
        why_not = self._controller.why_not(SetAssignor)
        dialog = AssignorsDialog(found.name, places, now, plans, why_not=why_not, parent=context.window)
        dialog.chosen.connect(lambda name: self._controller.perform(SetAssignor(found.name, name)))
        dialog.open()

    def _row(self) -> tuple[str, str, int] | None:
        """(group, topic, partition) of the row that is chosen in the panel, while that is in front."""
        window = self._context.window
        key = window.tab(OffsetsPanel).current_key() if window.shown_tab() == "offsets" else None
        return key if isinstance(key, tuple) and len(key) == 3 else None

    def _group_of_offsets(self) -> GroupView | None:
        row, groups = self._row(), self._snapshot.groups
        name = self._context.selected_group() or (row[0] if row else "")
        return self._snapshot.group(name) or next(iter(groups), None)

    def _is_any_owned(self) -> bool:
        return any(member.partitions for group in self._snapshot.groups for member in group.members)

    @property
    def _epoch_ms(self) -> int:
        return round(self._controller.source.started_at.timestamp() * 1_000)

    def ask_reset(self) -> None:
        snapshot, found = self._snapshot, self._group_of_offsets()
        groups, row = group_names(snapshot), self._row()
        topics = sorted({at.topic for each in snapshot.groups for at in each.offsets})
        has_members = bool(found is not None and found.members)
        form = form_of(
            "reset_offsets",
            {
                "group": choice(groups, found.name if found is not None else ""),
                "topic": choice(topics, row[1] if row else ""),
                "partition": {"value": row[2] if row else None, "shown_for": ("topic", topics)},
                "form": {"choices": {"group": tr("where another group is")}},
                "other": {"choices": groups},
                "restart": {"value": has_members} if self._restarts else None,
            },
        )
        if self._restarts:
            self._review(form, _reset, preview_of, reset_review, ResetOffsets)
            return

        def plan(values: Values) -> PlanOffsets:
            asked = preview_of(self._snapshot, _reset(values), self._epoch_ms)
            fields = ("group", "form", "offset", "timestamp_ms", "from_group", "partitions")
            return PlanOffsets(**{name: getattr(asked, name) for name in fields})

        open_review(
            self._context,
            form,
            plan,
            lambda _values, found: offsets_review(found),
            lambda _values, found: self._controller.perform(SetOffsets(group=found.group, plan=found)),
            SetOffsets,
            _why_not_target,
        )

    def _review(
        self,
        form: Form,
        make: Callable[[Values], A],
        preview: Callable[[Snapshot, A, int], Reset],
        told: Callable[[Snapshot, A, Sequence[Change]], Review],
        does: type[A],
    ) -> None:
        """Ask for what `make` needs; `told` shows what the dry run `preview` finds before it is done."""
        open_review(
            self._context,
            form,
            lambda values: preview(self._snapshot, make(values), self._epoch_ms),
            lambda values, found: told(self._snapshot, make(values), found.changes),
            lambda values, _found: self._controller.perform(make(values)),
            does,
            _why_not_target,
        )

    @property
    def _restarts(self) -> bool:
        """Whether members of a group can be stopped and started here; where they cannot, offsets are planned."""
        return not self._controller.source.why_not(ResetOffsets)

    def ask_seek(self) -> None:
        keys = {
            f"{topic}/{partition} {member.client}": (member.client, topic, partition)
            for group in self._snapshot.groups
            for member in group.members
            for topic, partition in member.partitions
        }
        row, consumer = self._row(), self._context.selected("consumer")
        first = next((key for key, place in keys.items() if row is not None and place[1:] == row[1:]), "")
        first = first or next((key for key, place in keys.items() if place[0] == consumer), "")

        def made(values: Values) -> Seek:
            client, topic, partition = keys[values["place"]]
            return Seek(client, topic, partition, _target(values))

        known = {
            key: tr("{topic}/{partition}, read by {client}", topic=t, partition=p, client=c)
            for key, (c, t, p) in keys.items()
        }
        form = form_of("seek", {"place": choice(known, first or next(iter(keys), "")), "other": None})
        self._review(form, made, seek_preview, seek_review, Seek)


def _setting(name: str) -> Field:
    label = sentence(tr(field_info(GroupSettings, name).about).partition(" (")[0]).rstrip(".")
    return request_field(GroupSettings, name, label, hint="", suffix=" ms" if name.endswith("_ms") else "")


def _why_not_unsubscribed(group: str, topic: str, reads: tuple[str, ...]) -> str:
    if topic not in reads:
        return tr("{group} does not read {topic}.", group=group, topic=topic)
    if len(reads) == 1:
        return tr("{group} would read nothing; move its consumers out and delete it.", group=group)
    return ""


def _target(values: Values) -> Target:
    form = values["form"]
    return Target(
        form,
        offset=values["offset"] if form == "offset" else values["shift"] if form == "shift-by" else 0,
        timestamp_ms=round(values["time_s"] * 1_000) if form == "timestamp" else 0,
        group=values["other"] if form == "group" else "",
    )


def _reset(values: Values) -> ResetOffsets:
    places = [(values["topic"], values.get("partition"))] if values["topic"] else None
    return ResetOffsets.of(values["group"], _target(values), places, restart_members=values.get("restart", False))


def _why_not_target(values: Values) -> str:
    if values["form"] == "group" and values.get("other") == values.get("group"):
        return tr("Choose another group than the one that is reset.")
    if values["form"] == "shift-by" and not values["shift"]:
        return tr("A shift of 0 changes nothing.")
    return ""
