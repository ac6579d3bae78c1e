from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Annotated, Literal, Self

from msgspec import Meta

from broker_core.groups.offset_reset import Change, Target
from broker_core.messages import TopicPartition
from broker_core.operations.entry import Entry, listed
from broker_core.operations.fields import Name, Partition, Signed
from broker_core.operations.request import Input, Request, Result
from broker_core.operations.rights import ADMIN, READ, Right, Visible
from broker_core.snapshots import GroupView, MemberView, OffsetView, ShareGroupView


class MembersAnswer(Result, frozen=True, kw_only=True):
    state: str
    members: tuple[MemberView, ...]


class GroupsAnswer(Result, frozen=True, kw_only=True):
    groups: list[GroupView]


class OffsetsAnswer(Result, frozen=True, kw_only=True):
    offsets: tuple[OffsetView, ...]


class OffsetsReset(Result, frozen=True, kw_only=True):
    """The changes, made where `applied`."""

    applied: bool
    changes: list[Change]


class PartitionPlace(Input, frozen=True, kw_only=True):
    """A partition of a topic; all of them without `partition`."""

    topic: Name
    partition: Partition | None = None


ClientName = Annotated[str, Meta(min_length=1, max_length=300, examples=["rdkafka"])]  # as members are listed


class ListGroups(Request[GroupsAnswer], frozen=True, kw_only=True):
    """Groups, also those without members."""


class DescribeGroup(Request[GroupView], frozen=True, kw_only=True):
    group: Name


class ListMembers(Request[MembersAnswer], frozen=True, kw_only=True):
    group: Name


class DeleteGroup(Request[None], frozen=True, kw_only=True):
    group: Name


class ListOffsets(Request[OffsetsAnswer], frozen=True, kw_only=True):
    group: Name


class ResetOffsets(Request[OffsetsReset], frozen=True, kw_only=True):
    """New offsets of an empty group. With `dry_run` the changes are only shown.

    `offset` is for the form offset and, as a difference, for shift-by; `timestamp_ms` is Unix time; `group` is the
    group whose offsets are copied. Without `partitions`, all that the group has committed for.
    """

    group: Name
    form: Literal["earliest", "latest", "offset", "timestamp", "shift-by", "group"]
    offset: Signed = 0
    timestamp_ms: Annotated[int, Meta(ge=0, le=1 << 44)] = 0
    from_group: Name | None = None
    partitions: Annotated[list[PartitionPlace], Meta(max_length=10_000)] | None = None
    dry_run: bool = False

    @classmethod
    def of(cls, group: str, target: Target, partitions: Iterable[TopicPartition]) -> Self:
        places = [PartitionPlace(topic=topic, partition=number) for topic, number in partitions]
        return cls(
            group=group,
            form=target.form,
            offset=target.offset,
            timestamp_ms=target.timestamp_ms,
            from_group=target.group or None,
            partitions=places,
        )

    def target(self) -> Target:
        return Target(self.form, offset=self.offset, timestamp_ms=self.timestamp_ms, group=self.from_group or "")


class KickMember(Request[None], frozen=True, kw_only=True):
    """A member by its client id. Its next request gets UNKNOWN_MEMBER_ID, and it may join again."""

    group: Name
    client: ClientName


class HoldMember(Request[None], frozen=True, kw_only=True):
    """A member by its client id. It is put out of its group, and its next join waits until it is released."""

    group: Name
    client: ClientName


class ReleaseMember(Request[None], frozen=True, kw_only=True):
    group: Name
    client: ClientName


class ShareGroupsAnswer(Result, frozen=True, kw_only=True):
    groups: list[ShareGroupView]


class ListShareGroups(Request[ShareGroupsAnswer], frozen=True, kw_only=True):
    """Share groups, also those without members."""


class DescribeShareGroup(Request[ShareGroupView], frozen=True, kw_only=True):
    group: Name


_READ, _ADMIN = (Right(READ, "group", "group"),), (Right(ADMIN, "group", "group"),)
_TAG = "Groups"
_look = partial(Entry, tag=_TAG, rights=_READ)
_change = partial(Entry, tag=_TAG, rights=_ADMIN, mode="slow", saved="offsets", errors=(409,))
_member = partial(Entry, tag=_TAG, rights=_ADMIN, errors=(404, 409))

ENTRIES = (
    listed(ListGroups, "GET /v1/groups", "List groups", _TAG, Visible("groups", "group")),
    _look(DescribeGroup, "GET /v1/groups/{group}", "Describe a group: its state, members, offsets and lag"),
    _look(ListMembers, "GET /v1/groups/{group}/members", "List a group's members and their ids"),
    _change(DeleteGroup, "DELETE /v1/groups/{group}", "Delete an empty group and its offsets"),
    _look(ListOffsets, "GET /v1/groups/{group}/offsets", "List a group's committed offsets and lag"),
    _change(
        ResetOffsets,
        "POST /v1/groups/{group}/offsets/reset",
        "Set the committed offsets of an empty group, or show what would change",
        rights=(Right(ADMIN, "group", "group", preview="dry_run"), Right(READ, "group", "from_group")),
        renamed=(("from_group", "group"),),
    ),
    _member(KickMember, "POST /v1/groups/{group}/kick", "Remove a member from its group; it may join again"),
    _member(HoldMember, "POST /v1/groups/{group}/hold", "Hold a member outside its group"),
    _member(ReleaseMember, "POST /v1/groups/{group}/release", "Let a member that is held join its group again"),
    listed(ListShareGroups, "GET /v1/share-groups", "List share groups", "Groups", Visible("groups", "group")),
    _look(
        DescribeShareGroup,
        "GET /v1/share-groups/{group}",
        "Describe a share group: its state, members, start offsets and what is in flight",
    ),
)
