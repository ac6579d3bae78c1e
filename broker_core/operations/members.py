from __future__ import annotations

from functools import partial
from typing import Annotated, Literal

from msgspec import Meta

from broker_core.groups.assignors import AssignorName
from broker_core.operations.entry import Entry
from broker_core.operations.fields import Client, Encoding, MaxMessages, Name, Offset, Partition
from broker_core.operations.messages import MessageAnswer
from broker_core.operations.request import Input, Request, Result, Status
from broker_core.operations.rights import READ, Right

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


class Join(Request[Joined], frozen=True, kw_only=True):
    """A new member, which reads `topics`, or all topics whose names begin with `prefix`, also later ones.

    It joins with its first poll, and leaves after `session_timeout_ms` without a request. With
    `auto_commit_interval_ms` polls commit what earlier ones returned; without, only a commit request does.
    """

    group: Name
    topics: Annotated[tuple[Name, ...], Meta(max_length=1_000)] = ()
    prefix: Annotated[str, Meta(pattern=r"^[a-zA-Z0-9._-]{0,200}$")] = ""
    client_id: Client = ""
    instance_id: Client = ""
    assignor: AssignorName = "range"
    auto_offset_reset: Literal["earliest", "latest", "none"] = "earliest"
    guarantee: Literal["at_least_once", "at_most_once"] = "at_least_once"
    session_timeout_ms: SessionMs = 30_000
    auto_commit_interval_ms: Annotated[int, Meta(ge=1, le=3_600_000)] | None = None


class Poll(Request[PolledAnswer], frozen=True, kw_only=True):
    """The next messages, at most `max_messages`; waits up to `timeout_ms` for the first."""

    group: Name
    member: Name
    max_messages: MaxMessages = 500
    timeout_ms: Annotated[int, Meta(ge=0, le=60_000)] = 0
    encoding: Encoding = "text"


class CommitOffsets(Request[Status], frozen=True, kw_only=True):
    """These offsets; without `offsets`, everything that was returned to the member."""

    group: Name
    member: Name
    offsets: Annotated[list[CommitPlace], Meta(max_length=10_000)] | None = None


class Seek(Request[Status], frozen=True, kw_only=True):
    group: Name
    member: Name
    place: CommitPlace


class Leave(Request[None], frozen=True, kw_only=True):
    group: Name
    member: Name


_READ = (Right(READ, "group", "group"),)
_TAG = "Groups"
_of_member = partial(Entry, tag=_TAG, rights=_READ, served_by="listener", errors=(409,))

ENTRIES = (
    Entry(
        Join,
        "POST /v1/groups/{group}/members",
        "Join a group",
        tag=_TAG,
        rights=(*_READ, Right(READ, "topic", "topics")),
        served_by="listener",
        created=True,
        errors=(404, 409),
        details="The member joins with its first poll, and leaves after `session_timeout_ms` without a request.",
    ),
    _of_member(
        Poll,
        "POST /v1/groups/{group}/members/{member}/poll",
        "Get the next messages of a member's partitions; none while its group rebalances",
        mode="parked",
    ),
    _of_member(
        CommitOffsets,
        "POST /v1/groups/{group}/members/{member}/commit",
        "Commit offsets of a member; the response comes when they are stored",
        mode="parked",
        saved="offsets",
        details="Refused after a rebalance: another member gets these messages.",
    ),
    _of_member(
        Seek,
        "POST /v1/groups/{group}/members/{member}/seek",
        "Set the next offset of a partition that a member owns",
        body="place",
    ),
    Entry(
        Leave,
        "DELETE /v1/groups/{group}/members/{member}",
        "Leave the group",
        tag=_TAG,
        rights=_READ,
        served_by="listener",
    ),
)
