from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from app.commands.context import CommandContext, Handlers
from app.commands.forms import Form, choice, form_of, group_names
from app.commands.reviews import open_review
from app.presenters.offsets import OffsetsPanel
from app.presenters.plan_review import offsets_review
from app.presenters.reset_review import preview_of, reset_review, seek_preview, seek_review
from app.presenters.what_if import group_of
from broker_core.groups.offset_reset import Change, Target
from broker_core.operations.groups import PartitionPlace
from broker_core.operations.groups import ResetOffsets as Reset
from broker_core.operations.guarded import PlanOffsets
from broker_core.simulation.actions.groups import ResetOffsets, Seek, SetPlannedOffsets
from broker_core.snapshots import GroupView, Snapshot
from widgets.dialogs.form import Values
from widgets.dialogs.review import Review
from widgets.i18n import tr

ALL = ""
A = TypeVar("A", ResetOffsets, Seek)


class OffsetHandlers(Handlers):
    MENU = ((("group",), ("reset_offsets",)), (("consumer",), ("seek",)))

    def __init__(self, context: CommandContext) -> None:
        super().__init__(context)
        no_group, no_owner = tr("There is no group."), tr("No consumer owns a partition now.")
        self.bind_action("reset_offsets", PlanOffsets, self.ask_reset, lambda: self._snapshot.groups, no_group)
        self.bind_action("seek", Seek, self.ask_seek, self._is_any_owned, no_owner)

    def _row(self) -> tuple[str, str, int] | None:
        """(group, topic, partition) of the row that is chosen in the panel, while that is in front."""
        window = self._context.window
        key = window.tab(OffsetsPanel).current_key() if window.shown_tab() == "offsets" else None
        return key if isinstance(key, tuple) and len(key) == 3 else None

    def _group(self) -> GroupView | None:
        row, groups = self._row(), self._snapshot.groups
        name = self._context.selected_group() or (row[0] if row else "")
        return group_of(self._snapshot, name) or next(iter(groups), None)

    def _is_any_owned(self) -> bool:
        return any(member.partitions for group in self._snapshot.groups for member in group.members)

    @property
    def _epoch_ms(self) -> int:
        return round(self._controller.source.started_at.timestamp() * 1_000)

    def ask_reset(self) -> None:
        snapshot, found = self._snapshot, self._group()
        groups, row = group_names(snapshot), self._row()
        topics = sorted({at.topic for each in snapshot.groups for at in each.offsets})
        has_members = bool(found is not None and found.members)
        form = form_of(
            "reset_offsets",
            {
                "group": choice(groups, found.name if found is not None else ""),
                "topic": choice(topics, row[1] if row else ALL),
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
            lambda _values, found: self._controller.perform(SetPlannedOffsets(group=found.group, plan=found)),
            SetPlannedOffsets,
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


def _target(values: Values) -> Target:
    form = values["form"]
    return Target(
        form,
        offset=values["offset"] if form == "offset" else values["shift"] if form == "shift-by" else 0,
        timestamp_ms=round(values["time_s"] * 1_000) if form == "timestamp" else 0,
        group=values["other"] if form == "group" else "",
    )


def _reset(values: Values) -> ResetOffsets:
    target, topic = _target(values), values["topic"]
    return ResetOffsets(
        group=values["group"],
        form=target.form,
        offset=target.offset,
        timestamp_ms=target.timestamp_ms,
        from_group=target.group or None,
        partitions=[PartitionPlace(topic=topic, partition=values.get("partition"))] if topic else None,
        restart_members=values.get("restart", False),
    )


def _why_not_target(values: Values) -> str:
    if values["form"] == "group" and values.get("other") == values.get("group"):
        return tr("Choose another group than the one that is reset.")
    if values["form"] == "shift-by" and not values["shift"]:
        return tr("A shift of 0 changes nothing.")
    return ""
