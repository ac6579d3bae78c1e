"""Every figure of a session's page is the window's, at moments drawn by chance."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

import resources
from app.pages.moments import PagePart
from app.pages.page import page_of
from app.sessions.stored import StoredSession
from app.shell.workbench import Workbench
from broker_core.clock import NS_PER_S
from tests.app.pages.read_page import Page
from tests.figures.shown.window import HOT_KEYS, _things
from tests.figures.visits import Plan, Visit
from tests.long_form import form, some
from widgets.bytes_text import contained
from widgets.canvas.card_item import Card, card_note
from widgets.canvas.group_item import lag_texts
from widgets.canvas.lettering import count_text, rate_text
from widgets.canvas.view import CanvasView
from widgets.formats import at_most
from widgets.theme import state_style

SCENARIOS = sorted(resources.path("scenarios").glob("*.yaml"))
ASKED = (HOT_KEYS, "Read by")  # of the whole history: the window reads them when they are asked for


@pytest.mark.parametrize("scenario", some(SCENARIOS, {"first-session", "transactions"}))
def test_the_page_has_the_figures_of_the_window(workbench: Workbench, qtbot: QtBot, scenario: Path) -> None:
    visit = Visit(workbench, qtbot, scenario, Plan(1, 1, form(20, 1e9)))
    folder = _recorded(workbench, scenario, form(20, 1e9))
    page = Page(page_of(StoredSession(folder), PagePart(), lambda _done, _message: None).decode())
    controller = workbench.controller
    controller.open_session(folder)
    visit._wait(lambda: controller._reading is not None and not controller._reading.thread.is_alive())
    seconds = random.Random(scenario.stem).sample(range(len(page.moments_ms) - 1), form(2, 50))
    compared = 0
    for second in seconds:
        controller.travel.to(second * NS_PER_S)
        visit._arrive()
        workbench.draw()
        assert controller.snapshot.time_ns == second * NS_PER_S
        there = page.at(second * 1000)
        assert there["clock"] == workbench.window.toolbar.clock.text()
        labels = workbench.window.status.labels
        assert (there["rate"], there["in_flight"]) == (labels["rate"].text(), labels["in_flight"].text())
        _same_canvas(there["scene"]["boxes"], workbench.canvas.view)
        _same_cards(there.get("cards", {}), workbench)
        for name in _things(workbench.canvas.view):
            compared += _same_facts(there["facts"][name], workbench, name)
    assert compared > 20 * len(seconds)


def _recorded(workbench: Workbench, scenario: Path, until_s: float) -> Path:
    controller = workbench.controller
    controller.record = True
    controller.open(scenario)
    assert controller.source.scenario is not None
    controller.time.run_until(round(min(until_s, controller.source.scenario.until_s) * NS_PER_S))
    folder = controller.source.folder
    controller.stop()
    assert folder is not None
    return folder


def _same_facts(shown: dict[str, Any], workbench: Workbench, name: str) -> int:
    """What the inspector shows; how many rows were compared."""
    workbench.views.inspect(name)
    facts = workbench.window.parts.inspector.facts
    assert facts is not None
    assert (shown["kind"], shown["name"]) == (facts.kind, contained(facts.name))
    assert shown["state"] == (list(state_style(facts.state)) if facts.state else [])
    rows = [(section["title"], row["label"], row["value"]) for section in shown["sections"] for row in section["rows"]]
    wanted = [
        (contained(title), contained(row[0]), contained(row[1]))
        for title, rows in facts.sections
        if title not in ASKED
        for row in rows
    ]
    assert [row for row in wanted if row in rows] == rows, name
    # Beside it the window's inspector has what it counts in the history of a partition alone.
    assert name.startswith("lane:") or rows == wanted, name
    return len(rows)


def _same_canvas(boxes: dict[str, Any], view: CanvasView) -> None:
    cards: list[Card] = [*view.producers, *view.bench]
    for group in view.groups:
        box = boxes[group.id]
        assert box["state"] == list(state_style(group.state))
        assert box["lags"] == list(lag_texts(group, near=True))
        assert box["note"] == f"generation {group.generation:,}"
        cards += group.members
    for topic in view.topics:
        box = boxes[topic.id]
        assert box["note"] == rate_text(topic.rate_per_s)
        for lane, drawn in zip(topic.lanes, box["lanes"] or topic.lanes, strict=True):
            if drawn is not lane:
                assert (drawn["name"], drawn["end"]) == (f"P{lane.partition}", count_text(lane.end_offset))
                for place, one in zip(lane.groups, drawn["groups"], strict=False):
                    lag = "n/a" if place.lag is None else at_most(count_text(place.lag), place.is_at_most)
                    assert (one["lag"], one["badge"], one["known"]) == (lag, place.badge, place.committed is not None)
    for queue in view.queues:
        box = boxes[queue.id]
        counts = [count_text(number) for number in (queue.ready, queue.delayed, queue.in_flight)]
        assert [figure["count"] for figure in box["figures"]] == counts
        assert boxes[queue.dead_letters_id]["note"] == count_text(queue.dead)
        cards += queue.workers
    for card in cards:
        if card.id in boxes:
            found = boxes[card.id]["state"], boxes[card.id]["rate"], boxes[card.id]["note"]
            assert found == (list(state_style(card.state)), rate_text(card.rate_per_s), card_note(card))


def _same_cards(shown: dict[str, Any], workbench: Workbench) -> None:
    cards = [card.facts for card in workbench.window.parts.rebalances.cards if card.facts is not None]
    wanted = {(card.group, card.started, card.generation, card.no_reader, card.cause) for card in cards}
    found = {
        (card["group"], card["started"], card["generation"], card["no_reader"], card["cause"])
        for card in shown.values()
    }
    assert found == {tuple(map(contained, card)) for card in wanted}
