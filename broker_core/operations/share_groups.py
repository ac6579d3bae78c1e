"""Requests about share groups (KIP-932): list and describe."""

from __future__ import annotations

from functools import partial

from broker_core.operations.entry import Entry
from broker_core.operations.fields import Name
from broker_core.operations.request import Request, Result
from broker_core.operations.rights import READ, Right, Visible


class ShareMemberAnswer(Result, frozen=True, kw_only=True):
    """A member, and the topics that it subscribes to; it may take from each of their partitions."""

    client: str
    member_id: str
    epoch: int
    topics: list[str]


class ShareOffsetAnswer(Result, frozen=True, kw_only=True):
    """What a share group has done of one partition.

    `start_offset` is the first that is not finished; `in_flight` messages are leased. `lag` counts all that are not
    finished: ready, delayed or in flight.
    """

    topic: str
    partition: int
    start_offset: int
    end_offset: int
    in_flight: int
    lag: int


class ShareGroupAnswer(Result, frozen=True, kw_only=True):
    """A share group. `state` is Stable, or Empty without members; `epoch` is that of the last member to join."""

    name: str
    state: str
    epoch: int
    members: list[ShareMemberAnswer]
    offsets: list[ShareOffsetAnswer]


class ShareGroupsAnswer(Result, frozen=True, kw_only=True):
    """The share groups that the caller may read, by name."""

    groups: list[ShareGroupAnswer]


class ListShareGroups(Request[ShareGroupsAnswer], frozen=True, kw_only=True):
    """Share groups, also those without members."""


class DescribeShareGroup(Request[ShareGroupAnswer], frozen=True, kw_only=True):
    """A share group as it is now."""

    group: Name


_look = partial(Entry, tag="Groups", rights=(Right(READ, "group", "group"),))

ENTRIES = (
    _look(
        ListShareGroups,
        "GET /v1/share-groups",
        "List share groups",
        rights=(),
        visible=Visible("groups", "group"),
        details="Only those that the caller may read.",
    ),
    _look(
        DescribeShareGroup,
        "GET /v1/share-groups/{group}",
        "Describe a share group: its state, members, start offsets and what is in flight",
    ),
)
