"""The workbench in another language: German here, which is the second one that ships."""

from __future__ import annotations

import ast
import re
import string
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt, QTranslator
from PySide6.QtWidgets import QApplication

from app.environment.language import FOLDER, chosen_language, install_language, languages
from app.sessions.causes import cause_text
from tests.app.conftest import Hand
from widgets.dialogs.move_to_group import MoveToGroupDialog
from widgets.formats import byte_size, count, duration
from widgets.i18n import tr
from widgets.panels.assignments import AssignmentsPanel
from widgets.panels.jobs import JobsPanel
from widgets.theme import state_style

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / ".ci"))
import translations  # noqa: E402 - it lies in a folder that is no package

GERMAN = FOLDER / "brokerscope_de.ts"
NAMES = re.compile(r"\{[a-z_]*(?:[:!][^{}]*)?\}")


@pytest.fixture
def german(qapp: QApplication) -> Iterator[None]:
    """The program speaks German for one test."""
    assert install_language(qapp, "de") == "de"
    yield
    install_language(qapp, "en")
    assert not qapp.findChildren(QTranslator) or tr("Bench") == "Bench"


def test_every_text_of_the_program_has_a_german_one() -> None:
    assert len(translations.words()) > 1000
    assert translations.missing(GERMAN) == []


def test_a_translation_asks_for_the_same_values_in_the_same_form() -> None:
    known = translations.translations(GERMAN)
    wrong = [text for text, german in known.items() if sorted(NAMES.findall(text)) != sorted(NAMES.findall(german))]
    assert wrong == []


def test_every_text_is_given_the_values_that_it_names() -> None:
    wrong = []
    for path in [*(ROOT / "app").rglob("*.py"), *(ROOT / "widgets").rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or getattr(node.func, "id", "") != "tr" or not node.keywords:
                continue
            given, text = {word.arg for word in node.keywords}, node.args[0]
            if None not in given and isinstance(text, ast.Constant):
                named = {name for _, name, _, _ in string.Formatter().parse(str(text.value)) if name is not None}
                wrong += [(path.name, node.lineno)] if named != given else []
    assert wrong == []


def test_a_translation_keeps_what_tells_a_command_that_asks_first() -> None:
    known = translations.translations(GERMAN)
    assert [text for text, german in known.items() if text.endswith("...") != german.endswith("...")] == []


def test_what_is_compiled_is_what_is_written(tmp_path: Path) -> None:
    compiled = tmp_path / "brokerscope_de.qm"
    lrelease = Path(sys.executable).with_name("pyside6-lrelease")
    subprocess.run([lrelease, "-silent", GERMAN, "-qm", compiled], check=True)
    assert compiled.read_bytes() == GERMAN.with_suffix(".qm").read_bytes()


def test_a_language_that_there_is_not_is_english(qapp: QApplication) -> None:
    assert chosen_language("xx") == "en"
    assert install_language(qapp, "xx") == "en"
    assert tr("Bench") == "Bench"
    assert list(languages()) == ["en", "de"]


def test_a_translation_with_other_names_gives_way_to_the_english(qapp: QApplication, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong_de.ts"
    source = GERMAN.read_text(encoding="utf-8")
    wrong.write_text(source.replace("Topic {name}</translation>", "Topic {nam}</translation>"), encoding="utf-8")
    lrelease = Path(sys.executable).with_name("pyside6-lrelease")
    subprocess.run([lrelease, "-silent", wrong, "-qm", wrong.with_suffix(".qm")], check=True)
    translator = QTranslator()
    assert translator.load(str(wrong.with_suffix(".qm")))
    qapp.installTranslator(translator)
    try:
        assert tr("Bench") == "Bank"
        assert tr("Topic {name}", name="orders") == "Topic orders"
    finally:
        qapp.removeTranslator(translator)


def test_words_of_states_are_translated_and_keep_their_look(german: None) -> None:
    assert state_style("Stable").word == "Stabil"
    assert (state_style("Open").word, tr("Open")) == ("Offen", "Öffnen")
    assert state_style("crashed")[:2] == ("failure", "crashed")
    assert state_style("what-a-broker-calls-it").word == "what-a-broker-calls-it"


def test_a_german_workbench(german: None, open_workbench: Callable[..., Hand]) -> None:
    """Menus, tabs, an empty state, a table and a dialog; the names of the scenario stay as they are."""
    hand = open_workbench(fresh=True)
    window = hand.workbench.window
    window.show_tab("assignments")
    hand.pass_time(3)
    menus = [action.text().replace("&", "") for action in window.menuBar().actions()]
    assert {"Sitzung", "Ansicht"} <= set(menus)
    tabs = {window.tabs.tab(name).text() for name in window.tabs.names}
    assert {"Zuordnungen", "Dead Letters", "Aufträge", "Verbindungen"} <= tabs
    assert window.tab(JobsPanel).empty_state._sentence.text() == "Es wurde noch kein langer Auftrag gestartet."
    model = window.tab(AssignmentsPanel).table.model()
    assert [model.headerData(place, Qt.Orientation.Horizontal) for place in range(4)] == [
        "Topic",
        "Partition",
        "Gruppe",
        "Besitzer",
    ]
    owners = {model.index(row, 3).data() for row in range(model.rowCount())}
    assert any(str(owner).startswith("indexer-") for owner in owners)
    hand.drag("indexer-4", QPoint(8, hand.canvas.viewport().height() - 8))
    dialog = window.findChild(MoveToGroupDialog)
    assert dialog is not None
    assert dialog.windowTitle() == "In Gruppe verschieben"
    assert dialog.accept_button.text() == "Verschieben"
    dialog.close()


def test_numbers_have_a_decimal_comma_in_german(german: None) -> None:
    assert duration(1_250_000_000) == "1,2 s"
    assert count(1_234) == "1.234"
    assert byte_size(3_482) == "3,40 KiB"
    assert tr("{count:,} messages", count=1_234) == "1.234 Nachrichten"
    assert tr("Opened {title}.", title="1,2 and 3.4") == "1,2 and 3.4 ist geöffnet."


def test_causes_of_rebalances_are_translated_but_for_those_of_clients(german: None) -> None:
    assert cause_text("a joined; and 2 more") == "a ist beigetreten; und 2 weitere"
    assert cause_text("a-b did not rejoin within 6.0 s") == "a-b ist nicht binnen 6,0 s neu beigetreten"
    assert cause_text("the consumer is being closed") == "the consumer is being closed"
