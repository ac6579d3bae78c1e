"""Dry runs of what moves the offsets of a group, as a broker is asked for them before anything is done."""

from __future__ import annotations

from broker_core.errors import BrokerError, ErrorCode
from broker_core.groups.offset_reset import Target
from broker_core.operations.groups import PartitionPlace
from broker_core.operations.groups import ResetOffsets as Reset
from broker_core.simulation.actions.groups import Seek
from broker_core.snapshots import Snapshot
from widgets.i18n import tr


def preview_of(snapshot: Snapshot, action: Reset, epoch_ms: int) -> Reset:
    """The dry run of `action`, whose time is session time; `epoch_ms` is the Unix time of session time 0.

    If it names no partitions, of all topics that the group reads or has committed for.
    """
    group = snapshot.group(action.group)
    topics = set() if group is None else {*group.topics, *(at.topic for at in group.offsets)}
    there = [PartitionPlace(topic=topic.name) for topic in snapshot.topics if topic.name in topics]
    given = {name: getattr(action, name) for name in Reset.__struct_fields__}
    given |= {"dry_run": True, "partitions": there if action.partitions is None else action.partitions}
    if action.form == "timestamp":
        given["timestamp_ms"] = epoch_ms + action.timestamp_ms
    return Reset(**given)


def seek_preview(snapshot: Snapshot, action: Seek, epoch_ms: int) -> Reset:
    """The dry run that finds where a seek goes. Raises INVALID_REQUEST if the consumer has lost the partition."""
    here, group = position_of(snapshot, action)
    target = action.target
    if target.form == "shift-by":
        target = Target("offset", offset=max(0, here + target.offset))
    return preview_of(snapshot, Reset.of(group, target, [(action.topic, action.partition)]), epoch_ms)


def position_of(snapshot: Snapshot, action: Seek) -> tuple[int, str]:
    """Where the consumer reads, and in which group. Raises INVALID_REQUEST if it has lost the partition."""
    for group in snapshot.groups:
        for at in group.offsets:
            owned = (at.topic, at.partition, at.owner) == (action.topic, action.partition, action.consumer)
            if owned and at.position is not None:
                return at.position, group.name
    place = f"{action.topic}/{action.partition}"
    why = tr("{consumer} no longer owns {place}", consumer=action.consumer, place=place)
    raise BrokerError(ErrorCode.INVALID_REQUEST, why)
