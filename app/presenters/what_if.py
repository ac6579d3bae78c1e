"""Previews of partition assignment: after a consumer is moved, and with another assignor."""

from __future__ import annotations

from app.presenters.owners import Owners
from broker_core.groups.assignors import ASSIGNORS
from broker_core.groups.what_if import would_own
from broker_core.snapshots import GroupView, Snapshot
from widgets.canvas.view import NEW_GROUP, Ghost, GhostMove
from widgets.dialogs.assignors import AssignorPlan
from widgets.i18n import mark, tr

# What each assignor does, in words.
ABOUT: dict[str, str] = {
    "range": mark("A block of adjacent partitions for each member, topic by topic."),
    "roundrobin": mark("One to each in turn, over all topics."),
    "sticky": mark("Balanced, and keeps as many partitions as possible with their owners."),
    "cooperative-sticky": mark("Like sticky, but partitions that stay are still read during the rebalance."),
}


def ghost(snapshot: Snapshot, owners: Owners, consumer: str, target: str) -> Ghost:
    """The partitions that move and stay if `consumer` goes to `target`: a group, "" for the bench, or a new group."""
    old, new = next((group for group, _member in snapshot.seats(consumer)), None), snapshot.group(target)
    moves: list[GhostMove] = []
    kept, note = 0, ""
    if target and new is None:
        model = old or next(iter(snapshot.groups), None)
        reads = [] if model is None else [topic for topic in snapshot.topics if topic.name in model.topics]
        nobody, reader = owners.party(""), owners.party(consumer)
        moves = [
            GhostMove(one.name, part.partition, target, nobody, reader) for one in reads for part in one.partitions
        ]
        topics = ", ".join(dict.fromkeys(move.topic for move in moves)) or tr("nothing")
        note = tr("{consumer} alone reads {topics}.", consumer=consumer, topics=topics)
        if old is not None:
            heirs = tr("go to others") if len(old.members) > 1 else tr("will have no reader")
            note += tr(" Its partitions in {name} {heirs}.", name=old.name, heirs=heirs)
    for group in filter(None, (old, new)):
        before, joins = group.owners, consumer if group.name == target else ""
        after = would_own(group, group.assignor or "range", snapshot.partition_counts, without=consumer, joins=joins)
        for place in sorted(before.keys() | after.keys()):
            was, will = before.get(place, ""), after.get(place, "")
            if was == will:
                kept += 1
            else:
                moves.append(GhostMove(*place, group.name, owners.party(was), owners.party(will)))
    if not target and old is None:
        note = tr("{consumer} is already on the bench.", consumer=consumer)
    return Ghost(_title(consumer, target), tuple(moves), kept, note)


def _title(consumer: str, target: str) -> str:
    if target == NEW_GROUP:
        return tr("{consumer} to a new group", consumer=consumer)
    to_group = tr("{consumer} to {target}", consumer=consumer, target=target)
    return to_group if target else tr("{consumer} to the bench", consumer=consumer)


def assignor_plans(
    snapshot: Snapshot, group: GroupView
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[AssignorPlan, ...]]:
    """All partitions of a group, who owns each of them now, and who would by each assignor."""
    partitions = snapshot.partition_counts
    read = sorted({topic for member in group.members for topic in member.topics} | set(group.topics))
    places = [(topic, number) for topic in read for number in range(partitions.get(topic, 0))]
    now = tuple(group.owners.get(place, "") for place in places)
    plans = []
    for name in ASSIGNORS:
        owners = would_own(group, name, partitions)
        would = tuple(owners.get(place, "") for place in places)
        kept = sum(owner == was for owner, was in zip(would, now, strict=True))
        plans.append(AssignorPlan(name, would, len(places) - kept, kept, tr(ABOUT[name]), group.assignor == name))
    return tuple(f"{topic}/{number}" for topic, number in places), now, tuple(plans)
