"""What a consumer of another program handles: what it acknowledges, on its card, in Charts and in the inspector."""

from __future__ import annotations

import math

import msgspec
import pytest

from app.presenters.canvas import CanvasModel
from app.presenters.charts import RateTable
from app.presenters.clients import other_consumers
from app.presenters.inspector import inspector_facts
from app.presenters.owners import Owners
from app.sessions.history.series import SessionSeries
from broker_core.clock import NS_PER_S
from broker_core.events import Event, EventKind
from broker_core.snapshots import SHARE, GroupView, MemberView, OffsetView, PartitionView, Snapshot, TopicView
from widgets.formats import per_second

NOW_NS = 4 * NS_PER_S
FETCHED, ACKNOWLEDGED = 50, 5  # a second: it fetches ahead, and works slowly


def series() -> SessionSeries:
    """Of 4 s in which pod-1 has fetched and acknowledged so much, each second at once."""
    found = SessionSeries()
    for second in range(4):
        for kind, count in ((EventKind.DELIVERED, FETCHED), (EventKind.ACKNOWLEDGED, ACKNOWLEDGED)):
            found(
                Event(
                    0, second * NS_PER_S + NS_PER_S // 2, kind, topic="orders", partition=0, offset=0, count=count,
                    client="pod-1", group="billing",
                )
            )  # fmt: skip
    return found


def snapshot(committed: int | None = 4 * ACKNOWLEDGED) -> Snapshot:
    """A group of pod-1, which belongs to another program; it keeps its offsets elsewhere if nothing is committed."""
    topic = TopicView("orders", (PartitionView(0, 0, 400, 0),), 400, 0, None)
    member = MemberView("pod-1", "pod-1-x", "", ("orders",), (("orders", 0),), 0, NOW_NS)
    at = OffsetView("orders", 0, "pod-1", 4 * FETCHED, committed, 400, 400 - (committed or 0), NS_PER_S)
    group = GroupView("billing", "Stable", 1, "range", "", ("orders",), (member,), (at,), 0)
    return Snapshot(NOW_NS, 0, topics=(topic,), groups=(group,))


@pytest.mark.parametrize(
    ("committed", "rate", "told"),
    [(20, ACKNOWLEDGED, "50/s fetched\n"), (None, FETCHED, "50/s fetched: its group keeps its offsets elsewhere\n")],
    ids=["commits", "offsets elsewhere"],
)
def test_the_rate_of_its_card_is_what_it_acknowledges(qapp, committed: int | None, rate: float, told: str) -> None:
    (box,) = CanvasModel(Owners(), series()).view(snapshot(committed)).groups
    (card,) = box.members
    assert card.rate_per_s == pytest.approx(rate)
    assert f"{card.detail}\n".startswith(told)


def test_charts_list_it_with_what_it_acknowledges(qapp) -> None:
    table = RateTable(series())
    table.set_snapshot(snapshot())
    (row,) = [row for row in table.rows if row.kind == "consumer"]
    assert (row.name, row.behind) == ("pod-1", 380)
    assert row.per_s == pytest.approx(ACKNOWLEDGED)


def test_one_that_reads_in_two_groups_is_listed_with_both(qapp) -> None:
    billing = snapshot().groups[0]
    audit = msgspec.structs.replace(billing, name="audit", members=billing.members * 2)
    both = msgspec.structs.replace(snapshot(), groups=(billing, audit))
    (client,) = other_consumers(both, series())
    assert client.targets == ("billing", "audit")
    idle_first = msgspec.structs.replace(both, groups=(msgspec.structs.replace(audit, kind=SHARE), billing))
    assert [each.state for each in (client, *other_consumers(idle_first, series()))] == ["running"] * 2
    table = RateTable(series())
    table.set_snapshot(both)
    (row,) = [row for row in table.rows if row.kind == "consumer"]
    assert (row.name, row.behind) == ("pod-1", 2 * 380)


def test_the_inspector_says_the_same(qapp) -> None:
    facts = inspector_facts(snapshot(), "consumer:pod-1", series())
    assert facts is not None
    shown = {fact[0]: fact[1] for _title, section in facts.sections for fact in section}
    assert shown["Rate"].startswith("5.0")


def share_group(members: int) -> Snapshot:
    """A share group of a cluster, of which only the group's progress is told; orders has one partition."""
    found = snapshot()
    pods = tuple(
        MemberView(f"pod-{each}", f"pod-{each}-x", "", ("orders",), (), 0, NOW_NS) for each in range(1, members + 1)
    )
    group = msgspec.structs.replace(found.groups[0], members=pods, kind=SHARE, assignor="")
    return msgspec.structs.replace(found, groups=(group,))


@pytest.mark.parametrize("members", [1, 2])
def test_a_member_of_a_share_group_of_a_cluster_reads_all_partitions_with_the_others(qapp, members: int) -> None:
    seen = series()
    seen.deliveries = False
    (box,) = CanvasModel(Owners(), seen).view(share_group(members)).groups
    card = box.members[0]
    assert (card.partitions, card.state) == (1, "running")
    assert card.rate_per_s == pytest.approx(ACKNOWLEDGED) if members == 1 else math.isnan(card.rate_per_s)
    assert "acknowledged in its group" in card.detail
    facts = inspector_facts(share_group(members), "consumer:pod-1", seen)
    assert facts is not None
    shown = {fact[0]: fact[1] for _title, section in facts.sections for fact in section}
    assert shown["Reads"] == "orders, with the others of its group" and "Lag" not in shown and "Owns" not in shown
    told = "5.0" if members == 1 else "…"
    assert shown["Rate"].startswith(told) and facts.state == "running"
    table = RateTable(seen)
    table.set_snapshot(share_group(members))
    (row, *_others) = [row for row in table.rows if row.kind == "consumer"]
    assert per_second(row.per_s) == told
