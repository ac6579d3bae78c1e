"""The assignment that a move would give: the same assignor, on the members as they would be."""

from __future__ import annotations

from app.presenters.owners import Owners
from broker_core.groups.assignors import assign
from broker_core.groups.protocol import MemberSubscription
from broker_core.snapshots import GroupView, Snapshot
from widgets.canvas.view import NEW_GROUP, Ghost, GhostMove
from widgets.i18n import tr

# Members are ordered by their ids, and a newcomer's is its name with a number behind.
_NEWCOMER = "{}-~"


def ghost(snapshot: Snapshot, owners: Owners, consumer: str, target: str) -> Ghost:
    """The partitions that move and stay if `consumer` goes to `target`: a group, "" for the bench, or a new group."""
    groups = {group.name: group for group in snapshot.groups}
    partitions = {topic.name: len(topic.partitions) for topic in snapshot.topics}
    old = next((group for group in snapshot.groups if any(m.client == consumer for m in group.members)), None)
    moves: list[GhostMove] = []
    kept = 0
    note = ""
    if target and target not in groups:
        moves += _read_anew(snapshot, owners, consumer, target, old)
        topics = ", ".join(dict.fromkeys(move.topic for move in moves)) or "nothing"
        note = tr("{consumer} alone reads {topics}.", consumer=consumer, topics=topics)
        if old is not None:
            heirs = tr("go to others") if len(old.members) > 1 else tr("will have no reader")
            note += tr(" Its partitions in {name} {heirs}.", name=old.name, heirs=heirs)
    for group in (old, groups.get(target)):
        if group is None:
            continue
        after = _after(group, consumer, partitions, joins=group.name == target)
        moved, stayed = _compare(group, after, owners)
        moves += moved
        kept += stayed
    if not target and old is None:
        note = tr("{consumer} is already on the bench.", consumer=consumer)
    return Ghost(_title(consumer, target), tuple(moves), kept, note)


def _title(consumer: str, target: str) -> str:
    if target == NEW_GROUP:
        return tr("{consumer} to a new group", consumer=consumer)
    return (
        tr("{consumer} to {target}", consumer=consumer, target=target)
        if target
        else tr("{consumer} to the bench", consumer=consumer)
    )


def _read_anew(
    snapshot: Snapshot, owners: Owners, consumer: str, target: str, old: GroupView | None
) -> list[GhostMove]:
    model = old or next(iter(snapshot.groups), None)
    wanted = model.topics if model is not None else ()
    return [
        GhostMove(topic.name, part.partition, target, owners.party(""), owners.party(consumer))
        for topic in snapshot.topics
        if topic.name in wanted
        for part in topic.partitions
    ]


def _after(group: GroupView, consumer: str, partitions: dict[str, int], *, joins: bool) -> dict[tuple[str, int], str]:
    members = {
        member.member_id: (member.client, MemberSubscription(member.topics, owned=member.partitions))
        for member in group.members
        if member.client != consumer
    }
    if joins:
        topics = group.topics or tuple(sorted({at.topic for at in group.offsets}))
        members[_NEWCOMER.format(consumer)] = (consumer, MemberSubscription(topics))
    plan = assign(group.assignor or "range", {name: wanted for name, (_, wanted) in members.items()}, partitions)
    return {place: members[name][0] for name, places in plan.items() for place in places}


def _compare(group: GroupView, after: dict[tuple[str, int], str], owners: Owners) -> tuple[list[GhostMove], int]:
    before = {place: member.client for member in group.members for place in member.partitions}
    moves = []
    kept = 0
    for topic, partition in sorted(before.keys() | after.keys()):
        old, new = before.get((topic, partition), ""), after.get((topic, partition), "")
        if old == new:
            kept += 1
            continue
        moves.append(GhostMove(topic, partition, group.name, owners.party(old), owners.party(new)))
    return moves, kept
