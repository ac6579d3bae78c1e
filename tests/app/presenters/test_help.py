"""Help, keys, licences and the first hint."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtWidgets import QApplication, QMenu

import resources
from app.commands.help import GUIDES
from app.environment.paths import find_scenario
from app.presenters.help import about, parts
from app.presenters.panels import PANELS
from broker_core.simulation.actions.groups import MoveConsumer
from tests.app.conftest import Hand
from widgets.dialogs.dialog import ReadingDialog
from widgets.dialogs.scenario_picker import ScenarioPicker
from widgets.hint_bar import Notice
from widgets.icons import icon
from widgets.theme import LIGHT


def page_of(hand: Hand) -> ReadingDialog:
    found = hand.workbench.window.findChildren(ReadingDialog)
    assert found
    return found[-1]


def test_every_panel_is_registered_with_what_the_menu_and_help_need() -> None:
    assert len({panel.name for panel in PANELS}) == len(PANELS)
    for panel in PANELS:
        assert panel.hint.endswith("."), panel.name
        for language in ("en", "de"):
            assert len(resources.path("help", language, f"{panel.name}.md").read_text("utf-8")) > 60, panel.name
        assert panel.group in {"Data", "Groups", "Flow", "System", "Report"}, panel.name
        assert not icon(panel.icon, LIGHT).isNull(), panel.name


def test_a_panel_stands_in_tabs_menu_and_palette_by_its_registration_alone(hand: Hand) -> None:
    window, registry = hand.workbench.window, hand.workbench.registry
    tabs = [window.tabs.tab(name).text() for name in window.tabs.panels]
    assert tabs == [panel.title for panel in PANELS]
    menu = next(action.menu() for action in window.menuBar().actions() if action.text().replace("&", "") == "Panels")
    assert isinstance(menu, QMenu)
    wanted = [f"show_{panel.name}" for panel in PANELS]
    assert [action.objectName() for action in menu.actions()] == wanted
    assert set(wanted) <= {entry.id for entry in registry.entries()}
    for panel in PANELS:
        assert registry.trigger(f"show_{panel.name}")
        assert window.shown_tab() == panel.name


def test_f1_tells_of_the_panel_in_front(hand: Hand) -> None:
    hand.workbench.window.show_tab("in_flight")
    hand.qtbot.keyClick(hand.workbench.window, Qt.Key.Key_F1)
    assert "lease" in page_of(hand).page.toPlainText()


def test_f1_tells_of_the_canvas_where_the_panels_are_folded(hand: Hand) -> None:
    hand.workbench.window.show_tab("in_flight")
    hand.workbench.window.open_bottom(False)
    hand.qtbot.keyClick(hand.workbench.window, Qt.Key.Key_F1)
    assert page_of(hand).windowTitle() == "Canvas"
    assert "up to it the bar has the owner's colour, and what is orange" in page_of(hand).page.toPlainText()


def test_a_page_of_help_is_as_high_as_its_text_and_scrolls_beyond(hand: Hand, qapp: QApplication) -> None:
    heights = {}
    for name in ("assignments", "charts", "backpressure"):
        hand.workbench.window.show_tab(name)
        hand.workbench.registry.trigger("help_panel")
        dialog = page_of(hand)
        qapp.processEvents()
        text, seen = dialog.page.document().size().height(), dialog.page.viewport().height()
        assert not dialog.page.verticalScrollBar().isVisible() and seen - text < 90, name
        heights[name] = dialog.height()
    assert len(set(heights.values())) > 1
    hand.workbench.registry.trigger("help_keys")
    qapp.processEvents()
    assert page_of(hand).page.verticalScrollBar().isVisible()


def test_a_page_of_help_is_no_box_in_a_box(hand: Hand, qapp: QApplication) -> None:
    """Its ground is that of the dialog, up to its edge: neither a frame nor another colour."""
    hand.workbench.registry.trigger("help_panel")
    dialog = page_of(hand)
    qapp.processEvents()
    image, page = dialog.grab().toImage(), dialog.page.geometry()
    around = image.pixelColor(page.left() - 3, page.center().y())
    edges = (page.left(), page.top()), (page.right(), page.bottom()), (page.left(), page.center().y())
    assert {image.pixelColor(*at).name() for at in edges} == {around.name()}


def test_about_names_the_parts_and_their_licences(hand: Hand) -> None:
    text = about()
    assert "Apache License 2.0" in text
    assert "LGPL" in text
    assert {"PySide6-Essentials", "polars", "kio"} <= {*parts()}
    for name in parts():
        row = next((line for line in text.splitlines() if line.startswith(f"| {name} |")), None)
        assert row is not None, f"{name} is not installed, or not named"
        assert row.split("|")[3].strip(), f"{name} says no licence"


def test_keys_are_those_of_the_registry(hand: Hand) -> None:
    hand.workbench.registry.trigger("help_keys")
    text = page_of(hand).page.toPlainText()
    rows = text.split("\n")
    assert rows[rows.index("Redrive selected") + 1] == "Ctrl+D"
    assert rows[1:4] == ["Menu", "Command", "Keys"]


def test_the_guide_to_testing_is_a_page_of_help(hand: Hand) -> None:
    hand.workbench.registry.trigger("help_testing")
    text = page_of(hand).page.toPlainText()
    assert "My consumer commits too early" in text
    assert "    broker.create_topic(" in text


@pytest.mark.parametrize("name", GUIDES)
def test_every_guide_is_a_page_of_help_and_leads_to_what_is_there(
    hand: Hand, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[QUrl] = []
    monkeypatch.setattr("app.commands.help.QDesktopServices.openUrl", opened.append)
    hand.workbench.registry.trigger(GUIDES[name].id)
    page = page_of(hand)
    assert page.windowTitle() == GUIDES[name].title
    links = re.findall(r'href="([^"]+)"', page.page.toHtml())
    for link in links:
        page.page.anchorClicked.emit(QUrl(link))
        if link not in GUIDES:
            assert Path(opened.pop().toLocalFile()).samefile(resources.path("guides", link))
        else:
            assert page_of(hand) is not page


def test_the_readme_says_which_guides_are_in_the_help_menu() -> None:
    text = (Path(__file__).parents[3] / "README.md").read_text(encoding="utf-8")
    said, table = text.partition("\n## Guides\n")[2].partition("\n## ")[0].split("\n\n| guide ")
    guides = re.findall(r"^\| \[.+?\]\((.+?)\)", table, re.MULTILINE)
    assert said.strip() == "All but the last two are also in the *Help* menu."
    assert [guide for guide in guides if Path(guide).name not in GUIDES] == guides[-2:]


def test_the_guide_to_testing_leads_to_the_reference(hand: Hand) -> None:
    hand.workbench.registry.trigger("help_testing")
    page_of(hand).page.anchorClicked.emit(QUrl("testing-reference.md"))
    reference = page_of(hand)
    assert reference.windowTitle() == "Testing reference"
    assert "broker.faults.move_leader" in reference.page.toPlainText()


def test_the_first_hint_comes_once_and_can_be_sent_away(
    open_workbench: Callable[..., Hand], monkeypatch: pytest.MonkeyPatch
) -> None:
    hand = open_workbench("retention", hints=True)
    hint = hand.workbench.window.hint
    assert hint.isVisible()
    assert "Drag spare-1" in hint.sentence.text()
    hand.workbench.window.parts.navigator.filter_field.setFocus()
    hand.qtbot.mouseClick(hint.dismiss, Qt.MouseButton.LeftButton)
    assert not hint.isVisible()
    assert hand.workbench.window.focusWidget() is hand.workbench.canvas
    hand.workbench.controller.restart()
    assert not hint.isVisible(), "one hint, once"


def test_who_has_followed_the_first_hint_is_told_no_longer(open_workbench: Callable[..., Hand]) -> None:
    hand = open_workbench("retention", hints=True)
    hint = hand.workbench.window.hint
    hint.show_notice(Notice("A session was not closed.", "Open it"))
    hand.workbench.controller.perform(MoveConsumer("spare-1", "readers"))
    hand.show()
    assert hint.sentence.text() == "A session was not closed.", "what has nothing to do with it stays"
    hint.dismiss.click()
    assert not hint.isVisible()


def test_a_hint_ends_with_its_session(open_workbench: Callable[..., Hand]) -> None:
    hand = open_workbench("retention", hints=True)
    hint = hand.workbench.window.hint
    hint.show_notice(Notice("A session was not closed.", "Open it"))
    hand.workbench.controller.open(find_scenario("work-queue"))
    hand.show()
    assert not hint.isVisible()


def test_an_offer_of_the_hint_is_taken_by_a_click_and_the_next_follows(open_workbench: Callable[..., Hand]) -> None:
    hand = open_workbench("retention", hints=True)
    hint = hand.workbench.window.hint
    taken: list[str] = []
    hint.show_notice(Notice("A session was not closed.", "Open it", lambda: taken.append("opened")))
    hand.qtbot.mouseClick(hint.offer, Qt.MouseButton.LeftButton)
    assert hand.workbench.window.findChild(ScenarioPicker) is not None
    assert hint.isVisible()
    hand.qtbot.mouseClick(hint.offer, Qt.MouseButton.LeftButton)
    assert taken == ["opened"]
    assert not hint.isVisible()
    assert hand.workbench.window.focusWidget() is hand.workbench.canvas
