from __future__ import annotations

from typing import Literal

from broker_core.groups import offset_reset
from broker_core.groups.assignors import AssignorName
from broker_core.groups.offset_reset import Target
from broker_core.operations import groups, guarded
from broker_core.plurals import counted
from broker_core.simulation.actions.action import Action

Start = Literal["earliest", "latest"]


def where_to(target: Target) -> str:
    """`target` in words; its timestamp is session time, so that a rerun at another hour means the same."""
    if target.form == "timestamp":
        return f"to session time {target.timestamp_ms / 1000:g} s"
    return offset_reset.sentence(target)


class MoveConsumer(Action, frozen=True, tag="move_consumer", omit_defaults=True):
    """Take `consumer` out of its group and put it into `group`; "" is the bench, and a new group is made.

    A new group reads from `start`: all that is there, or only what is published from now on.
    """

    consumer: str
    group: str
    start: Start = "earliest"

    @property
    def sentence(self) -> str:
        if not self.group:
            return f"moved {self.consumer} to the bench"
        from_end = " to read from the end" if self.start == "latest" else ""
        return f"moved {self.consumer} to {self.group}{from_end}"


class CreateGroup(Action, frozen=True, tag="create_group"):
    says = "created group {group}"

    group: str
    topics: tuple[str, ...]
    assignor: AssignorName = "range"


class DeleteGroup(groups.DeleteGroup, Action, frozen=True, kw_only=True, tag="delete_group"):
    """Forget `group`, which has no members, and what it has committed."""

    says = "deleted group {group}"


class RestoreGroup(Action, frozen=True, tag="restore_group"):
    says = "brought group {group} back"

    group: str


class ConfigureGroup(groups.ConfigureGroup, Action, frozen=True, kw_only=True, tag="configure_group"):
    """New settings of a group of any kind, also of one that is not there yet; one that is left out stays."""

    says = "configured {group}"


class SubscribeGroup(Action, frozen=True, tag="subscribe_group"):
    says = "subscribed {group} to {topic}"

    group: str
    topic: str


class UnsubscribeGroup(Action, frozen=True, tag="unsubscribe_group"):
    says = "unsubscribed {group} from {topic}"

    group: str
    topic: str


class SetAssignor(Action, frozen=True, tag="set_assignor"):
    """The members of `group` leave it together and come back with another assignor, as after a restart of all."""

    says = "set the assignor of {group} to {assignor}"

    group: str
    assignor: AssignorName


class ResetOffsets(groups.ResetOffsets, Action, frozen=True, kw_only=True, tag="reset_offsets"):
    """New offsets of `group`, in `partitions`, or in all that it reads or has committed for.

    `timestamp_ms` is session time. A group with members is refused, as by Kafka; with `restart_members` they stop
    before it and start again after it.
    """

    restart_members: bool = False

    def __post_init__(self) -> None:
        if self.dry_run:
            raise ValueError("a dry run is no action")

    @property
    def sentence(self) -> str:
        numbers: dict[str, dict[int | None, None]] = {}  # None is all of a topic
        for place in self.partitions or ():
            numbers.setdefault(place.topic, {})[place.partition] = None
        places = [
            topic if None in found else f"{topic}/{', '.join(map(str, found))}" for topic, found in numbers.items()
        ]
        what = f"{self.group} in {' and '.join(places)}" if places else self.group
        return f"reset {what} {where_to(self.target())}"


class PutBackOffsets(Action, frozen=True, tag="set_offsets"):
    """Undo of a reset: `offsets` are (topic, partition, offset)."""

    group: str
    offsets: tuple[tuple[str, int, int], ...]
    restart_members: bool = False

    @property
    def sentence(self) -> str:
        return f"set {counted(len(self.offsets), 'offset')} of {self.group}"


class SetOffsets(guarded.SetOffsets, Action, frozen=True, kw_only=True, tag="set_planned_offsets"):
    """New offsets of a group as the `plan` has them."""

    @property
    def sentence(self) -> str:
        return self.plan.sentence


class Seek(Action, frozen=True, tag="seek"):
    """`consumer`, which owns the partition, reads on from `target` (in session time); what is committed stays."""

    consumer: str
    topic: str
    partition: int
    target: Target

    @property
    def sentence(self) -> str:
        return f"{self.consumer} seeks {where_to(self.target)} in {self.topic}/{self.partition}"
