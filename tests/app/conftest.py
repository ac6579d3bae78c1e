"""A workbench on a real session, whose time the test moves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.environment.paths import find_scenario
from app.sessions.simulated import SimulatedSource
from app.shell.frames import EXPRESS_EVERY_FRAMES, PANELS_EVERY_FRAMES
from app.shell.workbench import Workbench
from broker_core.clock import NS_PER_S
from tests.app.one_window import SIZE, OneWindow, end


class Hand:
    """The workbench, and a user's hand on it. Time stands still unless `pass_time` moves it."""

    def __init__(self, workbench: Workbench, qtbot: QtBot) -> None:
        self.workbench = workbench
        self.canvas = workbench.canvas
        self.qtbot = qtbot

    @property
    def simulated(self) -> SimulatedSource:
        """What the window shows, where that is simulated."""
        found = self.workbench.controller.simulated
        assert found is not None
        return found

    def pass_time(self, seconds: float) -> None:
        """Session time goes on by `seconds`, as fast as it goes."""
        controller = self.workbench.controller
        controller.time.run_until(controller.snapshot.time_ns + round(seconds * NS_PER_S))
        self.show()

    def show(self, draws: int = 2) -> None:
        """What was asked of the engine is done, and seen."""
        controller = self.workbench.controller
        controller.time.run_until(controller.snapshot.time_ns)
        for _ in range(max(draws, (EXPRESS_EVERY_FRAMES * PANELS_EVERY_FRAMES + 1) * controller.time.moving)):
            QApplication.processEvents()
            self.workbench.draw()

    def wait_until(self, done: Callable[[], object]) -> None:
        """Until `done()` is true of what is shown, for 20 s at most."""

        def look() -> None:
            self.show(draws=1)
            assert done()

        self.qtbot.waitUntil(look, timeout=20_000)

    def place(self, item_id: str) -> QPoint:
        """The middle of a box of the canvas, in the viewport; brought into sight where a panel has its room."""
        rects = self.canvas._stage.layout.rects
        assert item_id in rects, f"{item_id} is not on the canvas"
        box = rects[item_id]
        self.canvas.place_of(item_id)
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


@pytest.fixture(scope="package")
def one_window(qapp: QApplication, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OneWindow]:
    """The window that tests share."""
    shared = OneWindow(qapp, tmp_path_factory.mktemp("window") / "sessions")
    yield shared
    shared.end()


@pytest.fixture
def open_workbench(
    qtbot: QtBot, qapp: QApplication, one_window: OneWindow, tmp_path: Path
) -> Iterator[Callable[..., Hand]]:
    """Opens first-session, or another scenario, in a window of 1600x1000.

    It is that of the test before, unless `fresh` is asked for or it is the second in a test. To paint costs as much as
    all the rest: it is painted as it is when the test has ended.
    """
    opened: list[Workbench] = []

    def open_it(
        scenario: str = "first-session", *, record: bool = False, hints: bool = False, fresh: bool = False
    ) -> Hand:
        if fresh or opened:
            one_window.end()
            workbench = Workbench(qapp, theme="light", sessions=tmp_path / "sessions")
        else:
            workbench = one_window.take()
        opened.append(workbench)
        workbench.controller.record = record
        workbench.settings.hints = hints
        workbench.canvas.set_reduced_motion(True)
        workbench.controller.open(find_scenario(scenario))
        workbench.window.resize(*SIZE)
        workbench.window.show()
        qtbot.waitExposed(workbench.window)
        workbench.window.activateWindow()
        qtbot.waitUntil(workbench.window.isActiveWindow)
        workbench.window.setUpdatesEnabled(False)
        return Hand(workbench, qtbot)

    yield open_it
    end(*(workbench for workbench in opened if not one_window.give_back(workbench)))


@pytest.fixture
def hand(open_workbench: Callable[..., Hand]) -> Hand:
    """First session at 00:10, not recorded."""
    hand = open_workbench()
    hand.pass_time(10)
    return hand
