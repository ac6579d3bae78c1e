"""Every figure of a workbench's window, tab by tab and object by object."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator
from typing import Any

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QApplication

from app.presenters.assignments import AssignmentsPresenter
from app.shell.workbench import Workbench
from tests.figures.shown.answers import DEAR, answered_figures, table_figures, wait_for_history
from widgets.canvas.view import CanvasView
from widgets.panels.assignments import AssignmentsPanel
from widgets.panels.backpressure import BackpressurePanel
from widgets.panels.charts import ChartsPanel
from widgets.panels.dead_letters import DeadLettersPanel
from widgets.panels.table_panel import TablePanel
from widgets.roles import Role

Key = tuple[str, str, str]  # place, object, figure
Figures = dict[Key, Any]

TABLES = ("assignments", "offsets", "in_flight", "dead_letters")
NOWHERE = QPoint(-9, -9)  # rows stand still under the pointer, which a test before may have left over the window
COUNTING = "Counting..."
READ_BY, HOT_KEYS = "Read by", "Hot keys"
CHART_LOOKS = 3  # curves are drawn at every third look
_COUNTED = re.compile(r"(.*) \((\d[\d,]*)\)")
_ROW = int(Qt.ItemDataRole.UserRole) + 1
_SECTION = int(Qt.ItemDataRole.UserRole) + 2


def shown_figures(workbench: Workbench, turn: int | None = None) -> tuple[Figures, Callable[[Key], bool]]:
    """They, as they stand after what is shown now was drawn, and whether a figure was looked at.

    All are, or at each `turn` half of what takes long to ask for, and in the inspector a third beside the partitions.
    """
    QCursor.setPos(NOWHERE)
    QApplication.processEvents()
    workbench.draw()
    found: Figures = {}
    window = workbench.window
    parts = window.parts
    found.update(_canvas(workbench.canvas.view))
    found.update(_navigator(parts.navigator.tree.invisibleRootItem()))
    for name, label in window.status.labels.items():
        found["status", "bar", name] = label.text()
    found["toolbar", "clock", "time"] = window.toolbar.clock.text()
    found.update(_cards(parts.rebalances.cards))
    for tab in TABLES:
        window.show_tab(tab)
        panel = window.panel(tab)
        assert isinstance(panel, TablePanel)
        found.update(table_figures(tab, panel.model))
        found[tab, "panel", "count"] = panel.count_label.text()
        found[tab, "panel", "note"] = panel.note.text()
    found.update(_around_tables(workbench))
    asked = [place for at, place in enumerate(DEAR) if turn is None or (turn + at) % 2 == 0]
    found.update(answered_figures(workbench, asked))
    window.show_tab("backpressure")
    found.update(_gauges(workbench))
    for _ in range(CHART_LOOKS):
        window.show_tab("assignments")
        window.show_tab("charts")
    found.update(_charts(workbench))
    found.update(_timeline(workbench))
    things = list(_things(workbench.canvas.view))
    lanes = [name for name in things if name.startswith("lane:")]
    # Keys are counted in a thread of their own: of one partition a look, so that it does not take all day.
    counted = lanes[window.timeline.facts.now_ns % len(lanes)] if lanes else ""
    # The keys of a partition stand for a second, unless another one is looked at.
    inspected = [name for at, name in enumerate(things) if turn is None or at % 3 == turn % 3 or name in lanes]
    for name in inspected:
        workbench.views.inspect(name)
        if name == counted:
            wait_for_history(workbench, "the keys of a partition")
        found.update(_inspector(name, workbench))
    workbench.views.inspect("")
    return found, lambda key: key[1] in inspected if key[0] == "inspector" else key[0] not in DEAR or key[0] in asked


def _fields(place: str, name: str, value: Any, leave: tuple[str, ...] = ()) -> Figures:
    """Every field of a dataclass but its name and what has figures of its own."""
    return {
        (place, name, field.name): getattr(value, field.name)
        for field in dataclasses.fields(value)
        if field.name != "name" and field.name not in leave
    }


def _canvas(view: CanvasView) -> Figures:
    found: Figures = {}
    for producer in view.producers:
        found.update(_fields("canvas", producer.id, producer))
    for consumer in view.bench:
        found.update(_fields("canvas", consumer.id, consumer))
    for topic in view.topics:
        found.update(_fields("canvas", topic.id, topic, ("lanes",)))
        for lane in topic.lanes:
            lane_id = f"lane:{topic.name}/{lane.partition}"
            found.update(_fields("canvas", lane_id, lane, ("groups", "partition")))
            for group in lane.groups:
                found.update(_fields("canvas", f"{lane_id} {group.group}", group, ("group",)))
    for box in view.groups:
        found.update(_fields("canvas", box.id, box, ("members",)))
        for member in box.members:
            found.update(_fields("canvas", f"{box.id} {member.id}", member))
    for queue in view.queues:
        found.update(_fields("canvas", queue.id, queue, ("leases", "workers")))
        for ring in queue.leases:
            found.update(_fields("canvas", f"lease:{ring.key}", ring, ("key",)))
        for worker in queue.workers:
            found.update(_fields("canvas", f"{queue.id} {worker.id}", worker))
    for link in view.links:
        found.update(_fields("canvas", f"{link.source} > {link.target}", link, ("source", "target", "kind")))
    return found


def _navigator(root: Any) -> Figures:
    found: Figures = {}
    for place in range(root.childCount()):
        head = root.child(place)
        section = head.data(0, _SECTION)
        found["navigator", section.key, "count"] = len(section.rows)
        for number in range(head.childCount()):
            row = head.child(number).data(0, _ROW)
            if row.id:
                name = f"{section.key} {row.id}" if section.key == "faults" else row.id
                found.update(_fields("navigator", name, row, ("id", "hidden")))
    return found


def _cards(cards: list[Any]) -> Figures:
    found: Figures = {}
    for card in cards:
        facts = card.facts
        name = f"{facts.group} at {facts.started}"
        found.update(_fields("card", name, facts, ("key", "group", "moved", "kept", "started_hint")))
        for move in facts.moved:
            found["card", name, f"moved {move.place}"] = (move.old.name, move.new.name)
        for move in facts.kept:
            found["card", name, f"kept {move.place}"] = move.old.name
    return found


def _around_tables(workbench: Workbench) -> Figures:
    window = workbench.window
    panel = window.tab(DeadLettersPanel)
    found: Figures = {}
    for place in range(panel.causes.count()):
        item = panel.causes.item(place)
        found["dead_letters", "causes", item.text()] = item.data(int(Qt.ItemDataRole.UserRole) + 100)
    for name in window.tabs.panels:
        tab = window.tabs.tab(name)
        found["tabs", tab.text(), "count"] = f"{tab.count:,}" if tab.count else ""
    ownership = workbench.views.presenter(AssignmentsPresenter).ownership
    parts = window.tab(AssignmentsPanel)
    for group in [parts.groups.itemText(place) for place in range(parts.groups.count())]:
        assert workbench.views.snapshot is not None
        ownership.update(workbench.views.snapshot, group)
        for row in range(ownership.rowCount()):
            topic, partition, owner, since, owners = (ownership.index(row, column).data() for column in range(5))
            spans = ownership.index(row, 5).data(Role.TOOLTIP)
            figures = {"Owner": owner, "Since": since, "Owners": owners, "Over time": spans}
            found.update(
                {("ownership", f"{group} {topic}/{partition}", name): value for name, value in figures.items()}
            )
    return found


def _gauges(workbench: Workbench) -> Figures:
    panel = workbench.window.tab(BackpressurePanel)
    found: Figures = {}
    for gauge in panel.gauges:
        facts = gauge.facts
        if facts is not None:
            found.update(_fields("backpressure", facts.target, facts, ("target",)))
            found["backpressure", facts.target, "limits"] = facts.limits and dataclasses.astuple(facts.limits)
    for chain in panel.chains.chains:
        producer = chain.links[0].words
        found["backpressure", producer, "since"] = chain.since
        for at, link in enumerate(chain.links[1:], 1):
            found["backpressure", producer, f"link {at}"] = link.words
    return found


def _charts(workbench: Workbench) -> Figures:
    panel = workbench.window.tab(ChartsPanel)
    found = table_figures("rates", panel.rates_table.model())
    for key, chart in panel.charts().items():
        for curve in chart.facts.curves if chart.facts is not None else ():
            points = tuple(zip(curve.times_s.tolist(), curve.values.tolist(), strict=True))
            found["charts", key, curve.name] = points
    return found


def _timeline(workbench: Workbench) -> Figures:
    facts = workbench.window.timeline.facts
    return _fields("timeline", "strip", facts)


def _things(view: CanvasView) -> Iterator[str]:
    """The ids that the inspector can be asked for."""
    for topic in view.topics:
        yield topic.id
        yield from (f"lane:{topic.name}/{lane.partition}" for lane in topic.lanes)
    for group in view.groups:
        yield group.id
        yield from (member.id for member in group.members)
    for queue in view.queues:
        yield queue.id
        yield from (worker.id for worker in queue.workers)
    yield from (producer.id for producer in view.producers)
    yield from (consumer.id for consumer in view.bench)
    yield "bench"


def _inspector(name: str, workbench: Workbench) -> Figures:
    panel = workbench.window.parts.inspector
    facts = panel.facts
    assert facts is not None, f"the inspector shows nothing of {name}"
    found: Figures = {("inspector", name, "state"): facts.state}
    for heading, rows in facts.sections:
        if heading == HOT_KEYS:
            found["inspector", name, HOT_KEYS] = _hot_keys(rows)
            continue
        counted = _COUNTED.fullmatch(heading)
        title = heading if counted is None else counted[1]
        if counted is not None:
            found["inspector", name, f"{title} (count)"] = counted[2]
        seen: dict[str, int] = {}
        label = ""
        for row in rows:
            label = row[0] or label
            if label == READ_BY:
                readers = found.setdefault(("inspector", name, READ_BY), set())
                readers |= {row[1]} if row[2:] else set()
                continue
            seen[label] = seen.get(label, 0) + 1
            figure = f"{title}: {label}" if title else label
            found["inspector", name, figure + (f" #{seen[label]}" if seen[label] > 1 else "")] = row[1]
    return found


def _hot_keys(rows: tuple[tuple[str, ...], ...]) -> str | None:
    """A line for each key; None while they are being counted."""
    if rows[0][1] == COUNTING:
        return None
    return "".join(f"{row[0]}: {row[1]}\n" for row in rows)
