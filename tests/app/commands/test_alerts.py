"""Alerts in the window: set by a form, told once, seen on the timeline, removed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics

from app.sessions.collectors.alerts import AlertCollector
from broker_core.clock import NS_PER_S
from broker_core.simulation.simulation import Simulation
from tests.app.conftest import Hand
from tests.app.dialogs import accept, fill, run, said
from widgets.panel_tabs import DIGIT
from widgets.panels.events import EventsPanel
from widgets.theme import tabular_font


def found_corrupt(simulation: Simulation, *, cause: str) -> None:
    simulation.broker.corruption.add(simulation.loop.now_ns, cause)


def alerts(hand: Hand) -> AlertCollector:
    return hand.workbench.controller.collectors.alerts


def test_an_alert_is_set_told_once_and_leads_to_its_moment(hand: Hand) -> None:
    window = hand.workbench.window
    dialog = run(hand, "set_alert", "group:indexers")
    assert dialog.values()["when"] == 'lag("indexers") > 100'
    fill(hand, dialog, when="lag > 3")
    assert "by name" in dialog.problem.text() and not dialog.accept_button.isEnabled()
    fill(hand, dialog, name="behind", when='lag("indexers") > 20', for_s=1.0)
    accept(hand, dialog)
    assert alerts(hand).alerts["behind"].for_s == 1.0
    hand.pass_time(12)
    first = alerts(hand).raised[0]
    assert first.name == "behind" and first.when == 'lag("indexers") > 20 for 1 s'
    assert window.hint.isVisible() and window.hint.heading.text() == "behind"
    assert window.hint.sentence.text().endswith(': lag("indexers") > 20 for 1 s')
    assert window.hint.property("look") == "problem", "as red as its mark on the timeline"
    tab, room = window.tabs.tab("events"), DIGIT * EventsPanel.info.counted
    assert tab.count == 1 and QFontMetrics(tabular_font(12)).horizontalAdvance("99") + 4 <= room
    ticks = [tick for tick in window.timeline.facts.ticks if tick.kind == "alert"]
    assert (ticks[0].time_ns, ticks[0].label) == (first.time_ns, "Alert: behind")
    window.hint.dismiss.click()
    hand.show()
    assert not window.hint.isVisible(), "it is told once"


def test_a_name_that_is_not_there_is_said_while_one_writes_and_nothing_typed_is_lost(hand: Hand) -> None:
    dialog = run(hand, "set_alert")
    fill(hand, dialog, name="behind", when='lag("indexer") > 20')
    assert dialog.problem.text() == "indexer has no lag here; did you mean indexers?"
    hand.qtbot.keyClick(dialog.widgets["when"], Qt.Key.Key_Return)
    hand.show()
    assert dialog.isVisible() and not alerts(hand).alerts
    assert dialog.values()["name"] == "behind" and dialog.values()["when"] == 'lag("indexer") > 20'
    fill(hand, dialog, when='lag("indexers") > 20 and')
    assert dialog.problem.text() and not dialog.accept_button.isEnabled()
    fill(hand, dialog, when='lag("indexers") > 20')
    hand.qtbot.keyClick(dialog.widgets["when"], Qt.Key.Key_Return)
    hand.show()
    assert alerts(hand).alerts["behind"].when == 'lag("indexers") > 20'


def test_that_an_alert_is_over_stands_where_it_was_told_unless_that_was_dismissed(
    open_workbench: Callable[..., Hand],
) -> None:
    hand = open_workbench("alerts")
    hint = hand.workbench.window.hint
    hand.pass_time(3)
    assert hint.property("look") == "problem" and hint.sentence.text() == 'Alert at 00:01.750: lag("packers") > 80'
    hand.pass_time(6)
    assert hint.property("look") == "hint" and hint.heading.text() == "many parcels"
    assert hint.sentence.text() == 'Alert at 00:01.750, over at 00:07.750: lag("packers") > 80'
    hand.pass_time(11)
    assert hint.sentence.text() == 'Alert at 00:19.750: lag("packers") > 80', "the next one takes its place"
    hint.dismiss.click()
    hand.pass_time(3)
    assert not hint.isVisible() and not alerts(hand).lasting
    hand.pass_time(15)
    assert hint.isVisible() and len(alerts(hand).raised) > 2
    hint.offer.click()
    hand.show()
    assert hand.workbench.controller.travel.looking_back and not hint.isVisible(), "the past has no news"


def test_two_alerts_at_once_are_both_told_and_what_still_lasts_takes_the_place_of_what_is_over(hand: Hand) -> None:
    hint = hand.workbench.window.hint
    for name, when in (("busy", 'ready("builds") < 1000'), ("idle", 'ready("builds") < 2000')):
        fill(hand, dialog := run(hand, "set_alert"), name=name, when=when, for_s=0.0)
        accept(hand, dialog)
    hand.pass_time(1)
    first, second = (each.name for each in alerts(hand).raised)
    assert hint.heading.text() == second and hint.sentence.text().endswith(f". Also: {first}")
    fill(hand, dialog := run(hand, "remove_alert"), name=second)
    accept(hand, dialog)
    assert alerts(hand).lasting == {first}
    assert (hint.heading.text(), hint.property("look")) == (first, "problem") and "Also" not in hint.sentence.text()
    hand.workbench.registry.trigger("show_events")
    panel = hand.workbench.window.tab(EventsPanel)
    panel.choose("alerts")
    model = panel.table.model()
    hand.wait_until(
        lambda: [model.index(row, 2).data() for row in range(model.rowCount())] == ["Alert", "Alert", "Alert over"]
    )


def test_the_form_is_filled_in_for_the_group_of_a_consumer(hand: Hand) -> None:
    dialog = run(hand, "set_alert", "consumer:indexer-1")
    assert dialog.values()["when"] == 'lag("indexers") > 100' and dialog.values()["name"] == "indexers behind"
    dialog.reject()
    assert run(hand, "set_alert", "consumer:indexer-4").values()["when"] == "", "it is on the bench"


def test_what_is_there_is_removed_and_undone(hand: Hand) -> None:
    assert hand.workbench.registry.reason("remove_alert") == "There is no alert."
    dialog = run(hand, "set_alert")
    fill(hand, dialog, name="idle", when='ready("builds") < 1000', for_s=0.0)
    accept(hand, dialog)
    hand.pass_time(1)
    assert alerts(hand).lasting == {"idle"}
    dialog = run(hand, "remove_alert")
    accept(hand, dialog)
    assert said(hand) == "Removed the alert idle."
    assert alerts(hand).lasting == frozenset() and not alerts(hand).alerts
    hand.workbench.registry.trigger("undo")
    hand.show()
    assert set(alerts(hand).alerts) == {"idle"}
    assert alerts(hand).raised[0].time_ns < 12 * NS_PER_S


def test_what_is_corrupt_on_disk_is_told_in_one_notice_that_leads_to_its_events(hand: Hand) -> None:
    window, corrupt = hand.workbench.window, "offsets 3 to 5 are lost: commits-0/00000000000000000000.log is damaged"
    causes = ("catalog.json is missing: its copy is used", corrupt)
    for cause in causes:
        hand.simulated.look(partial(found_corrupt, cause=cause))
    hand.show()
    hint = window.hint
    assert (hint.isVisible(), hint.heading.text(), hint.property("look")) == (True, "Disk problems", "problem")
    assert hint.sentence.text() == f"{causes[0]}. And 1 more."
    hint.offer.click()
    hand.show()
    assert window.shown_tab() == "events" and not hint.isVisible()
    assert window.tab(EventsPanel).filter_text == "kind = damage"
    hand.wait_until(lambda: window.tab(EventsPanel).table.model().rowCount() == 2)
