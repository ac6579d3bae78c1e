"""Plans of redrives and of offsets, in words: what will happen, in messages and in seconds."""

from __future__ import annotations

from app.presenters.reset_review import effect, in_messages
from broker_core.clock import NS_PER_S
from broker_core.guarded.offsets import OffsetsPlan
from broker_core.guarded.redrive import RedrivePlan
from widgets.dialogs.review import Review
from widgets.formats import NOT_APPLICABLE, count, duration
from widgets.i18n import mark, tr

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
