from __future__ import annotations

from collections.abc import Sequence

from app.sessions.previews import position_of
from broker_core.clock import NS_PER_S
from broker_core.groups.offset_reset import Change
from broker_core.guarded.offsets import OffsetsPlan
from broker_core.guarded.redrive import RedrivePlan
from broker_core.simulation.actions.groups import ResetOffsets, Seek
from broker_core.snapshots import Snapshot
from widgets.dialogs.review import Review
from widgets.formats import NOT_APPLICABLE, count, duration
from widgets.i18n import mark, tr


def effect(old: int | None, new: int) -> str:
    if old is None:
        return tr("nothing was committed before")
    if new < old:
        return tr("{count} read again", count=count(old - new))
    return tr("{count} skipped", count=count(new - old)) if new > old else tr("stays")


def in_messages(group: str, again: int, skipped: int) -> str:
    words = mark("Messages of {group} that will be read again: {again}, skipped: {skipped}.")
    return tr(words, group=group, again=count(again), skipped=count(skipped))


def reset_review(snapshot: Snapshot, action: ResetOffsets, changes: Sequence[Change]) -> Review:
    group = snapshot.group(action.group)
    members = 0 if group is None else len(group.members)
    columns = (tr("Partition"), tr("From"), tr("To"), tr("What happens"))
    rows = tuple(
        (
            f"{each.topic}/{each.partition}",
            NOT_APPLICABLE if each.from_offset is None else count(each.from_offset),
            count(each.to_offset),
            effect(each.from_offset, each.to_offset),
        )
        for each in changes
    )
    again = sum(max(0, (each.from_offset or each.to_offset) - each.to_offset) for each in changes)
    skipped = sum(max(0, each.to_offset - each.from_offset) for each in changes if each.from_offset is not None)
    summary = in_messages(action.group, again, skipped)
    problem = ""
    if not changes:
        problem = tr("There is nothing to reset.")
    elif members and not action.restart_members:
        problem = tr(
            "{group} has {count} members; stop them first, or let the reset stop and start them.",
            group=action.group,
            count=members,
        )
    if members and action.restart_members:
        summary += " " + tr("Its consumers stop and start again.")
    return Review(columns, rows, summary, problem)


def seek_review(snapshot: Snapshot, action: Seek, changes: Sequence[Change]) -> Review:
    """The table of a seek. Raises INVALID_REQUEST if the consumer has lost the partition."""
    here, _group = position_of(snapshot, action)
    if not changes:
        return Review((), (), "", tr("There is nowhere to go to."))
    place, there = f"{action.topic}/{action.partition}", changes[0].to_offset
    columns = (tr("Partition"), tr("From"), tr("To"), tr("What happens"))
    rows = ((place, count(here), count(there), effect(here, there)),)
    summary = tr(
        "{client} continues at offset {offset} of {place}.", client=action.consumer, offset=count(there), place=place
    )
    return Review(columns, rows, summary)


_STAYS = {
    "redriven": mark("Redriven before: {count}."),
    "failed again": mark("Came back after a redrive, and stay: {count}."),
    "looping": mark("Came back three times, and stay: {count}; mend what reads them."),
    "without origin": mark("Without a topic to go to: {count}."),
}


def redrive_review(plan: RedrivePlan) -> Review:
    columns = (tr("To"), tr("Letters"), tr("Newest schema"), tr("Read now by"))
    rows = tuple(
        (
            f"{target.topic}/{number}",
            count(letters),
            target.schema or NOT_APPLICABLE,
            ", ".join(target.groups) or tr("nobody"),
        )
        for target in plan.targets
        for number, letters in target.letters.items()
    )
    lasts = duration(int(plan.letters / plan.rate_per_s * NS_PER_S))
    words = tr("Copies {count} in {time}, in order, with key, headers and time.", count=count(plan.letters), time=lasts)
    stays = [tr(_STAYS[reason], count=number) for reason, number in plan.stays.items() if reason != "filtered"]
    problem = "" if plan.letters else " ".join((tr("Nothing would be redriven."), *stays))
    return Review(columns, rows, " ".join((words, *stays)), problem)


def offsets_review(plan: OffsetsPlan) -> Review:
    columns = (tr("Partition"), tr("From"), tr("To"), tr("What happens"), tr("Traffic"))
    rows = []
    for each in plan.changes:
        places = [NOT_APPLICABLE if at is None else count(at.offset) for at in (each.old, each.new)]
        what = effect(None if each.messages is None else 0, each.messages or 0)
        time = NOT_APPLICABLE if each.traffic_s is None else duration(int(each.traffic_s * NS_PER_S))
        rows.append((f"{each.topic}/{each.partition}", *places, what, time))
    summary = in_messages(plan.group, plan.read_again, plan.skipped)
    problem = "" if plan.changes else tr("There is nothing to reset.")
    if plan.members:
        who = ", ".join(plan.members[:5])
        problem = tr("{group} has members, which must stop first: {who}.", group=plan.group, who=who)
    return Review(columns, tuple(rows), summary, problem)
