from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal, Self

from msgspec import UNSET, Meta
from msgspec.structs import asdict

from broker_core.groups.assignors import AssignorName
from broker_core.groups.config import GroupSettings
from broker_core.groups.offset_reset import Change, Target
from broker_core.operations.entry import ADMIN, LISTED, READ, Entry, Right, Visible, declaring
from broker_core.operations.fields import Client, Encoding, MaxMessages, Name, Offset, Partition, Signed
from broker_core.operations.messages import MessageAnswer
from broker_core.operations.request import Input, Request, Result, SettingsChanges, Status, changeable
from broker_core.snapshots import GroupView, ShareGroupView


class OffsetsReset(Result, frozen=True, kw_only=True):
    """The changes, made where `applied`."""

    applied: bool
    changes: list[Change]


class PartitionPlace(Input, frozen=True, kw_only=True):
    """A partition of a topic; all of them without `partition`."""

    topic: Name
    partition: Partition | None = None


class NewOffsets(Input, frozen=True, kw_only=True):
    group: Name
    form: Literal["earliest", "latest", "offset", "timestamp", "shift-by", "group", "undo"]
    offset: Signed = 0
    timestamp_ms: Annotated[int, Meta(ge=0, le=1 << 44)] = 0
    from_group: Name | None = None
    partitions: Annotated[list[PartitionPlace], Meta(max_length=10_000)] | None = None

    def target(self) -> Target:
        """Where the offsets go. The form undo has none."""
        assert self.form != "undo"
        return Target(self.form, offset=self.offset, timestamp_ms=self.timestamp_ms, group=self.from_group or "")


ClientName = Annotated[str, Meta(min_length=1, max_length=300, examples=["rdkafka"])]  # as members are listed


ENTRIES: list[Entry] = []
_READ, _ADMIN = (Right(READ, "group", "group"),), (Right(ADMIN, "group", "group"),)
_TAG = "Groups"
_read_operation = declaring(ENTRIES, tag=_TAG, rights=_READ)
_admin_operation = declaring(ENTRIES, tag=_TAG, rights=_ADMIN, mode="slow", saved="offsets", errors=(409,))
_share_topic = declaring(
    ENTRIES, tag=_TAG, rights=(*_ADMIN, Right(READ, "topic", "topic")), mode="slow", saved="catalog", errors=(409,)
)
_admin_member_operation = declaring(ENTRIES, tag=_TAG, rights=_ADMIN, errors=(404, 409))
_member_operation = declaring(ENTRIES, tag=_TAG, rights=_READ, served_by="listener", errors=(409,))
_operation = declaring(ENTRIES, tag=_TAG)


@_read_operation("GET /v1/groups", "List groups", visible=Visible("group"), **LISTED)
class ListGroups(Request[list[GroupView]], frozen=True, kw_only=True):
    """Groups, also those without members."""


@_read_operation("GET /v1/groups/{group}", "Describe a group: its state, members, committed offsets and lag")
class DescribeGroup(Request[GroupView], frozen=True, kw_only=True):
    group: Name


@_admin_operation("DELETE /v1/groups/{group}", "Delete an empty group and its offsets", saved="catalog and offsets")
class DeleteGroup(Request[None], frozen=True, kw_only=True):
    group: Name  # also of a share group, which is in the catalogue of what was created


class GroupChanges(SettingsChanges[GroupSettings], frozen=True, kw_only=True):
    """The fields of `GroupSettings`; one that is left out stays as it is."""

    __annotations__ = changeable(GroupSettings)
    vars().update(dict.fromkeys(__annotations__, UNSET))

    @staticmethod
    def of(settings: GroupSettings) -> GroupChanges:
        """All settings of a group."""
        return GroupChanges(**asdict(settings))


@_read_operation("GET /v1/groups/{group}/config", "Show the settings of a group")
class GroupConfiguration(Request[GroupSettings], frozen=True, kw_only=True):
    """The settings of a group of any kind, whether it is there yet or not."""

    group: Name


@_admin_operation(
    "PATCH /v1/groups/{group}/config",
    "Change the settings of a group: times, limits, where a share group begins, dead letters",
    saved="catalog",
    repeatable=True,
    body="settings",
)
class ConfigureGroup(Request[GroupSettings], frozen=True, kw_only=True):
    """New settings of a group of any kind, also of one that is not there yet.

    Times and limits hold at once, the others for topics that the group has not read yet.
    """

    group: Name
    settings: GroupChanges = GroupChanges()


@_admin_operation(
    "POST /v1/groups/{group}/offsets/reset",
    "Set the committed offsets of an empty group, or show what would change",
    rights=(Right(ADMIN, "group", "group", preview="dry_run"), Right(READ, "group", "from_group")),
    renamed=(("from_group", "group"),),
)
class ResetOffsets(NewOffsets, Request[OffsetsReset], frozen=True, kw_only=True):
    """New offsets of an empty group. With `dry_run` the changes are only shown.

    `offset` is for the form offset and, as a difference, for shift-by; `timestamp_ms` is Unix time; `group` is the
    group whose offsets are copied. Without `partitions`, all that the group has committed for.
    """

    form: Literal["earliest", "latest", "offset", "timestamp", "shift-by", "group"]
    dry_run: bool = False

    @classmethod
    def of(
        cls, group: str, target: Target, partitions: Iterable[tuple[str, int | None]] | None = None, **more: Any
    ) -> Self:
        """`partitions` as (topic, number); a topic as a whole with None."""
        places = [PartitionPlace(topic=topic, partition=number) for topic, number in partitions or ()]
        return cls(
            group=group,
            form=target.form,
            offset=target.offset,
            timestamp_ms=target.timestamp_ms,
            from_group=target.group or None,
            partitions=None if partitions is None else places,
            **more,
        )


@_admin_operation("POST /v1/groups/{group}/offsets/forget", "Delete committed offsets of topics that no member reads")
class ForgetOffsets(Request[None], frozen=True, kw_only=True):
    """What a group has committed for these partitions, of topics that none of its members reads."""

    group: Name
    partitions: Annotated[list[PartitionPlace], Meta(min_length=1, max_length=10_000)]


@_admin_member_operation("POST /v1/groups/{group}/kick", "Remove a member from its group; it may join again")
class KickMember(Request[None], frozen=True, kw_only=True):
    """A member by its client id. Its next request gets UNKNOWN_MEMBER_ID, and it may join again."""

    group: Name
    client: ClientName


@_admin_member_operation("POST /v1/groups/{group}/hold", "Hold a member outside its group")
class HoldMember(Request[None], frozen=True, kw_only=True):
    """A member by its client id. It is put out of its group, and its next join waits until it is released."""

    group: Name
    client: ClientName


@_admin_member_operation("POST /v1/groups/{group}/release", "Let a member that is held join its group again")
class ReleaseMember(Request[None], frozen=True, kw_only=True):
    group: Name
    client: ClientName


@_read_operation("GET /v1/share-groups", "List share groups", visible=Visible("group"), **LISTED)
class ListShareGroups(Request[list[ShareGroupView]], frozen=True, kw_only=True):
    """Share groups, also those without members."""


@_read_operation(
    "GET /v1/share-groups/{group}", "Describe a share group: its state, members, start offsets and what is in flight"
)
class DescribeShareGroup(Request[ShareGroupView], frozen=True, kw_only=True):
    group: Name


@_share_topic("PUT /v1/share-groups/{group}/topics/{topic}", "Subscribe a share group to a topic", repeatable=True)
class SubscribeShareGroup(Request[None], frozen=True, kw_only=True):
    """The group's subscription to a topic, which its first member else makes; one that is there stays as it is.

    It begins by the group's `share.auto.offset.reset`, with `from_start` at the start of the topic. Without a topic
    only the group is made.
    """

    group: Name
    topic: Name = ""
    from_start: bool = False


@_share_topic(
    "POST /v1/share-groups/{group}/topics/{topic}/reset",
    "Set where an empty share group goes on in a partition",
    mode="parked",
    saved="nothing",
)
class ResetShareOffsets(Request[None], frozen=True, kw_only=True):
    """A share group without members goes on at `offset`: earlier messages are finished, later ones delivered, again
    where they were.
    """

    group: Name
    topic: Name
    partition: Partition = 0
    offset: Offset


@_share_topic("DELETE /v1/share-groups/{group}/topics/{topic}", "Delete what an empty share group has read of a topic")
class ForgetShareOffsets(Request[None], frozen=True, kw_only=True):
    """What a share group without members has read of a topic: its subscription is deleted, with its dead letters."""

    group: Name
    topic: Name


SessionMs = Annotated[int, Meta(ge=1_000, le=300_000)]


class Place(Result, frozen=True, kw_only=True):
    topic: str
    partition: int
    offset: int


class Joined(Result, frozen=True, kw_only=True):
    """The member's name in all further requests. It is a secret: knowing it is being the member."""

    group: str
    member: str
    client_id: str
    session_timeout_ms: int


class PolledAnswer(Result, frozen=True, kw_only=True):
    messages: list[MessageAnswer]
    assignment: list[Place]


class CommitPlace(Input, frozen=True, kw_only=True):
    """Everything before `offset` is processed."""

    topic: Name
    partition: Partition
    offset: Offset


@_operation(
    "POST /v1/groups/{group}/members",
    "Join a group",
    rights=(*_READ, Right(READ, "topic", "topics")),
    served_by="listener",
    created=True,
    errors=(404, 409),
    details="The member joins with its first poll, and leaves after `session_timeout_ms` without a request.",
)
class Join(Request[Joined], frozen=True, kw_only=True):
    """A new member, which reads `topics`, or all topics whose names begin with `prefix`, also later ones.

    It joins with its first poll, and leaves after `session_timeout_ms` without a request. With
    `auto_commit_interval_ms` polls commit what earlier ones returned; without, only a commit request does.
    """

    group: Name
    topics: Annotated[tuple[Name, ...], Meta(max_length=1_000)] = ()
    prefix: Annotated[str, Meta(pattern=r"^[a-zA-Z0-9._-]{0,200}$(?!\n)")] = ""
    client_id: Client = ""
    instance_id: Client = ""
    assignor: AssignorName = "range"
    auto_offset_reset: Literal["earliest", "latest", "none"] = "earliest"
    guarantee: Literal["at_least_once", "at_most_once"] = "at_least_once"
    session_timeout_ms: SessionMs = 30_000
    auto_commit_interval_ms: Annotated[int, Meta(ge=1, le=3_600_000)] | None = None


@_member_operation(
    "POST /v1/groups/{group}/members/{member}/poll",
    "Get the next messages of a member's partitions; none while its group rebalances",
    mode="parked",
)
class Poll(Request[PolledAnswer], frozen=True, kw_only=True):
    """The next messages, at most `max_messages`; waits up to `timeout_ms` for the first."""

    group: Name
    member: Name
    max_messages: MaxMessages = 500
    timeout_ms: Annotated[int, Meta(ge=0, le=60_000)] = 0
    encoding: Encoding = "text"


@_member_operation(
    "POST /v1/groups/{group}/members/{member}/commit",
    "Commit offsets of a member; the response comes when they are stored",
    mode="parked",
    saved="offsets",
    details="Refused after a rebalance, because another member gets these messages.",
)
class CommitOffsets(Request[Status], frozen=True, kw_only=True):
    """These offsets; without `offsets`, everything that was returned to the member."""

    group: Name
    member: Name
    offsets: Annotated[list[CommitPlace], Meta(max_length=10_000)] | None = None


@_member_operation(
    "POST /v1/groups/{group}/members/{member}/seek",
    "Set the next offset of a partition that a member owns",
    body="place",
)
class Seek(Request[Status], frozen=True, kw_only=True):
    group: Name
    member: Name
    place: CommitPlace


@_operation("DELETE /v1/groups/{group}/members/{member}", "Leave the group", rights=_READ, served_by="listener")
class Leave(Request[None], frozen=True, kw_only=True):
    group: Name
    member: Name
