"""Dead letters: tried without doing it, edited, purged with their count, redriven at a rate - by hand."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QLabel, QMenu

from app.commands.dead_letters import DeadLetterHandlers
from app.environment.paths import find_scenario
from app.presenters.dead_letter_models import EditedLetter
from widgets.dialogs.message_form import EditDeadLetterDialog
from widgets.dialogs.review import ReviewDialog
from widgets.panels.dead_letters import DeadLettersPanel


@pytest.fixture
def panel(hand):
    hand.pass_time(40)
    hand.workbench.window.show_tab("dead_letters")
    hand.show()
    made = hand.workbench.window.tab(DeadLettersPanel)
    assert made.model.rowCount() >= 3
    yield made
    made._hold(over=False)


def dialog(kind):
    return next(one for one in QApplication.topLevelWidgets() if isinstance(one, kind) and one.isVisible())


def dead(hand):
    return sum(queue.dead for queue in hand.workbench.controller.snapshot.queues)


def test_a_dry_run_says_what_would_happen_and_does_nothing(panel, hand):
    count = dead(hand)
    hand.workbench.registry.trigger("try_redrive_all")
    shown = dialog(ReviewDialog)
    shown.accept_button.click()
    hand.wait_until(lambda: shown.reviewing)
    assert f"Dry run: {count} would be appended" in shown.summary.text()
    assert shown.review_table.rowCount() == count and shown.review_table.item(0, 3).text() == "builds"
    shown.reject()
    hand.pass_time(1)
    assert dead(hand) >= count


def test_the_same_letters_in_another_session_are_shown(panel, hand):
    count = panel.model.rowCount()
    hand.workbench.window.open_bottom(False)
    hand.workbench.controller.open(find_scenario("first-session"))
    hand.pass_time(50)
    hand.workbench.window.show_tab("dead_letters")
    hand.show()
    assert panel.model.rowCount() == count


def test_details_leave_with_the_letter_that_was_redriven(panel, hand):
    panel.select(0)
    hand.wait_until(panel.details.payload.isVisible)
    hand.workbench.registry.trigger("redrive_selected")
    hand.wait_until(lambda: panel.selected_count() == 0)
    hand.wait_until(lambda: not panel.details.payload.isVisible())
    assert panel.model.rowCount()


def test_details_come_back_with_a_letter_that_was_held_in_its_place(panel, hand):
    panel.select(0)
    hand.wait_until(panel.details.payload.isVisible)
    payload = panel.details.payload.data
    panel._hold(over=True)
    hand.workbench.registry.trigger("redrive_selected")
    hand.wait_until(lambda: not panel.details.payload.isVisible())
    hand.workbench.registry.trigger("undo")
    hand.wait_until(lambda: panel.selected_count() == 1)
    hand.wait_until(panel.details.payload.isVisible)
    assert panel.details.payload.data == payload


def test_a_letter_that_the_pointer_holds_in_its_place_is_not_counted(panel, hand):
    panel.select(0)
    panel._hold(over=True)
    before = panel.model.rowCount()
    hand.workbench.registry.trigger("redrive_selected")
    hand.wait_until(lambda: panel.model.gone)
    assert panel.model.rowCount() == before
    one, every = panel.buttons["redrive_selected"], panel.buttons["redrive_all"]
    assert one.text() == "Redrive selected (0)" and not one.isEnabled()
    assert every.text() == f"Redrive all ({before - 1})" and len(panel.shown_keys()) == before - 1


@pytest.mark.parametrize("by_its_job", [False, True])
def test_a_redrive_at_a_rate_takes_its_time_and_can_be_stopped(panel, hand, by_its_job):
    count, jobs = dead(hand), hand.workbench.jobs
    hand.workbench.registry.trigger("try_redrive_all")
    shown = dialog(ReviewDialog)
    shown.widgets["rate"].setValue(0.5)
    shown.accept_button.click()
    hand.wait_until(lambda: shown.reviewing)
    shown.accept_button.click()
    hand.show()
    assert dead(hand) == count - 1
    (job,) = jobs.facts()
    assert (job.title, job.state) == (f"Redrive of dead letters: {count}", "Running")
    hand.wait_until(lambda: jobs.facts()[0].message == f"1 of {count}")
    if by_its_job:
        jobs.find(job.id).cancel()
        hand.wait_until(lambda: jobs.facts()[0].state == "Cancelled")
    else:
        assert hand.workbench.registry.trigger("stop_redrive")
        hand.wait_until(lambda: jobs.facts()[0].state == "Done")
    assert hand.workbench.registry.reason("stop_redrive") == "No redrive is under way."
    hand.pass_time(8)
    redriven = sum(queue.redriven for queue in hand.workbench.controller.snapshot.queues)
    assert redriven == 1


def test_a_dead_letter_is_edited_and_goes_back_changed(panel, hand):
    panel.select(0)
    key = panel.current_key()
    hand.workbench.registry.trigger("edit_letter")
    hand.wait_until(lambda: any(isinstance(one, EditDeadLetterDialog) for one in QApplication.topLevelWidgets()))
    shown = dialog(EditDeadLetterDialog)
    assert shown.form.value.toPlainText()
    shown.form.value.setPlainText("mended <b>by hand</b>")
    shown.form.headers.setPlainText("no colon")
    assert not shown.redrive.isEnabled()
    shown.form.headers.setPlainText("mended-by: me")
    shown.redrive.click()
    hand.show()
    assert key not in panel.shown_keys()
    found = hand.simulated.look(
        lambda simulation: [
            message
            for partition in range(simulation.broker.logs.partition_count("builds"))
            for message in simulation.broker.logs.partition("builds", partition).read(0, max_messages=100_000)
            if message.value == b"mended <b>by hand</b>"
        ]
    )
    hand.wait_until(found.done)
    assert [dict(message.headers)["mended-by"] for message in found.result()] == [b"me"]


def test_an_edited_dead_letter_is_shown_and_edited_again_as_it_is(panel, hand, monkeypatch):
    def edit():
        hand.workbench.registry.trigger("edit_letter")
        hand.wait_until(
            lambda: any(
                isinstance(one, EditDeadLetterDialog) and one.isVisible() for one in QApplication.topLevelWidgets()
            )
        )
        return dialog(EditDeadLetterDialog)

    def payload(row):
        column = next(
            at
            for at in range(panel.model.columnCount())
            if panel.model.headerData(at, Qt.Orientation.Horizontal) == "Payload"
        )
        return panel.model.index(row, column).data()

    hand.workbench.controller.time.pause()
    hand.show()
    panel.select(1)
    before = payload(1)
    shown = edit()
    shown.form.value.setPlainText("mended")
    shown.keep.click()
    hand.wait_until(lambda: payload(1) == "Edited: mended")
    hand.wait_until(lambda: panel.details.payload.data == b"mended")
    with monkeypatch.context() as unchanged:
        unchanged.setattr(EditedLetter, "of", None)
        hand.show()  # nothing is made anew
    shown = edit()
    assert shown.form.value.toPlainText() == "mended"
    shown.reject()
    hand.workbench.registry.trigger("redrive_selected")
    hand.wait_until(lambda: payload(1) != "Edited: mended")
    hand.workbench.registry.trigger("undo")
    hand.wait_until(lambda: payload(1) == "Edited: mended")
    hand.workbench.registry.trigger("undo")
    hand.wait_until(lambda: payload(1) == before)


def test_a_purge_names_its_count_and_is_undone(panel, hand):
    count = dead(hand)
    panel.table.selectAll()
    dialog = hand.workbench.family(DeadLetterHandlers).ask_purge(panel.selected_keys())
    assert f"{count} dead letters will be removed" in dialog.findChild(QLabel).text()
    assert dialog.accept_button.text() == f"Purge {count}"
    dialog.accept_button.click()
    hand.show()
    assert dead(hand) == 0
    hand.workbench.registry.trigger("undo")
    hand.show()
    assert dead(hand) == count


def test_nothing_is_done_in_the_past(panel, hand):
    hand.workbench.controller.stop()
    hand.workbench.draw()
    actions = [action for action in panel.findChild(QMenu).actions() if not action.isSeparator()]
    assert len(actions) == 6
    for action in (*actions, *panel.buttons.values()):
        assert not action.isEnabled()
        assert "session has ended" in action.toolTip()
    before = dead(hand)
    for button in panel.buttons.values():
        hand.qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert not hand.workbench.registry.trigger("redrive_all")
    hand.workbench.draw()
    assert dead(hand) == before


def test_what_is_not_listed_or_selected_is_said(panel, hand):
    registry = hand.workbench.registry
    assert panel.buttons["redrive_all"].isEnabled() and not registry.reason("purge_all")
    for command in ("redrive_selected", "purge_selected"):
        assert registry.reason(command) == "Select dead letters first: click one, or Ctrl+A for all."
    assert "Select dead letters first" in panel.buttons["redrive_selected"].toolTip()
    panel.set_filter_text("nothing like it")
    hand.wait_until(lambda: not panel.model.rowCount())
    for command in ("redrive_all", "try_redrive", "purge_all", "edit_letter"):
        assert registry.reason(command) == "The filter matches nothing."
    panel.clear_filter()
    hand.wait_until(panel.model.rowCount)
    panel.select(0)
    assert not registry.reason("redrive_selected") and not registry.reason("edit_letter")
    panel.second_button.click()
    assert registry.reason("redrive_selected") == registry.reason("redrive_all") == "There are no dead letters."


def test_dead_letters_that_nobody_has_looked_at_are_not_denied(open_workbench):
    hand = open_workbench()
    hand.pass_time(60)
    assert sum(queue.dead for queue in hand.workbench.controller.snapshot.queues)
    registry = hand.workbench.registry
    hand.workbench.window.show_tab("assignments")
    hand.show()
    for command in ("redrive_selected", "redrive_all", "purge_all"):
        assert "Ctrl+4" in registry.reason(command)
    hand.workbench.window.show_tab("dead_letters")
    hand.show()
    assert registry.reason("redrive_all") == ""
    assert "Select dead letters first" in registry.reason("redrive_selected")


def test_a_double_click_on_dead_letters_lists_those_of_their_queue(hand):
    hand.pass_time(40)
    hand.canvas.fit()
    window, panel = hand.workbench.window, hand.workbench.window.tab(DeadLettersPanel)
    window.show_tab("events")
    at = hand.place("dlq:builds")
    hand.qtbot.mouseClick(hand.canvas.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert window.shown_tab() == "events"
    hand.qtbot.mouseDClick(hand.canvas.viewport(), Qt.MouseButton.LeftButton, pos=at)
    hand.qtbot.mouseRelease(hand.canvas.viewport(), Qt.MouseButton.LeftButton, pos=at)
    hand.show()
    assert window.shown_tab() == "dead_letters" and panel.filter_text == 'queue = "builds"'
    assert panel.model.rowCount() == dead(hand)


def test_a_queue_is_redriven_from_its_menu_though_the_panel_was_never_opened(hand):
    def menu(of):
        hand.canvas.contextMenuRequested.emit(of, QPoint(10, 10))
        made = hand.workbench.window.findChildren(QMenu, "canvas_menu")[-1]
        made.close()
        return next(action for action in made.actions() if action.text().startswith("Redrive all"))

    hand.workbench.window.show_tab("events")
    hand.pass_time(40)
    count = dead(hand)
    all_of_it = menu("dlq:builds")
    assert count >= 3 and all_of_it.isEnabled() and all_of_it.text() == f"Redrive all ({count})"
    all_of_it.trigger()
    hand.wait_until(lambda: dead(hand) == 0)
    assert sum(queue.redriven for queue in hand.workbench.controller.snapshot.queues) == count
    none = menu("dlq:builds")
    assert not none.isEnabled() and none.toolTip() == "There are no dead letters."
