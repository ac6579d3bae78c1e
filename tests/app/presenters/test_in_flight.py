"""In flight is what somebody holds: leases, and what groups were delivered and have not committed."""

from __future__ import annotations

from collections.abc import Callable

from app.presenters.in_flight import GroupHold, InFlightPanel, InFlightPresenter
from broker_core.events import EventKind
from tests.app.conftest import Hand

Place = tuple[str, str, int]


def recounted(hand: Hand) -> dict[Place, int]:
    """What each partition's owner holds, plainly from the events so far."""
    end = hand.workbench.controller.snapshot.events
    queues = {queue.name for queue in hand.workbench.controller.snapshot.queues}
    handed: dict[Place, tuple[int, int]] = {}
    committed: dict[Place, int] = {}
    for event in hand.workbench.history.ring.between(0, end):
        if event.kind in {EventKind.PARTITIONS_ASSIGNED, EventKind.PARTITIONS_REVOKED}:
            for topic, partition in (event.detail or {})["partitions"]:
                handed.pop((event.group, topic, partition), None)
        if event.group in queues or event.partition is None or event.offset is None:
            continue
        place, last = (event.group, event.topic, event.partition), event.offset + event.count
        if event.kind is EventKind.DELIVERED:
            first, known = handed.get(place, (event.offset, 0))
            handed[place] = (first, max(known, last))
        elif event.kind is EventKind.ACKNOWLEDGED:
            committed[place] = last
    held = {place: last - max(first, committed.get(place, 0)) for place, (first, last) in handed.items()}
    return {place: count for place, count in held.items() if count > 0}


def shown(hand: Hand) -> tuple[str, dict[Place, int], int]:
    """What the status bar says, the rows of groups, and how many messages the panel lists."""
    workbench = hand.workbench
    model = workbench.views.presenter(InFlightPresenter).model
    rows = {(row.queue, row.topic, row.partition): row.count for row in model.rows if isinstance(row, GroupHold)}
    return workbench.window.status.labels["in_flight"].text(), rows, model.listed


def test_what_groups_hold_is_in_flight_too_now_and_in_the_past(open_workbench: Callable[..., Hand]) -> None:
    hand = open_workbench(record=True)
    hand.workbench.window.show_tab("in_flight")
    seen = []
    for _ in range(6):
        hand.pass_time(1.7)
        held = recounted(hand)
        leases = sum(queue.in_flight for queue in hand.workbench.controller.snapshot.queues)
        total = leases + sum(held.values())
        assert shown(hand) == (f"{total:,} in flight", held, total)
        seen.append((hand.workbench.controller.snapshot.time_ns, shown(hand)))
    panel = hand.workbench.window.tab(InFlightPanel)
    assert panel.count_label.text() == f"{seen[-1][1][2]:,} messages in {panel.model.rowCount()} rows"
    assert any(rows for _ns, (_text, rows, _listed) in seen)
    for time_ns, before in reversed(seen[:-1]):
        hand.workbench.controller.travel.to(time_ns)
        hand.qtbot.waitUntil(lambda: not hand.workbench.controller.travel.busy, timeout=10_000)
        for _ in range(4):
            hand.workbench.draw()
        assert shown(hand) == before


def held_by_a_group(hand: Hand) -> tuple[GroupHold, int]:
    """What a group holds, and its place in the panel."""
    hand.workbench.window.show_tab("in_flight")
    model = hand.workbench.views.presenter(InFlightPresenter).model
    held: list[GroupHold] = []
    for _ in range(40):
        hand.pass_time(0.3)
        held = [row for row in model.rows if isinstance(row, GroupHold)]
        if held:
            break
    row = held[0]
    return row, model.place_of((row.queue, row.topic, str(row.partition)))


def test_what_a_group_holds_cannot_be_acknowledged_by_hand(hand: Hand) -> None:
    _row, place = held_by_a_group(hand)
    hand.workbench.window.tab(InFlightPanel).select(place)
    assert hand.workbench.registry.trigger("ack_lease")
    assert "its consumers commit them" in hand.workbench.window.status.last_action.whole


def test_a_group_has_its_partition_beside_its_name_and_no_priority(hand: Hand) -> None:
    row, place = held_by_a_group(hand)
    panel, model = hand.workbench.window.tab(InFlightPanel), hand.workbench.views.presenter(InFlightPresenter).model
    texts = [model.index(place, column).data() for column in range(2)]
    assert texts == [f"{row.queue}, {row.topic}/{row.partition}", "n/a"]
    panel.set_filter_text("priority >= 0")
    model.settle()
    shown_rows = [model.row_at(number) for number in range(model.rowCount())]
    assert not [one for one in shown_rows if isinstance(one, GroupHold)]
