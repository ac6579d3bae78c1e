"""The steps of the zoom: at each, names and states are whole; figures are abbreviated before anything is cut."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from PySide6.QtGui import QImage, QPainter, QPixmap
from PySide6.QtWidgets import QApplication

from tests.widgets.canvas.sample_views import first_view, mid_rebalance, wide_view
from widgets.canvas import lettering
from widgets.canvas.canvas import Canvas
from widgets.canvas.lettering import KEPT_FROM, NEAR_FROM, NORMAL_FROM, Step, step_of
from widgets.canvas.topic_item import TopicItem
from widgets.canvas.view import CanvasView, ConsumerCard, GroupBox, QueueBox, WorkerCard
from widgets.icons import icon_pixmap
from widgets.theme import DARK, LIGHT, state_style

ZOOMS = {Step.OVERVIEW: 0.4, Step.NORMAL: 0.7, Step.NEAR: 1.2}
Written = Callable[[Step], tuple[list[str], list[str], list[str]]]


@pytest.fixture
def written(canvas: Canvas, monkeypatch: pytest.MonkeyPatch) -> Written:
    """At a step of the zoom: what is written whole, what is cut or left out, and the icons that are drawn."""
    whole: list[str] = []
    cut: list[str] = []
    icons: list[str] = []
    elided = lettering.elided

    def note(text: str, name: str, width: int) -> str:
        shown = elided(text, name, width)
        (whole if shown == text else cut).append(text)
        return shown

    def note_icon(name: str, colour: str, size: int, scale: float) -> QPixmap:
        icons.append(name)
        return icon_pixmap(name, colour, size, scale)

    def at(step: Step) -> tuple[list[str], list[str], list[str]]:
        canvas.follows = False
        canvas._set_zoom(ZOOMS[step])
        QApplication.processEvents()
        for heard in (whole, cut, icons):
            heard.clear()
        picture = canvas._stage.sceneRect()
        canvas._stage.repaint_all()
        image = QImage(round(picture.width()), round(picture.height()), QImage.Format.Format_ARGB32)
        painter = QPainter(image)
        canvas._stage.render(painter)
        painter.end()
        return list(whole), list(cut), list(icons)

    monkeypatch.setattr(lettering, "elided", note)
    monkeypatch.setattr("widgets.canvas.box_item.icon_pixmap", note_icon)
    return at


@pytest.mark.parametrize("step", list(Step), ids=lambda step: step.name)
@pytest.mark.parametrize("view", [first_view(), mid_rebalance()], ids=["first", "rebalance"])
def test_at_every_step_a_state_keeps_its_icon_and_word_and_names_stay(
    canvas: Canvas, written: Written, view: CanvasView, step: Step
) -> None:
    canvas.set_view(view)
    words, cut, icons = written(step)
    assert cut == []
    members = [card for group in view.groups for card in group.members]
    workers = [card for queue in view.queues for card in queue.workers]
    states = [(card.name, card.state) for card in view.producers]
    states += [(card.name, card.state) for card in (*view.bench, *members)] + [
        (card.name, card.state) for card in workers
    ]
    states += [(group.name, group.state) for group in view.groups]
    states += [(topic.name, topic.gate) for topic in view.topics] + [(queue.name, queue.gate) for queue in view.queues]
    for name, state in states:
        assert name in words
        if state:
            assert state_style(state).word in words
            assert state_style(state).icon in icons
    assert any(word.startswith("Dead letters") for word in words)
    assert "P0" in words, "a partition keeps its label"


def test_figures_are_abbreviated_before_anything_is_cut(canvas: Canvas, written: Written) -> None:
    view = first_view()
    big = replace(view.groups[0], lag=1_234_567, state="Preparing rebalance", trend="rising")
    canvas.set_view(replace(view, groups=(big, *view.groups[1:])))
    near, cut, _icons = written(Step.NEAR)
    assert cut == []
    assert {"1.2M", "lag 1,234,567"} & set(near)
    for step in (Step.NORMAL, Step.OVERVIEW):
        words, cut, _icons = written(step)
        assert cut == []
        assert "lag 1,234,567" not in words
        assert "Preparing rebalance" in words


def test_a_crowd_keeps_name_and_icon_and_says_what_is_wrong_in_words(canvas: Canvas, written: Written) -> None:
    view = wide_view(partitions=200, consumers=80)
    members = (replace(view.groups[0].members[0], state="crashed"), *view.groups[0].members[1:])
    canvas.set_view(replace(view, groups=(replace(view.groups[0], members=members), *view.groups[1:])))
    for step in (Step.NEAR, Step.NORMAL):
        words, _cut, icons = written(step)
        assert members[0].name in words
        assert state_style("crashed").word in words
        assert state_style("crashed").icon in icons
    words, cut, icons = written(Step.OVERVIEW)
    assert members[1].name in words and state_style("crashed").icon in icons
    assert all(len(lettering.elided(text, "name@0", 60)) != 3 for text in cut), "no ellipsis of two letters"


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_of_many_partitions_lag_alone_has_a_colour_and_a_selected_consumer_frames_its_own(
    canvas: Canvas, theme: object
) -> None:
    canvas.set_view(wide_view(partitions=200, consumers=80), LIGHT if theme is LIGHT else DARK)
    topic = canvas._stage.boxes["topic:commits"]
    assert isinstance(topic, TopicItem) and topic.is_heat_map
    owner = topic.facts.lanes[7].groups[0].owner
    canvas.follows = False
    canvas._set_zoom(1.2)
    canvas.centerOn(topic.sceneBoundingRect().center())
    before = canvas.grab().toImage()
    canvas.set_selected(f"consumer:{owner}")
    assert topic.owner == owner
    framed = canvas.grab().toImage()
    corner = canvas.mapFromScene(topic.mapToScene(topic._cell(7, 0).topLeft()))
    assert framed.pixelColor(corner) != before.pixelColor(corner)
    assert owner in topic.tool_tip(topic._cell(7, 0).center().x(), topic._cell(7, 0).center().y())
    canvas.set_selected("")
    assert topic.owner == ""


def test_with_larger_type_what_is_written_is_larger() -> None:
    assert step_of(NORMAL_FROM - 0.01) is Step.OVERVIEW
    assert step_of(NEAR_FROM) is Step.NEAR
    assert step_of(NEAR_FROM, 1.5) is Step.NORMAL


def test_a_text_that_is_cut_keeps_enough_letters_or_is_left_out() -> None:
    for width in range(0, 90):
        shown = lettering.elided("billing-worker-17", "name", width)
        assert shown == "" or len(shown.replace("…", "")) >= lettering.LEAST_LETTERS


def shown_step(canvas: Canvas) -> Step:
    return canvas._look.step


def test_a_line_above_the_canvas_takes_no_details_away(canvas: Canvas) -> None:
    width = 1_200
    for height in range(900, 300, -4):
        canvas.resize(width, height)
        canvas.fit()
        if canvas.zoom < NEAR_FROM * 1.02:
            break
    assert shown_step(canvas) is Step.NEAR
    canvas.resize(width, height - 38)
    assert canvas.zoom < NEAR_FROM and shown_step(canvas) is Step.NEAR
    canvas._set_zoom(NEAR_FROM * KEPT_FROM - 0.01)
    assert shown_step(canvas) is Step.NORMAL
    canvas._set_zoom(NEAR_FROM - 0.01)
    assert shown_step(canvas) is Step.NORMAL, "it comes back where it begins, not where it ends"
    canvas._set_zoom(NEAR_FROM)
    assert shown_step(canvas) is Step.NEAR
    canvas._set_zoom(NEAR_FROM - 0.01)
    canvas.fit()
    assert shown_step(canvas) is step_of(canvas.zoom), "fitted, it is as if it were seen for the first time"


def test_of_many_consumers_each_has_the_word_of_its_state(canvas: Canvas, written: Written) -> None:
    members = tuple(ConsumerCard(f"reader-{number}", state="processing") for number in range(1, 81))
    canvas.set_view(CanvasView(groups=(GroupBox("readers", members=members),)))
    for step in (Step.NORMAL, Step.NEAR):
        whole, cut, _icons = written(step)
        assert whole.count("Processing") == 80 and cut == [], step


def test_a_part_that_was_shown_is_found_again_in_the_arrangement_it_was_seen_in(canvas: Canvas) -> None:
    canvas.resize(1_000, 900)
    canvas.fit()
    canvas.zoom_in()
    before, high = canvas.sight, dict(canvas._stage.layout.rects)
    canvas.resize(1_700, 400)
    canvas.fit()
    assert canvas._stage.layout.rects != high, "another room, another arrangement"
    canvas.come_back(before)
    assert canvas._stage.layout.rects == high and canvas.sight.arrangement == before.arrangement
    assert canvas.zoom == pytest.approx(before.zoom)


def test_a_subscription_says_what_it_reads_and_who_takes_from_it_at_every_step(
    canvas: Canvas, written: Written
) -> None:
    worker = WorkerCard("dashboard")
    first = QueueBox("dashboard.orders", workers=(worker,), reads="orders")
    second = QueueBox("dashboard.views", reads="views", taken_by=("dashboard",))
    canvas.set_view(CanvasView(queues=(first, second)))
    for step in Step:
        whole, cut, _icons = written(step)
        assert {"reads orders", "reads views"} <= set(whole), step
        assert any("dashboard" in text and "dashboard." not in text and "of " not in text for text in whole), step
        assert cut == [], step
    assert "dashboard also reads from here" in whole
    alone = replace(second, taken_by=())
    canvas.set_view(CanvasView(queues=(first, alone)))
    assert "No workers read from this queue." in written(Step.NEAR)[0]
