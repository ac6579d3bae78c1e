"""A workbench on a real session, whose time the test moves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.environment.paths import find_scenario
from app.shell.workbench import Workbench
from broker_core.clock import NS_PER_S


class Hand:
    """The workbench, and a user's hand on it. Time stands still unless `pass_time` moves it."""

    def __init__(self, workbench: Workbench, qtbot: QtBot) -> None:
        self.workbench = workbench
        self.canvas = workbench.canvas
        self.qtbot = qtbot

    def pass_time(self, seconds: float) -> None:
        """Session time goes on by `seconds`, as fast as it goes."""
        controller = self.workbench.controller
        controller.run_until(controller.snapshot.time_ns + round(seconds * NS_PER_S))
        self.show()

    def show(self) -> None:
        """What was asked of the engine is done, and seen."""
        controller = self.workbench.controller
        controller.run_until(controller.snapshot.time_ns)
        for _ in range(4):
            QApplication.processEvents()
            self.workbench.draw()

    def wait_until(self, done: Callable[[], object]) -> None:
        """Until `done()` is true of what is shown, for 20 s at most."""

        def look() -> None:
            self.show()
            assert done()

        self.qtbot.waitUntil(look, timeout=20_000)

    def place(self, item_id: str) -> QPoint:
        """The middle of a box of the canvas, in the viewport."""
        rects = self.canvas._stage.layout.rects
        assert item_id in rects, f"{item_id} is not on the canvas"
        box = rects[item_id]
        at = self.canvas.mapFromScene(box.x + box.w / 2, box.y + box.h / 2)
        assert self.canvas.viewport().rect().contains(at), f"{item_id} is out of sight at {at}"
        return at

    def drag(self, consumer: str, to: QPoint) -> None:
        """Press on a consumer, move in steps as a hand does, release."""
        view = self.canvas.viewport()
        start = self.place(f"consumer:{consumer}")
        self.qtbot.mousePress(view, Qt.MouseButton.LeftButton, pos=start)
        for step in range(1, 9):
            self.qtbot.mouseMove(view, start + (to - start) * (step / 8))
        self.qtbot.mouseRelease(view, Qt.MouseButton.LeftButton, pos=to)
        self.show()

    def members(self, group: str) -> dict[str, int]:
        """How many partitions each member of `group` owns."""
        found = next((one for one in self.workbench.controller.snapshot.groups if one.name == group), None)
        return {} if found is None else {member.client: len(member.partitions) for member in found.members}

    def generation(self, group: str) -> int:
        """The generation of `group`."""
        return next(one.generation for one in self.workbench.controller.snapshot.groups if one.name == group)


@pytest.fixture
def open_workbench(qtbot: QtBot, qapp: QApplication, tmp_path: Path) -> Iterator[Callable[..., Hand]]:
    """Opens first-session, or another scenario, in a window of 1600x1000."""
    opened: list[Workbench] = []

    def open_it(scenario: str = "first-session", *, record: bool = False, hints: bool = False) -> Hand:
        workbench = Workbench(qapp, theme="light", record=record, sessions=tmp_path / "sessions")
        opened.append(workbench)
        workbench.settings.hints = hints
        workbench.canvas.set_reduced_motion(True)
        workbench.controller.open(find_scenario(scenario))
        workbench.window.resize(1600, 1000)
        workbench.window.show()
        qtbot.waitExposed(workbench.window)
        return Hand(workbench, qtbot)

    yield open_it
    for workbench in opened:
        workbench.quit()
        workbench.window.deleteLater()
        workbench.deleteLater()
    # Nobody runs an event loop here that would do it, and every theme change dresses what is left over.
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


@pytest.fixture
def hand(open_workbench: Callable[..., Hand]) -> Hand:
    """First session at 00:10, not recorded."""
    hand = open_workbench()
    hand.pass_time(10)
    return hand
