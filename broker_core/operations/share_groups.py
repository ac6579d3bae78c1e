from __future__ import annotations

from functools import partial

from broker_core.operations.entry import Entry, listed
from broker_core.operations.fields import Name
from broker_core.operations.request import Request, Result
from broker_core.operations.rights import READ, Right, Visible
from broker_core.snapshots import ShareGroupView


class ShareGroupsAnswer(Result, frozen=True, kw_only=True):
    groups: list[ShareGroupView]


class ListShareGroups(Request[ShareGroupsAnswer], frozen=True, kw_only=True):
    """Share groups, also those without members."""


class DescribeShareGroup(Request[ShareGroupView], frozen=True, kw_only=True):
    group: Name


_look = partial(Entry, tag="Groups", rights=(Right(READ, "group", "group"),))

ENTRIES = (
    listed(ListShareGroups, "GET /v1/share-groups", "List share groups", "Groups", Visible("groups", "group")),
    _look(
        DescribeShareGroup,
        "GET /v1/share-groups/{group}",
        "Describe a share group: its state, members, start offsets and what is in flight",
    ),
)
