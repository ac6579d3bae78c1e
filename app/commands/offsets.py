from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from app.commands.context import CommandContext, Handlers
from app.commands.forms import choice, choices, group_names
from app.commands.registry import Command
from app.presenters.reset_review import preview_of, reset_review, seek_preview, seek_review
from app.presenters.what_if import group_of
from app.sessions.queries import Answers
from broker_core.errors import BrokerError
from broker_core.groups.offset_reset import Change, Target
from broker_core.operations.groups import PartitionPlace
from broker_core.operations.groups import ResetOffsets as Reset
from broker_core.simulation.actions.groups import ResetOffsets, Seek
from broker_core.snapshots import GroupView, Snapshot
from widgets.dialogs.form import Field, Values
from widgets.dialogs.review import Review, ReviewDialog
from widgets.formats import sentence
from widgets.i18n import tr
from widgets.panels.offsets import OffsetsPanel

ALL = ""
A = TypeVar("A", ResetOffsets, Seek)


class OffsetHandlers(Handlers):
    COMMANDS = (
        Command("reset_offsets", "Reset offsets...", "Offsets", "Ctrl+Alt+O", "restart", "Where a group reads from."),
        Command("seek", "Seek...", "Offsets", "Ctrl+Alt+K", "offsets", "Where a consumer continues reading."),
    )

    MENU = ((("group",), ("reset_offsets",)), (("consumer",), ("seek",)))

    def __init__(self, context: CommandContext) -> None:
        super().__init__(context)
        no_group, no_owner = tr("There is no group."), tr("No consumer owns a partition now.")
        self.bind_action("reset_offsets", ResetOffsets, self.ask_reset, lambda: self._snapshot.groups, no_group)
        self.bind_action("seek", Seek, self.ask_seek, self._is_any_owned, no_owner)
        panel = context.window.tab(OffsetsPanel)
        panel.resetWanted.connect(lambda: context.registry.trigger("reset_offsets"))
        panel.seekWanted.connect(lambda: context.registry.trigger("seek"))
        panel.currentChanged.connect(lambda _key: context.registry.refresh("reset_offsets", "seek"))
        for command in ("reset_offsets", "seek"):
            context.registry.action(command).changed.connect(self._show_reasons)

    def _show_reasons(self) -> None:
        action = self._context.registry.action
        reasons = [str(action(command).data() or "") for command in ("reset_offsets", "seek")]
        self._context.window.tab(OffsetsPanel).forbid(*reasons)

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
        chosen = found.name if found is not None else ""
        groups = group_names(snapshot)
        row = self._row()
        topics = sorted({at.topic for each in snapshot.groups for at in each.offsets})
        self._review(
            tr("Reset offsets"),
            tr("Changes the committed offsets of a group. Its members continue from there after a restart."),
            (
                choice("group", tr("Group"), groups, chosen),
                choice(
                    "topic", tr("Of"), {ALL: tr("everything that it reads"), **choices(topics)}, row[1] if row else ALL
                ),
                Field(
                    "partition",
                    tr("Partition"),
                    "whole",
                    row[2] if row else None,
                    least=-1,
                    most=100_000,
                    none=tr("all of them"),
                    shown_for=("topic", tuple(topics)),
                ),
                *_target_fields(groups),
                Field(
                    "restart",
                    tr("Stop its consumers, reset, and start them again"),
                    "check",
                    bool(found is not None and found.members),
                ),
            ),
            _reset,
            preview_of,
            reset_review,
        )

    def _review(
        self,
        title: str,
        about: str,
        fields: Sequence[Field],
        make: Callable[[Values], A],
        preview: Callable[[Snapshot, A, int], Reset],
        told: Callable[[Snapshot, A, Sequence[Change]], Review],
    ) -> None:
        """Ask for what `make` needs; `told` shows what the dry run `preview` finds before it is done."""
        context = self._context
        dialog = ReviewDialog(title, about, fields, why_not=_why_not_target, parent=context.window)
        answers = Answers(context.controller, dialog)

        def fail(why: str) -> None:
            dialog.problem.setText(sentence(why))

        def review(values: Values) -> None:
            now, action = self._snapshot, make(values)
            try:
                request = preview(now, action, self._epoch_ms)
            except BrokerError as error:
                fail(str(error))
            else:
                answers.ask(request, lambda found: dialog.set_review(told(now, action, found.changes)), fail)

        dialog.reviewWanted.connect(review)
        dialog.chosen.connect(lambda values: context.perform(make(values)))
        dialog.open()

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

        self._review(
            tr("Seek"),
            tr("Moves the position of a consumer. The committed offsets of its group do not change."),
            (
                choice(
                    "place",
                    tr("Partition"),
                    {
                        key: tr("{topic}/{partition}, read by {client}", topic=t, partition=p, client=c)
                        for key, (c, t, p) in keys.items()
                    },
                    first or next(iter(keys), ""),
                ),
                *_target_fields([]),
            ),
            made,
            seek_preview,
            seek_review,
        )


def _target_fields(groups: list[str]) -> tuple[Field, ...]:
    forms = [
        ("earliest", tr("the earliest message")),
        ("latest", tr("the end: skip everything")),
        ("offset", tr("an offset")),
        ("timestamp", tr("a session time")),
        ("shift-by", tr("forwards or backwards by a number of messages")),
    ]
    fields = [
        Field("offset", tr("Offset"), "whole", 0, most=2_000_000_000, shown_for=("form", ("offset",))),
        Field(
            "time_s",
            tr("Published from"),
            "decimal",
            0,
            most=1_000_000,
            suffix=tr(" s of session time"),
            shown_for=("form", ("timestamp",)),
        ),
        Field(
            "shift",
            tr("By"),
            "whole",
            -10,
            least=-2_000_000_000,
            most=2_000_000_000,
            suffix=tr(" messages"),
            shown_for=("form", ("shift-by",)),
        ),
    ]
    if groups:
        forms.append(("group", tr("where another group is")))
        fields.append(choice("other", tr("Other group"), groups, shown_for=("form", ("group",))))
    return (Field("form", tr("To"), "choice", "earliest", choices=tuple(forms)), *fields)


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
        restart_members=values["restart"],
    )


def _why_not_target(values: Values) -> str:
    if values["form"] == "group" and values.get("other") == values.get("group"):
        return tr("Choose another group than the one that is reset.")
    if values["form"] == "shift-by" and not values["shift"]:
        return tr("A shift of 0 changes nothing.")
    return ""
