"""What a reset or a seek would change, partition by partition."""

from __future__ import annotations

from collections.abc import Sequence

from broker_core.errors import BrokerError, ErrorCode
from broker_core.groups.offset_reset import Change, resolve
from broker_core.simulation.actions.groups import ResetOffsets, Seek
from broker_core.simulation.consumer import ConsumerActor
from broker_core.simulation.simulation import Simulation
from broker_core.snapshots import Snapshot
from widgets.dialogs.review import Review
from widgets.formats import NOT_APPLICABLE, count
from widgets.i18n import tr


def effect(old: int | None, new: int) -> str:
    """What happens to the messages between two offsets, in words."""
    if old is None:
        return tr("nothing was committed before")
    if new < old:
        return tr("{count} read again", count=count(old - new))
    return tr("{count} skipped", count=count(new - old)) if new > old else tr("stays")


def reset_review(snapshot: Snapshot, action: ResetOffsets, changes: Sequence[Change]) -> Review:
    """The table of a reset of committed offsets; `problem` where it cannot be applied."""
    group = next((each for each in snapshot.groups if each.name == action.group), None)
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
    summary = tr(
        "{group}: {again} messages will be read again, {skipped} will be skipped.",
        group=action.group,
        again=count(again),
        skipped=count(skipped),
    )
    problem = ""
    if not changes:
        problem = tr("That means nothing here: there is nothing to reset.")
    elif members and not action.restart_members:
        problem = tr(
            "{group} has {count} members; stop them first, or let the reset stop and start them.",
            group=action.group,
            count=members,
        )
    if members and action.restart_members:
        summary += " " + tr("{count} consumers stop and start again.", count=members)
    return Review(columns, rows, summary, problem)


def seek_review(simulation: Simulation, action: Seek) -> Review:
    """The table of a seek. Raises INVALID_REQUEST where the consumer has lost the partition."""
    actor = simulation.actors.get(action.consumer)
    place = f"{action.topic}/{action.partition}"
    here = actor.position(action.topic, action.partition) if isinstance(actor, ConsumerActor) else None
    if here is None:
        raise BrokerError(
            ErrorCode.INVALID_REQUEST,
            tr("{consumer} does not own {place} any more", consumer=action.consumer, place=place),
        )
    broker = simulation.broker
    target = simulation.context.in_unix_time(action.target)
    there = resolve(target, action.topic, action.partition, broker.logs, here, broker.groups.committed)
    if there is None:
        return Review((), (), "", tr("That means nothing here: there is nowhere to go."))
    columns = (tr("Partition"), tr("From"), tr("To"), tr("What happens"))
    rows = ((place, count(here), count(there), effect(here, there)),)
    summary = tr("{client} reads on at {offset} of {place}.", client=action.consumer, offset=count(there), place=place)
    return Review(columns, rows, summary)
