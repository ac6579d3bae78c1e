"""Consumer groups: members that poll by HTTP, offsets, resets."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from broker_core.listeners.http.models.basics import (
    Client,
    Encoding,
    MaxMessages,
    Name,
    Offset,
    Partition,
    Request,
    Shape,
    Signed,
)
from broker_core.listeners.http.models.topics import MessageAnswer
from broker_core.snapshots import GroupView, OffsetView

SessionMs = Annotated[int, Meta(ge=1_000, le=300_000)]


class Place(Shape, frozen=True, kw_only=True):
    """A partition, and an offset in it."""

    topic: str
    partition: int
    offset: int


class OffsetAnswer(Shape, frozen=True, kw_only=True):
    """Where a group is in one partition; null is "n/a"."""

    topic: str
    partition: int
    owner: str
    position: int | None
    committed: int | None
    end_offset: int
    lag: int | None
    lag_ms: int | None

    @classmethod
    def of(cls, view: OffsetView) -> OffsetAnswer:
        """As the broker says."""
        return cls(
            topic=view.topic,
            partition=view.partition,
            owner=view.owner,
            position=view.position,
            committed=view.committed,
            end_offset=view.end_offset,
            lag=view.lag,
            lag_ms=None if view.lag_ns is None else view.lag_ns // 1_000_000,
        )


class MemberAnswer(Shape, frozen=True, kw_only=True):
    """A member of a group, however it is connected."""

    client: str
    instance_id: str
    topics: list[str]
    partitions: list[tuple[str, int]]


class GroupAnswer(Shape, frozen=True, kw_only=True):
    """A group. `state` is Stable, Preparing rebalance, Completing rebalance, Empty or Dead."""

    name: str
    state: str
    generation: int
    assignor: str
    leader: str
    topics: list[str]
    members: list[MemberAnswer]
    offsets: list[OffsetAnswer]

    @classmethod
    def of(cls, view: GroupView) -> GroupAnswer:
        """As the broker says."""
        return cls(
            name=view.name,
            state=view.state,
            generation=view.generation,
            assignor=view.assignor,
            leader=view.leader,
            topics=list(view.topics),
            members=[
                MemberAnswer(
                    client=each.client,
                    instance_id=each.instance_id,
                    topics=list(each.topics),
                    partitions=list(each.partitions),
                )
                for each in view.members
            ],
            offsets=[OffsetAnswer.of(each) for each in view.offsets],
        )


class GroupsAnswer(Shape, frozen=True, kw_only=True):
    """Those that the caller may read, by name."""

    groups: list[GroupAnswer]


class Join(Request, frozen=True, kw_only=True):
    """A new member, which reads `topics`, or all topics whose names begin with `prefix`, those to come too.

    It takes part from its first poll on. Without a request for `session_timeout_ms` it is gone. With
    `auto_commit_interval_ms` a poll commits what earlier ones gave, so often; without, it commits by itself.
    """

    topics: Annotated[tuple[Name, ...], Meta(max_length=1_000)] = ()
    prefix: Annotated[str, Meta(pattern=r"^[a-zA-Z0-9._-]{0,200}$")] = ""
    client_id: Client = ""
    instance_id: Client = ""
    assignor: Literal["range", "round-robin", "sticky", "cooperative-sticky"] = "range"
    auto_offset_reset: Literal["earliest", "latest", "none"] = "earliest"
    guarantee: Literal["at_least_once", "at_most_once"] = "at_least_once"
    session_timeout_ms: SessionMs = 30_000
    auto_commit_interval_ms: Annotated[int, Meta(ge=1, le=3_600_000)] | None = None


class Joined(Shape, frozen=True, kw_only=True):
    """The member's name in all further requests; who knows it is the member."""

    group: str
    member: str
    client_id: str
    session_timeout_ms: int


class Poll(Request, frozen=True, kw_only=True):
    """The next messages, at most `max_messages`; it waits `timeout_ms` for the first."""

    max_messages: MaxMessages = 500
    timeout_ms: Annotated[int, Meta(ge=0, le=60_000)] = 0
    encoding: Encoding = "text"


class PolledAnswer(Shape, frozen=True, kw_only=True):
    """Messages, and what the member owns, with the offset that it gets next there."""

    messages: list[MessageAnswer]
    assignment: list[Place]


class CommitPlace(Request, frozen=True, kw_only=True):
    """Everything below `offset` is done."""

    topic: Name
    partition: Partition
    offset: Offset


class CommitOffsets(Request, frozen=True, kw_only=True):
    """These offsets; or, without, everything that the member was given."""

    offsets: Annotated[list[CommitPlace], Meta(max_length=10_000)] | None = None


class PartitionPlace(Request, frozen=True, kw_only=True):
    """A partition of a topic; all of them without `partition`."""

    topic: Name
    partition: Partition | None = None


class ResetOffsets(Request, frozen=True, kw_only=True):
    """Where an empty group is to read from. With `dry_run` it is only said what would change.

    `offset` is for the form of that name and, as a difference, for shift-by; `timestamp_ms` is Unix time; `group` is
    whose offsets to copy. Without `partitions`, all that the group has committed for.
    """

    form: Literal["earliest", "latest", "offset", "timestamp", "shift-by", "group"]
    offset: Signed = 0
    timestamp_ms: Annotated[int, Meta(ge=0, le=1 << 44)] = 0
    group: Name | None = None
    partitions: Annotated[list[PartitionPlace], Meta(max_length=10_000)] | None = None
    dry_run: bool = False


class OffsetChange(Shape, frozen=True, kw_only=True):
    """What changes in one partition; null where nothing was committed."""

    topic: str
    partition: int
    from_offset: int | None
    to_offset: int
    change: int | None


class OffsetsReset(Shape, frozen=True, kw_only=True):
    """What was changed, or would be."""

    applied: bool
    changes: list[OffsetChange]


class OffsetsAnswer(Shape, frozen=True, kw_only=True):
    """Where the group is, by topic and partition."""

    offsets: list[OffsetAnswer]
