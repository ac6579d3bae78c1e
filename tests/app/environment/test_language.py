"""The workbench in another language: German here, which is the second one that ships."""

from __future__ import annotations

import ast
import contextlib
import re
import string
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest
from PySide6.QtCore import QLocale, QPoint, Qt, QTranslator
from PySide6.QtWidgets import QApplication

from app.cli.screenshot import draw
from app.environment.language import FOLDER, chosen_language, install_language, languages
from app.environment.paths import find_scenario
from app.presenters.assignments import AssignmentsModel
from app.presenters.inspector import inspector_facts
from app.presenters.lookups import event_facts
from app.presenters.offsets import OffsetsModel
from app.presenters.owners import Owners
from app.presenters.table import SnapshotModel
from app.presenters.what_if import ghost
from app.sessions.audit import table_of
from app.sessions.collectors.timeline import TimelineCollector
from app.sessions.core_sentences import cause_text, error_text, rule_text
from app.sessions.event_text import about
from app.sessions.history.series import SessionSeries
from broker_core.clock import NS_PER_S
from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import Event, EventKind
from broker_core.faults.client_faults import NEEDS, ClientFault, Effect
from broker_core.recording.account import Account
from broker_core.recording.judged import Judged
from broker_core.recording.verdicts import Order
from broker_core.simulation.actions.faults import Crash, FailMatching
from broker_core.simulation.simulation import Simulation
from broker_core.snapshots import Snapshot
from resources.measures import MEASURES
from tests.app.conftest import Hand
from tests.app.presenters import made_up
from tests.broker_core.simulation import busy_session
from widgets.canvas.box_item import Look
from widgets.canvas.layout import TOPIC_HEADER_H
from widgets.canvas.lettering import count_text, short_count
from widgets.canvas.link_item import LinkWordItem
from widgets.canvas.topic_item import TopicItem
from widgets.canvas.view import NEW_GROUP, Lane, LaneGroup, Party, TopicBox
from widgets.cards import Move, MoveTable
from widgets.dialogs.move_to_group import MoveToGroupDialog
from widgets.formats import Times, byte_size, count, duration
from widgets.i18n import tr
from widgets.panels.assignments import AssignmentsPanel
from widgets.panels.jobs import JobsPanel
from widgets.theme import current_theme, state_style

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


def test_every_figure_that_sessions_are_compared_by_has_a_german_name() -> None:
    labels = [measure.label for measure in MEASURES.values()]
    assert set(labels) <= set(translations.words())


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


def test_a_picture_speaks_the_language_of_the_system_as_the_window_does(
    qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(QLocale, "system", lambda: QLocale("de_DE"))
    install_language(qapp, "en")
    try:
        draw(
            find_scenario("first-session"),
            at_s=0, size=(800, 600), theme="light", seed=None, out=tmp_path / "picture.png",
        )  # fmt: skip
        assert tr("Bench") == "Bank"
    finally:
        install_language(qapp, "en")


def test_a_german_workbench(german: None, open_workbench: Callable[..., Hand]) -> None:
    """Menus, tabs, an empty state, a table and a dialog; the names of the scenario stay as they are."""
    hand = open_workbench(fresh=True)
    window = hand.workbench.window
    window.show_tab("assignments")
    hand.pass_time(3)
    menus = [action.text().replace("&", "") for action in window.menuBar().actions()]
    assert {"Sitzung", "Ansicht"} <= set(menus)
    tabs = {window.tabs.tab(name).text() for name in window.tabs.panels}
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
    word = LinkWordItem("stopped", hand.canvas._stage.look)
    word.show_word(0, 0, blocked=False)
    assert word.style.word == "Gestoppt"
    hand.simulated.perform(Crash("indexer-1", for_s=60)).result()
    hand.pass_time(1)
    facts = inspector_facts(
        hand.workbench.controller.snapshot, "consumer:indexer-1", hand.workbench.views.sources.series
    )
    assert facts is not None and facts.sections[0][1][0][0] == "Abgestürzt"
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
    assert (count_text(1_103), short_count(1_103), short_count(1_234_000)) == ("1.103", "1.103", "1,2M")
    read = LaneGroup("indexers", 1_103, 1_866, "indexer-1", is_at_most=True)
    tip = TopicItem(
        "topic:commits", TopicBox("commits", (Lane(0, end_offset=2_969, groups=(read,)),)), Look(current_theme())
    ).tool_tip
    assert tip(120, TOPIC_HEADER_H + 4).endswith("indexers: indexer-1, committet 1.103, Rückstand ≤ 1.866")
    assert tr("{count:,} messages", count=1_234) == "1.234 Nachrichten"
    event = Event(4_400, 0, EventKind.PUBLISHED, "orders", 0, 1_000, 1_500, 20_000)
    facts = event_facts(event, Snapshot(0, 0), Times())
    shown = dict(fact[:2] for fact in facts.sections[0][1])
    assert facts.name == "#4.400  orders/0 bei 1.000 bis 2.499"
    assert (shown["Nachrichten"], shown["Bytes"]) == ("1.500", "20.000")
    assert tr("Opened {title}.", title="1,2 and 3.4") == "1,2 and 3.4 ist geöffnet."


@pytest.mark.parametrize(
    ("cause", "said"),
    [
        ("slow down 2.5 times", "2,5-mal langsamer"),
        ("pause is over", "Pause: vorbei"),
        ("restarted", "neu gestartet"),
        ("wall clock set by +5 s", "Wanduhr um +5 s verstellt"),
        ("rule rule-1 is over", "Regel rule-1 endet"),
        ("fault lost is over after 3 requests", "Störung lost endet nach 3 Anfragen"),
        ("could not be done: indexer-1 has not crashed", "war nicht möglich: indexer-1 has not crashed"),
    ],
)
def test_causes_of_faults_are_translated_in_table_and_timeline(german: None, cause: str, said: str) -> None:
    event = Event(0, NS_PER_S, EventKind.FAULT, "", client="indexer-1", cause=cause)
    assert about(event) == said
    timeline = TimelineCollector()
    timeline(event)
    (tick,) = timeline.ticks()
    assert tick.label == f"indexer-1: {said}"


def test_causes_of_rebalances_are_translated_but_for_those_of_clients(german: None) -> None:
    assert cause_text("a joined; and 2 more") == "a ist beigetreten; und 2 weitere"
    assert cause_text("a-b did not rejoin within 6.0 s") == "a-b ist nicht binnen 6,0 s neu beigetreten"
    assert cause_text("the consumer is being closed") == "the consumer is being closed"


def test_why_a_producer_waits_is_said_in_german(german: None) -> None:
    told = "mails is full: 40 of 40 messages, slowest reader mailers"
    assert cause_text(told) == "mails ist voll: 40 von 40 Nachrichten, langsamster Leser mailers"
    assert cause_text("mails takes at most 2.5 messages/s") == "mails nimmt höchstens 2,5 Nachrichten/s an"


@pytest.mark.usefixtures("german")
def test_what_was_lost_is_told_in_german() -> None:
    account = Account()
    queue: Any = {"topic": "mail", "partition": 0, "group": "mail"}
    for event in (
        Event(0, 0, EventKind.QUEUE_CREATED, topic="mail", group="mail", count=1),
        Event(1, 1, EventKind.PUBLISHED, topic="mail", partition=0, offset=0, count=1_500),
        Event(2, 2, EventKind.EXPIRED, offset=0, count=1_200, **queue),
        Event(3, 3, EventKind.DELIVERED, offset=1_200, count=2, client="one", attempt=1, **queue),
        Event(4, 4, EventKind.LEASE_EXPIRED, offset=1_200, count=2, client="one", **queue),
        Event(5, 5, EventKind.DELIVERED, offset=1_200, count=1, client="two", attempt=2, **queue),
    ):
        account(event)
    lines = table_of(Judged(account, Order())).note.splitlines()
    assert lines[:6] == [
        "Verloren: 1.200.",
        "- mail/0 @0 ist abgelaufen, bevor Queue mail sie bestätigt hat, und 1199 weitere",
        "Doppelt zugestellt: 1.",
        "- mail/0 @1200 kann doppelt verarbeitet worden sein: one von mail hatte sie und hat die Lease ablaufen "
        "lassen; two bekam sie noch einmal",
        "Noch weder bestätigt noch ein Dead Letter: 300.",
        "- mail/0 @1200 ist die erste von 300 Nachrichten, die Queue mail nicht bestätigt hat (299 wartend und 1 in "
        "Händen, die erste bei two)",
    ]


def test_whatever_a_person_does_is_said_in_german(german: None) -> None:
    simulation = Simulation(busy_session.scenario())
    person = busy_session.Person(simulation, 1)
    said: dict[type, set[str]] = {}
    simulation.run(5)
    for make in [*busy_session.MAKERS] * 5:
        with contextlib.suppress(IndexError):  # of letters that are not there
            action = make(person)
            said.setdefault(type(action), set()).add(action.sentence)
    assert len(said) >= 60
    english = {text for texts in said.values() for text in texts if cause_text(text) == text}
    assert english == set()
    in_german = [cause_text(text) for texts in said.values() for text in texts]
    assert [text for text in in_german if {"the", "to", "of", "with", "messages", "letters"} & set(text.split())] == []


def test_a_name_in_a_sentence_stays_as_it_is_and_so_do_words_of_a_client(german: None) -> None:
    assert cause_text("created topic messages with 2 partitions") == "Topic messages mit 2 Partitionen angelegt"
    assert cause_text("a reason of its own; a left") == "a reason of its own; a hat die Gruppe verlassen"


def test_errors_of_the_broker_begin_in_german(german: None) -> None:
    assert error_text(BrokerError(ErrorCode.UNKNOWN_QUEUE, "jobs")) == "Es gibt keine solche Queue: jobs."
    assert [code for code in ErrorCode if error_text(BrokerError(code)) == str(BrokerError(code))] == []
    assert error_text(OSError("the disk")) == "the disk"


def test_what_has_no_owner_no_group_and_no_topic_is_said_in_german(german: None) -> None:
    snapshot = made_up.rebalancing()
    unread = msgspec.structs.replace(snapshot, groups=())
    offsets, assignments = OffsetsModel(Owners(), SessionSeries()), AssignmentsModel(Owners(), Times())
    offsets.set_snapshot(snapshot)
    assignments.set_snapshot(unread)
    models: tuple[tuple[SnapshotModel[Any], str], ...] = ((offsets, "Owner"), (assignments, "Owner"))
    for model, title in models:
        column = next(at for at, each in enumerate(model.columns) if each.title == title)
        assert model.index(0, column).data() == "niemand"
    column = next(at for at, each in enumerate(assignments.columns) if each.title == "Group")
    assert assignments.index(0, column).data() == "keine Gruppe"
    table = MoveTable()
    nobody = Party("", -1, "")
    table.set_moves((Move("orders/0", nobody, Party("reader", 0, "A")), Move("orders/1", nobody, nobody)))
    assert table.accessibleDescription().count("niemand") == 2
    assert "nichts" in ghost(unread, Owners(), "reader", NEW_GROUP).note


def test_what_a_fault_does_is_said_in_german(german: None) -> None:
    given: dict[str, Any] = {"error": "NOT_COORDINATOR", "delay_ms": 50, "bytes_per_s": 9, "slice_bytes": 1}
    for effect in get_args(Effect):
        needs = {name: given[name] for name in NEEDS.get(effect, ())}
        rule = ClientFault(
            **{"effect": effect, "client": "shop", "topic": "orders", "partition": 1, "every": 3, "times": 2}, **needs
        )
        told = rule_text(rule.what)
        assert told.endswith(": jeder Request von shop an orders für Partition 1, jeder 3., 2-mal"), told
        assert effect == "error" or told.partition(":")[0] != rule.what.partition(":")[0]
    failing = FailMatching("worker-1", every=10, key="a: b of c", text="x")
    assert rule_text(failing.what) == "jede 10. Nachricht mit Schlüssel a: b of c mit 'x' schlägt bei worker-1 fehl"
