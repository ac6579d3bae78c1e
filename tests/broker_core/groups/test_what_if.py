"""Who would own what: by another assignor, without a client, and with one more."""

from __future__ import annotations

from broker_core.groups.what_if import would_own
from broker_core.snapshots import GroupView, MemberView, OffsetView

PARTITIONS = {"orders": 4, "mails": 2}


def member(client: str, *owned: int) -> MemberView:
    places = tuple(("orders", each) for each in owned)
    return MemberView(client, f"{client}-1", "", ("orders",), places, joined_ns=0, last_heartbeat_ns=0)


GROUP = GroupView("g", "Stable", 1, "sticky", "a-1", ("orders",), (member("a", 0, 2), member("b", 1, 3)), (), 0)


def orders(*owners: str) -> dict[tuple[str, int], str]:
    return {("orders", number): owner for number, owner in enumerate(owners)}


def test_each_assignor_has_its_own_answer_and_the_group_stays_as_it_is() -> None:
    assert GROUP.owners == orders("a", "b", "a", "b")
    assert would_own(GROUP, "sticky", PARTITIONS) == GROUP.owners
    assert would_own(GROUP, "range", PARTITIONS) == orders("a", "a", "b", "b")


def test_who_leaves_owns_nothing_and_who_joins_has_a_share() -> None:
    assert would_own(GROUP, "range", PARTITIONS, without="a") == orders("b", "b", "b", "b")
    assert would_own(GROUP, "range", PARTITIONS, joins="c") == orders("a", "a", "b", "c")
    moved = would_own(GROUP, "range", PARTITIONS, without="a", joins="a")
    assert moved == GROUP.owners | orders("a", "a", "b", "b"), "it comes back under its name"


def test_who_joins_an_empty_group_reads_what_was_committed() -> None:
    at = OffsetView("mails", 0, "", None, 5, 9, 4, None)
    empty = GroupView("g", "Empty", 2, "", "", (), (), (at,), 0)
    assert would_own(empty, "range", PARTITIONS, joins="a") == {("mails", 0): "a", ("mails", 1): "a"}
