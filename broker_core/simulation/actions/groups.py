"""Consumer groups: their members, what they read, how they share it, and from where."""

from __future__ import annotations

from broker_core.groups.assignors import AssignorName
from broker_core.groups.offset_reset import Target
from broker_core.groups.offset_reset import sentence as _where_to
from broker_core.operations import groups
from broker_core.plurals import counted
from broker_core.simulation.actions.action import Action


def where_to(target: Target) -> str:
    """`target` in words; its timestamp is session time, so that a rerun at another hour means the same."""
    if target.form == "timestamp":
        return f"to session time {target.timestamp_ms / 1000:g} s"
    return _where_to(target)


class MoveConsumer(Action, frozen=True, tag="move_consumer"):
    """Take `consumer` out of its group and put it into `group`; "" is the bench, and a new group is made."""

    consumer: str
    group: str

    @property
    def sentence(self) -> str:
        """For the timeline and the status bar."""
        return f"moved {self.consumer} to {self.group}" if self.group else f"moved {self.consumer} to the bench"


class CreateGroup(Action, frozen=True, tag="create_group"):
    """A group without members, which consumers can be moved into."""

    group: str
    topics: tuple[str, ...]
    assignor: AssignorName = "range"

    @property
    def sentence(self) -> str:
        """For the timeline and the status bar."""
        return f"created group {self.group}"


class DeleteGroup(groups.DeleteGroup, Action, frozen=True, kw_only=True, tag="delete_group"):
    """Forget `group`, which has no members, and what it has committed."""

    @property
    def sentence(self) -> str:
        """For the timeline and the status bar."""
        return f"deleted group {self.group}"


class RestoreGroup(Action, frozen=True, tag="restore_group"):
    """`group`, which was deleted, is there again with what it had committed."""

    group: str

    @property
    def sentence(self) -> str:
        """For the timeline and the status bar."""
        return f"brought group {self.group} back"


class SubscribeGroup(Action, frozen=True, tag="subscribe_group"):
    """All of `group` read `topic`, too."""

    group: str
    topic: str

    @property
    def sentence(self) -> str:
        """For the timeline and the status bar."""
        return f"subscribed {self.group} to {self.topic}"


class UnsubscribeGroup(Action, frozen=True, tag="unsubscribe_group"):
    """None of `group` reads `topic` any more; what it has committed there stays."""

    group: str
    topic: str

    @property
    def sentence(self) -> str:
        """For the timeline and the status bar."""
        return f"unsubscribed {self.group} from {self.topic}"


class SetAssignor(Action, frozen=True, tag="set_assignor"):
    """The members of `group` leave it together and come back with another assignor, as after a restart of all."""

    group: str
    assignor: AssignorName

    @property
    def sentence(self) -> str:
        """For the timeline and the status bar."""
        return f"set the assignor of {self.group} to {self.assignor}"


class ResetOffsets(Action, frozen=True, tag="reset_offsets"):
    """Set what `group` has committed to `target`, in all it reads, in one `topic`, or in some `partitions` of it.

    A timestamp is session time in ms. A group with members is refused, as by Kafka; with `restart_members` they stop
    for it and start again behind it.
    """

    group: str
    target: Target
    topic: str = ""
    partitions: tuple[int, ...] = ()
    restart_members: bool = False

    @property
    def sentence(self) -> str:
        """For the timeline and the status bar."""
        what = f"{self.group} in {self.topic}" if self.topic else self.group
        some = f"/{', '.join(map(str, self.partitions))}" if self.partitions else ""
        return f"reset {what}{some} {where_to(self.target)}"


class SetOffsets(Action, frozen=True, tag="set_offsets"):
    """Set what `group` has committed, by (topic, partition, offset); as when a reset is undone."""

    group: str
    offsets: tuple[tuple[str, int, int], ...]
    restart_members: bool = False

    @property
    def sentence(self) -> str:
        """For the timeline and the status bar."""
        return f"set {counted(len(self.offsets), 'offset')} of {self.group}"


class Seek(Action, frozen=True, tag="seek"):
    """`consumer`, which owns the partition, reads on from `target`; what its group has committed stays.

    A timestamp is session time in ms.
    """

    consumer: str
    topic: str
    partition: int
    target: Target

    @property
    def sentence(self) -> str:
        """For the timeline and the status bar."""
        return f"{self.consumer} seeks {where_to(self.target)} in {self.topic}/{self.partition}"


GroupAction = (
    MoveConsumer
    | CreateGroup
    | DeleteGroup
    | RestoreGroup
    | SubscribeGroup
    | UnsubscribeGroup
    | SetAssignor
    | ResetOffsets
    | SetOffsets
    | Seek
)
