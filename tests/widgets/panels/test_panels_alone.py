"""Schemas, listeners and reports alone, over made-up models: no broker, no session, no Spark."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QStandardItemModel
from PySide6.QtWidgets import QApplication, QLabel

from tests.widgets.panels.table_of import columns_of
from tests.widgets.reading import findings, sentence
from widgets.dialogs.scenario_editor import ScenarioEditor
from widgets.panels.connections import ConnectionsPanel, ListenerFacts
from widgets.panels.report import FindingFacts, ReportPanel
from widgets.panels.schemas import SchemaDetails, SchemasPanel
from widgets.theme import DARK, LIGHT, apply_theme

MARKUP = "<b>bold</b> & <script>"


def model(columns, rows=3):
    return columns_of(columns, rows, MARKUP)


def shown(qtbot, panel):
    qtbot.addWidget(panel)
    panel.resize(1100, 320)
    panel.show()
    return panel


@pytest.mark.parametrize(
    "make",
    [
        lambda rows: SchemasPanel(model(6, rows), model(6, rows)),
        lambda rows: ConnectionsPanel(model(13, rows), model(8)),
        lambda rows: ReportPanel(model(3, rows)),
    ],
    ids=["schemas", "connections", "report"],
)
def test_each_has_an_empty_state_and_a_count(qtbot, make):
    empty = shown(qtbot, make(0))
    assert empty.empty_state.isVisible()
    assert len(empty.empty_state.text()) > 40
    full = shown(qtbot, make(3))
    assert full.table.isVisible()
    assert full.count_label.text() == "3"


def test_a_schema_is_shown_as_text_and_a_message_is_asked_about(qtbot):
    panel = shown(qtbot, SchemasPanel(model(6), model(6)))
    panel.set_details(SchemaDetails("order", "order, version 1", MARKUP, ("Added at /a: 1", MARKUP)))
    assert panel.text.toPlainText() == MARKUP
    assert panel.changes.toPlainText().endswith(MARKUP)
    panel.message.setPlainText('{"id": 1}')
    with qtbot.waitSignal(panel.checkRequested) as told:
        qtbot.mouseClick(panel.check_button, Qt.MouseButton.LeftButton)
    assert told.args == ["order", '{"id": 1}']
    panel.set_verdict(False, (MARKUP,))
    assert panel.verdict.text() == f"Refused.\n{MARKUP}"
    panel.set_details(None)
    assert not panel.check_button.isEnabled()


def test_a_listener_is_opened_with_its_port_closed_again_and_forbidden(qtbot):
    panel = shown(qtbot, ConnectionsPanel(model(13), model(8)))
    panel.set_listeners((ListenerFacts("http", "", False, 8080), ListenerFacts("kafka", "127.0.0.1:9092", False, 9092)))
    with qtbot.waitSignal(panel.openRequested) as told:
        qtbot.mouseClick(panel.listeners["http"].button, Qt.MouseButton.LeftButton)
    assert told.args == ["http", 8080]
    with qtbot.waitSignal(panel.closeRequested) as closed:
        qtbot.mouseClick(panel.listeners["kafka"].button, Qt.MouseButton.LeftButton)
    assert closed.args == ["kafka"]
    panel.set_listeners((ListenerFacts("http", "", True, 8080), ListenerFacts("kafka", "", False, 9092)))
    assert panel.listeners["http"].button.text() == "Opening"
    assert not panel.listeners["http"].button.isEnabled()
    panel.forbid("The session has ended.")
    assert not panel.listeners["kafka"].button.isEnabled()
    assert panel.listeners["kafka"].button.toolTip() == "The session has ended."


def test_why_no_listener_can_be_opened_is_told_again_of_another_source(qtbot):
    panel = shown(qtbot, ConnectionsPanel(model(13, 0), model(8)))
    for why, words in (("The session has ended.", "The session has ended."),) * 2 + (("", "Open Kafka"),):
        panel.set_source(unknown=False, goes_on="")
        panel.forbid(why)
        assert words in panel.empty_state.text()


@pytest.mark.promise("25")
def test_findings_are_plain_text_and_nothing_of_the_last_report_stays(qtbot):
    panel = shown(qtbot, ReportPanel(model(3)))
    panel.set_findings([FindingFacts("bad", MARKUP, MARKUP), FindingFacts("strange level", "Two", "")])
    assert [finding.headline for finding in findings(panel)] == [MARKUP, "Two"]
    assert sentence(panel) == ""
    panel.set_findings([])
    assert (findings(panel), sentence(panel)) == ((), "Nothing in this report stands out.")
    panel.set_findings(None)
    assert (findings(panel), sentence(panel)) == ((), "Select a report to read its findings here.")


def a_finding():
    panel = ReportPanel(model(3))
    panel.set_findings([FindingFacts("bad", "One", "")])
    return panel


@pytest.mark.parametrize("make", [a_finding, lambda: ScenarioEditor("a.yaml", "", lambda _text: (1, "It is empty."))])
def test_signs_have_the_colours_of_the_theme(qtbot, qapp, make):
    widget = shown(qtbot, make())
    for theme in (DARK, LIGHT):
        apply_theme(qapp, theme)
        signs = [label.pixmap().toImage() for label in widget.findChildren(QLabel) if not label.pixmap().isNull()]
        places = [(sign, x, y) for sign in signs for x in range(sign.width()) for y in range(sign.height())]
        assert any(sign.pixelColor(x, y) == QColor(theme.failure) for sign, x, y in places)


def test_listeners_stand_below_each_other_where_a_line_has_no_room(qtbot):
    panel = ConnectionsPanel(QStandardItemModel(), QStandardItemModel())
    qtbot.addWidget(panel)
    panel.set_listeners((ListenerFacts("kafka", "", False, 9092), ListenerFacts("http", "", False, 8080)))
    for width, below in ((1200, False), (340, True), (1200, False)):
        panel.resize(width, 400)
        panel.show()
        QApplication.processEvents()
        kafka, http = (panel.listeners[kind].geometry() for kind in ("kafka", "http"))
        assert (http.top() >= kafka.bottom()) is below
        assert min(kafka.height(), http.height()) >= panel.listeners["http"].port.sizeHint().height()
