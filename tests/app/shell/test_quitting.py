"""Closing the window while something runs asks first; a polite kill does not."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox, QPushButton

from app.sessions.jobs import Work
from app.shell.workbench import call_on_end_signals
from tests.app.conftest import Hand


@pytest.fixture
def busy(hand: Hand) -> Iterator[Hand]:
    """A job that ends when it is cancelled."""
    ended = threading.Event()

    def work(job: Work) -> None:
        while not ended.wait(0.01):
            job.report(0.5, "half")

    hand.workbench.jobs.work("Report of <b>today</b>", work, lambda _result: "done")
    yield hand
    ended.set()


def question(hand: Hand) -> QMessageBox:
    (box,) = hand.workbench.window.findChildren(QMessageBox, "leave_question")
    return box


def press(hand: Hand, words: str) -> None:
    (button,) = [one for one in question(hand).findChildren(QPushButton) if one.text() == words]
    hand.qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def test_it_asks_by_name_and_stays_where_one_lets_it_finish(busy: Hand) -> None:
    window = busy.workbench.window
    window.close()
    assert window.isVisible()
    assert question(busy).text() == "Report of <b>today</b> is not finished. Quit and cancel it?"
    assert question(busy).textFormat() is Qt.TextFormat.PlainText
    press(busy, "Let it finish")
    assert window.isVisible() and busy.workbench.jobs.running


def test_quit_ends_the_job_and_the_session(busy: Hand) -> None:
    busy.workbench.window.close()
    press(busy, "Quit")
    assert not busy.workbench.window.isVisible()
    assert busy.workbench.controller.time.stopped
    busy.qtbot.waitUntil(lambda: not busy.workbench.jobs.running, timeout=5_000)


def test_a_kill_asks_nobody(busy: Hand) -> None:
    busy.workbench.quit()
    assert not busy.workbench.window.isVisible()


def test_without_jobs_it_closes_at_once(hand: Hand) -> None:
    hand.workbench.window.close()
    assert not hand.workbench.window.isVisible()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_quits_from_the_event_loop_not_in_what_it_interrupts(hand: Hand, number: signal.Signals) -> None:
    window = hand.workbench.window
    before = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        call_on_end_signals(hand.workbench.quit)
        signal.raise_signal(number)
        assert window.isVisible(), "a lock that is held here would never be released"
        hand.qtbot.waitUntil(lambda: not window.isVisible(), timeout=5_000)
        assert hand.workbench.controller.time.stopped
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
