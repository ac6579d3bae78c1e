"""The twenty questions on a session in which confluent-kafka, aiokafka and kafka-python took part.

It is a recording, which `real_clients.py` made: nothing here waits for a client.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog

from app.presenters.dead_letters import DeadLettersPresenter
from broker_core.clock import ns_from_s
from tests.app.conftest import Hand
from tests.app.questions.test_by_keyboard import Keyboard, dialog_of, found_panel, how_it_differs, panel
from tests.app.sessions.test_travel_window import arrive
from widgets.dialogs.facts_table import FactsTableDialog
from widgets.panels.events import EventsPanel
from widgets.panels.table_panel import TablePanel

RECORDING = Path(__file__).parent / "recordings" / "real_clients"
MOMENT_S = 6.6  # the member that was kicked is back, and a producer waits
Key, Mod = Qt.Key, Qt.KeyboardModifier
Question = Callable[[Keyboard], None]


def sees(words: str, title: str, *told: str) -> Question:
    """What is found by `words` is inspected."""

    def act(keyboard: Keyboard) -> None:
        keyboard.find(words, title)
        keyboard.sees(*told)

    return act


def comes(keyboard: Keyboard, reached: Callable[[], bool]) -> None:
    """Draw until it is so."""

    def looks() -> bool:
        keyboard.hand.show()
        return reached()

    keyboard.hand.qtbot.waitUntil(looks, timeout=10_000)


def lists(opens: Question, tab: str, *told: str, table: str = "table") -> Question:
    """A table of the panel comes to list rows with all that is `told`."""

    def act(keyboard: Keyboard) -> None:
        opens(keyboard)
        found = keyboard.hand.workbench.window.panel(tab)
        assert isinstance(found, TablePanel)
        model = getattr(found, table).model()

        def listed() -> bool:
            rows, columns = range(model.rowCount()), range(model.columnCount())
            texts = [" ".join(str(model.index(row, column).data()) for column in columns) for row in rows]
            return any(all(word in text for word in told) for text in texts)

        comes(keyboard, listed)

    return act


def was_anything_lost(keyboard: Keyboard) -> None:
    keyboard.press(Key.Key_L, Mod.ControlModifier | Mod.ShiftModifier)
    dialog_of(keyboard, "FactsTableDialog")
    (dialog,) = keyboard.hand.workbench.window.findChildren(FactsTableDialog)
    keyboard.hand.qtbot.waitUntil(dialog.progress.isHidden, timeout=10_000)
    assert "nothing" in dialog.sentence.text().lower()
    assert {"archive", "billing", "mailer", "packers.tasks"} <= {row[1] for row in dialog.texts()}


def what_round_robin_would_do(keyboard: Keyboard) -> None:
    keyboard.find("billing", "billing")
    keyboard.press(Key.Key_A, Mod.ControlModifier | Mod.AltModifier)
    dialog_of(keyboard, "AssignorsDialog")


def what_did_i_change(keyboard: Keyboard) -> None:
    panel(Key.Key_M, "events", Mod.ControlModifier | Mod.ShiftModifier)(keyboard)
    counted = keyboard.hand.workbench.window.tab(EventsPanel).count_label
    comes(keyboard, lambda: counted.text() == "1")


def what_did_the_redrive_do(keyboard: Keyboard) -> None:
    panel(Key.Key_R, "dead_letters", Mod.ControlModifier | Mod.ShiftModifier)(keyboard)
    model = keyboard.hand.workbench.views.presenter(DeadLettersPresenter).redriven
    comes(keyboard, lambda: model.rowCount() == 1)


QUESTIONS: dict[int, Question] = {
    1: sees("orders/3", "orders/3", "In billing", "Owner biller-aio", "In archive", "Owner nobody"),
    2: sees("rebalance of billing at 00:01", "Rebalance of billing at 00:01", "biller-python joined"),
    3: sees("rebalance of billing at 00:01", "Rebalance of billing at 00:01", "Moved", "Kept", "Reading no reader"),
    4: sees("tasks/0 0", "tasks/0 at 0", "Dead-lettered", "rejected by its share consumer"),
    5: sees("tasks/0 2", "tasks/0 at 2", "to packer"),
    6: found_panel("charts", "Charts", "charts"),
    7: sees("orders/3", "orders/3", "Hot keys", "%"),
    8: lists(panel(Key.Key_2, "offsets"), "offsets", "mailer", "mails"),
    9: sees("notifier", "notifier", "Publishes to mails", "Blocked", "mailer"),
    10: what_did_i_change,
    11: lists(found_panel("delivered twice", "Delivered twice", "redeliveries"), "redeliveries", "billing", "again"),
    12: was_anything_lost,
    13: found_panel("published between the rebalances of billing", "Published between", "events"),
    14: lists(panel(Key.Key_3, "in_flight"), "in_flight", "packers.tasks", "packer"),
    15: what_round_robin_would_do,
    16: lists(found_panel("schemas", "Schemas", "schemas"), "schemas", "sensor", "/celsius", table="refusals"),
    17: found_panel("charts", "Charts", "charts"),
    18: what_did_the_redrive_do,
    19: how_it_differs,
    20: found_panel("log on disk", "Log on disk", "log_on_disk"),
}


@pytest.fixture
def keyboard(open_workbench: Callable[..., Hand], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Keyboard:
    hand = open_workbench()
    folder = shutil.copytree(RECORDING, tmp_path / "session")
    hand.workbench.controller.open_session(folder, ns_from_s(MOMENT_S))
    monkeypatch.setattr(hand, "show", hand.workbench.draw)  # nothing runs
    arrive(hand)
    return Keyboard(hand)


def test_every_question_is_answered_of_a_session_with_real_clients(keyboard: Keyboard) -> None:
    assert set(QUESTIONS) == set(range(1, 21))
    for number, ask in QUESTIONS.items():
        keyboard.acts = 0
        ask(keyboard)
        assert keyboard.acts <= 2, number
        for dialog in keyboard.hand.workbench.window.findChildren(QDialog):
            if dialog.isVisible():
                keyboard.hand.qtbot.keyClick(dialog, Key.Key_Escape)
