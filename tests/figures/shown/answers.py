"""What a window shows once it was asked for: panels that read the history, and the dialog "Was anything lost?"."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Container
from typing import Any

from PySide6.QtCore import QAbstractItemModel, QEventLoop, Qt, QTimer
from PySide6.QtWidgets import QApplication

from app.presenters.dead_letters import DeadLettersPresenter
from app.presenters.events_presenter import EventsPresenter
from app.shell.workbench import Workbench
from broker_core.operations.browse import ListLogs
from widgets.dialogs.facts_table import FactsTableDialog
from widgets.panels.dead_letters import DeadLettersPanel
from widgets.panels.events import EventsPanel
from widgets.panels.messages import MessagesPanel
from widgets.panels.schemas import SchemasPanel
from widgets.roles import Role

Figures = dict[tuple[str, str, str], Any]

PATIENCE_S = 30
WAKE_MS = 2
NS_PER_MS = 1_000_000
ROUNDS = 4  # what there is, where each partition ends, the rows, and one that finds nothing to do
COUNT = re.compile(r"\d[\d,]*")


def answered_figures(workbench: Workbench, places: Container[str]) -> Figures:
    """Those of the moment that is drawn; of what takes long to ask, `places` alone."""
    found = _schemas(workbench)
    for place, asked in DEAR.items():
        if place in places:
            found.update(asked(workbench))
    return found


def table_figures(tab: str, model: QAbstractItemModel) -> Figures:
    """Every cell of a table, by the key of its row and the title of its column."""
    columns = [
        str(model.headerData(column, Qt.Orientation.Horizontal, Qt.ItemDataRole.DisplayRole))
        for column in range(model.columnCount())
    ]
    found: Figures = {}
    for row in range(model.rowCount()):
        key = model.index(row, 0).data(Role.KEY)
        name = " ".join(map(str, key)) if isinstance(key, tuple) else str(key)
        for column, title in enumerate(columns):
            found[tab, name, title] = model.index(row, column).data(Qt.ItemDataRole.DisplayRole)
    return found


def wait_for(reached: Callable[[], bool], what: str) -> None:
    """Let the window work until it is so."""
    deadline_s = time.monotonic() + PATIENCE_S
    waker = QTimer()  # not every answer is an event of Qt
    waker.start(WAKE_MS)
    while not reached():
        QApplication.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)
        assert time.monotonic() < deadline_s, f"no answer: {what}"


def wait_for_history(workbench: Workbench, what: str) -> None:
    """What was asked of the history is answered: it answers in turn, so that this comes last."""
    answered: list[object] = []
    workbench.history.ask(lambda past: past.between(0, 1), answered.append)
    wait_for(lambda: bool(answered), what)


def _schemas(workbench: Workbench) -> Figures:
    workbench.window.show_tab("schemas")
    panel = workbench.window.tab(SchemasPanel)
    found = table_figures("schemas", panel.model)
    found.update(table_figures("refused", panel.refusals.model()))
    found["schemas", "panel", "count"] = panel.count_label.text()
    return found


def _events(workbench: Workbench) -> Figures:
    """How many there are, and how many of each choice but those that are nearly all."""
    window = workbench.window
    window.show_tab("events")
    panel, searcher = window.tab(EventsPanel), workbench.views.presenter(EventsPresenter)
    found: Figures = {}
    for choice in ("failures", "rebalances", "mine", "all"):
        panel.choices.setCurrentIndex(panel.choices.findData(choice))
        if choice != "all":
            wait_for_history(workbench, f"events, {choice}")
            wait_for(lambda: not searcher._searching, f"events, {choice}")  # it looks at so many at once
        found["events", choice, "count"] = panel.count_label.text()
    return found


def _messages(workbench: Workbench) -> Figures:
    """Of one topic a look; the last number is that of all, whatever is loaded of them."""
    topics = workbench.canvas.view.topics
    if not topics:
        return {}
    topic = topics[workbench.window.timeline.facts.now_ns % len(topics)].name
    workbench.window.show_tab("messages")
    panel = workbench.window.tab(MessagesPanel)
    panel.browse(topic, None)
    workbench.draw()
    for _ in range(ROUNDS):
        asked = workbench.controller.source.ask(ListLogs())
        wait_for(asked.done, f"messages of {topic}")
        QApplication.processEvents()
    if panel.where().topic != topic:  # one that has only just come is offered a second later
        return {("messages", "panel", "count"): None}
    return {("messages", "panel", "count"): (topic, COUNT.findall(panel.count_label.text())[-1])}


def _redriven(workbench: Workbench) -> Figures:
    window = workbench.window
    window.show_tab("dead_letters")
    panel = window.tab(DeadLettersPanel)
    panel.second_button.setChecked(True)
    wait_for_history(workbench, "what was redriven")
    found = table_figures("redriven", workbench.views.presenter(DeadLettersPresenter).redriven)
    panel.second_button.setChecked(False)
    return found


def _number(text: str) -> int:
    return int(text.replace(",", ""))


def _audit(workbench: Workbench) -> Figures:
    workbench.registry.action("audit").trigger()
    (dialog,) = workbench.window.findChildren(FactsTableDialog)
    wait_for(dialog.progress.isHidden, "was anything lost?")
    table = dialog.table
    heads = [table.horizontalHeaderItem(column) for column in range(table.columnCount())]
    titles = [head.text() for head in heads if head is not None]
    found: Figures = {("audit", "answer", "sentence"): dialog.sentence.text()}
    for texts in dialog.texts():
        source, reader, *counts = texts
        told = dict(zip(titles[2:], counts, strict=True))
        if "Compacted" in told:  # nobody can tell which of them were deleted before
            told["Deleted"] = f"{_number(told.get('Deleted', '0')) + _number(told.pop('Compacted')):,}"
        for title, count in told.items():
            found["audit", f"{source} {reader}", title] = count
    dialog.close()
    dialog.deleteLater()
    dialog.setParent(None)
    return found


DEAR = {"events": _events, "messages": _messages, "redriven": _redriven, "audit": _audit}
