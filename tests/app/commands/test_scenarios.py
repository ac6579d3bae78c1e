"""Scenarios by hand: picked by what they teach, written with the error at its line, run and kept."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QApplication, QFileDialog

from app.commands import scenarios
from app.commands.scenarios import NEW_SCENARIO, ScenarioHandlers, WrittenScenario, scenario_facts
from app.environment.paths import find_scenario, shipped_scenarios
from broker_core.simulation.scenario import load_scenario, parse_scenario
from tests.app.conftest import Hand
from tests.widgets.reading import facts_of, words
from widgets.dialogs.scenario_editor import ScenarioEditor
from widgets.dialogs.scenario_picker import ScenarioPicker


@pytest.fixture(autouse=True)
def drafts(tmp_path: Path, monkeypatch: Any) -> Path:
    folder = tmp_path / "drafts"
    monkeypatch.setattr(scenarios, "drafts_folder", lambda: folder)
    return folder


def picker_of(hand: Hand) -> ScenarioPicker:
    hand.workbench.registry.trigger("pick_scenario")
    found = hand.workbench.window.findChild(ScenarioPicker)
    assert found is not None
    return found


def type_into(editor: ScenarioEditor, text: str) -> None:
    editor.field.setPlainText(text)
    editor.judge()


def test_the_picker_tells_of_each_scenario_what_it_teaches(hand: Hand) -> None:
    picker = picker_of(hand)
    assert picker.list.count() == len(shipped_scenarios())
    assert picker.current() == "first-session", "the one that is open"
    first = [path.stem for path in shipped_scenarios()][:4]
    assert first == ["first-session", "partitions-and-keys", "hot-key", "lag-and-catch-up"], "in their order, to learn"
    for path in shipped_scenarios():
        picker.select(path.stem)
        scenario, _ = load_scenario(path)
        assert picker.title.text() == scenario.title
        assert picker.about.text() == " ".join(scenario.about.split())
        assert [line for _, line in facts_of(picker.sections.parts[1][1])] == list(scenario.try_)


def test_the_picker_counts_subscribers_and_members_of_share_groups() -> None:
    topic = "title: T\nabout: A.\nseed: 1\nuntil_s: 5\ntopics: [{name: a}]\n"
    text = f"{topic}subscribers: [{{name: s, topics: [a]}}]\nshare_groups: [{{name: g, topics: [a], count: 4}}]\n"
    holds = scenario_facts("x", parse_scenario(text), frozenset()).holds
    assert holds == "1 topic, 5 consumers; lasts 5 s"


def test_the_picker_tells_how_far_each_lesson_has_come(hand: Hand) -> None:
    settings = hand.workbench.settings
    lesson = load_scenario(find_scenario("hot-key"))[0].lesson
    assert lesson is not None
    texts = [step.text for step in lesson.steps]
    settings.lessons = {"hot-key": frozenset({*texts[:2], "a step that is no more"})}
    picker = picker_of(hand)
    told: dict[str, str] = {}
    for stem in ("hot-key", "static-members", "rate-limits"):
        picker.select(stem)
        told[stem] = picker.progress.text()
    assert told["hot-key"] == f"Lesson: 2 of {len(texts)} steps done"
    assert told["static-members"] == "Lesson: 4 steps"
    assert told["rate-limits"] == "" and picker.progress.isHidden()
    item = picker.list.findItems("Hot key", Qt.MatchFlag.MatchExactly)[0]
    assert item.data(Qt.ItemDataRole.AccessibleTextRole) == f"Hot key. {told['hot-key']}"
    picker.reject()
    hand.qtbot.waitUntil(lambda: hand.workbench.window.findChild(ScenarioPicker) is None, timeout=5_000)
    settings.lessons = {"hot-key": frozenset(texts)}
    picker = picker_of(hand)
    picker.select("hot-key")
    assert picker.progress.text() == "Lesson: done"


def test_words_find_scenarios_and_enter_opens_the_one_that_is_left(hand: Hand) -> None:
    picker = picker_of(hand)
    hand.qtbot.keyClicks(picker.filter_field, "static member")
    assert picker.current() == "static-members"
    hand.qtbot.keyClick(picker.filter_field, Qt.Key.Key_Return)
    assert hand.workbench.controller.path is not None
    assert hand.workbench.controller.path.stem == "static-members"
    assert hand.workbench.controller.time.moving or hand.workbench.controller.source.status.mode.value == "paused"


@pytest.mark.parametrize(
    ("text", "stem"),
    [("at most", "at-most-or-at-least-once"), ("hot", "hot-key"), ("compac", "compaction"), ("load", "load-balancing"),
     ("at-least-once", "at-most-or-at-least-once")],
)  # fmt: skip
def test_a_title_is_found_before_a_text_that_holds_the_words(hand: Hand, text: str, stem: str) -> None:
    picker = picker_of(hand)
    hand.qtbot.keyClicks(picker.filter_field, text)
    assert picker.current() == stem


def test_who_has_opened_a_scenario_has_the_keyboard_on_the_canvas(hand: Hand) -> None:
    hand.workbench.window.parts.navigator.filter_field.setFocus()
    picker = picker_of(hand)
    hand.qtbot.keyClick(picker.filter_field, Qt.Key.Key_Return)
    assert hand.workbench.window.focusWidget() is hand.workbench.canvas


def test_words_that_no_scenario_has_leave_nothing_to_open(hand: Hand) -> None:
    picker = picker_of(hand)
    picker.filter_field.setText("zzz-no-such-words")
    assert not picker.accept_button.isEnabled()
    picker.filter_field.clear()
    assert picker.accept_button.isEnabled()


def test_arrows_move_in_the_list_while_the_cursor_is_in_the_search_field(hand: Hand) -> None:
    picker = picker_of(hand)
    before = picker.list.currentRow()
    hand.qtbot.keyClick(picker.filter_field, Qt.Key.Key_Down)
    assert picker.list.currentRow() == before + 1


def test_a_new_scenario_can_run_as_it_stands() -> None:
    assert WrittenScenario().judge(NEW_SCENARIO) == (0, "")
    assert parse_scenario(NEW_SCENARIO).title == "My scenario"


@pytest.mark.parametrize(
    ("before", "after", "line", "word"),
    [
        ("partitions: 3", "partitions: -3", 11, "partitions"),
        ("partitions: 3", "partitons: 3", 11, "partitions"),
        ("to: orders", "to: order", 15, "order"),
        ("seed: 1", "seed: 1\nseed: 2", 9, "seed"),
        ("until_s: 120", "until_s: [120", 0, "YAML"),
    ],
)
def test_an_error_is_marked_at_its_line(before: str, after: str, line: int, word: str) -> None:
    wrong, sentence = WrittenScenario().judge(NEW_SCENARIO.replace(before, after))
    assert word in sentence
    assert wrong == line or (line == 0 and wrong > 0)


def test_what_is_written_is_judged_run_and_kept(hand: Hand, drafts: Path, tmp_path: Path, monkeypatch: Any) -> None:
    editor = hand.workbench.family(ScenarioHandlers).edit("New scenario", NEW_SCENARIO)
    assert editor.run_button.isEnabled()
    type_into(editor, NEW_SCENARIO.replace("count: 2", "count: none"))
    assert not editor.run_button.isEnabled()
    assert editor.field.wrong_line == 17
    assert "Line 17" in editor.verdict.text()
    hand.qtbot.mouseClick(editor.go_button, Qt.MouseButton.LeftButton)
    assert editor.field.textCursor().blockNumber() == 16
    type_into(editor, NEW_SCENARIO.replace("My scenario", "Two billers"))
    hand.qtbot.mouseClick(editor.run_button, Qt.MouseButton.LeftButton)
    controller = hand.workbench.controller
    assert controller.source.scenario is not None
    assert controller.source.scenario.title == "Two billers"
    assert controller.path == drafts / "two-billers.yaml"
    kept = tmp_path / "kept.yaml"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_args, **_named: (str(kept), ""))
    assert editor.changed()
    hand.qtbot.mouseClick(editor.save_button, Qt.MouseButton.LeftButton)
    assert kept.read_text(encoding="utf-8") == editor.text()
    assert not editor.changed()
    assert editor.close()


def test_what_is_in_no_file_is_not_closed_without_asking(hand: Hand, monkeypatch: Any) -> None:
    editor = hand.workbench.family(ScenarioHandlers).edit("New scenario", NEW_SCENARIO)
    asked: list[bool] = []

    def refuse(_editor: ScenarioEditor) -> bool:
        asked.append(True)
        return False

    monkeypatch.setattr(ScenarioEditor, "may_close", refuse)
    type_into(editor, NEW_SCENARIO + "# more")
    assert not editor.close()
    assert asked == [True]
    assert editor.isVisible()
    monkeypatch.setattr(ScenarioEditor, "may_close", lambda _editor: True)
    assert editor.close()


def test_the_text_of_the_open_scenario_can_be_edited(hand: Hand) -> None:
    hand.workbench.registry.trigger("edit_scenario")
    editor = hand.workbench.window.findChild(ScenarioEditor)
    assert editor is not None
    path = hand.workbench.controller.path
    assert path is not None
    assert editor.text() == path.read_text(encoding="utf-8")
    assert editor.run_button.isEnabled()


def test_an_editor_is_opened_once_for_each_text_and_closes_untouched_without_asking(hand: Hand) -> None:
    registry, window = hand.workbench.registry, hand.workbench.window
    for command in ("edit_scenario", "edit_scenario", "new_scenario", "new_scenario"):
        registry.trigger(command)
    editors = [editor for editor in window.findChildren(ScenarioEditor) if editor.isVisible()]
    assert len(editors) == 2
    for editor in editors:
        assert not editor.changed()
        assert "*" not in editor.windowTitle()
        assert editor.close()
    registry.trigger("edit_scenario")
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    assert [editor.isVisible() for editor in window.findChildren(ScenarioEditor)].count(True) == 1


def test_a_folder_that_cannot_be_written_is_told(hand: Hand, drafts: Path, monkeypatch: Any) -> None:
    drafts.write_text("a file where the folder should be")
    told: list[str] = []
    hand.workbench.controller.failed.connect(told.append)
    editor = hand.workbench.family(ScenarioHandlers).edit("New scenario", NEW_SCENARIO)
    hand.qtbot.mouseClick(editor.run_button, Qt.MouseButton.LeftButton)
    assert len(told) == 1
    assert hand.workbench.controller.source.scenario is not None
    assert hand.workbench.controller.source.scenario.title == "First session"
    for box in QApplication.topLevelWidgets():
        if box.objectName() == "qt_msgbox":
            box.close()


def test_pictures_of_line_numbers_do_not_raise(hand: Hand, open_workbench: Callable[..., Hand]) -> None:
    editor = hand.workbench.family(ScenarioHandlers).edit("New scenario", NEW_SCENARIO * 3)
    editor.resize(700, 300)
    picture = editor.field.grab().toImage()
    colours = {picture.pixelColor(6, y).name() for y in range(0, picture.height(), 7)}
    assert len(colours) >= 1
    assert editor.field.margin_width() > 20


def test_what_is_typed_is_completed_from_the_keyboard_with_the_names_of_the_scenario(hand: Hand) -> None:
    editor = ScenarioHandlers(hand.workbench.context).edit("New", NEW_SCENARIO)
    field = editor.field
    assert field.completion is not None
    listed = field.completion.list
    field.moveCursor(QTextCursor.MoveOperation.End)
    hand.qtbot.keyClicks(field, "wor")
    assert listed.isVisible() and words(listed) == ["workers: "]
    hand.qtbot.keyClick(listed, Qt.Key.Key_Tab)
    hand.qtbot.keyClick(field, Qt.Key.Key_Return)
    hand.qtbot.keyClicks(field, "  - {name: w, qu")
    assert words(listed) == ["queue: "]
    hand.qtbot.keyClick(listed, Qt.Key.Key_Escape)
    assert not listed.isVisible() and editor.isVisible()
    field.moveCursor(QTextCursor.MoveOperation.Start)
    assert field.find("to: orders")
    cursor = field.textCursor()
    cursor.insertText("to: ")
    hand.qtbot.keyClick(field, Qt.Key.Key_Space, Qt.KeyboardModifier.ControlModifier)
    assert words(listed) == ["orders"], "the name of the text that could run"
    hand.qtbot.keyClick(listed, Qt.Key.Key_Return)
    assert "to: orders, arrivals" in editor.text()
    editor.set_saved("x.yaml")
    editor.close()
