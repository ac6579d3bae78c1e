"""What the window's frames cost: measured over a whole session, and noted in its recording."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import pytest
from msgspec.structs import replace
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QWidget

from app.presenters.status import frame_words
from app.sessions.session_controller import SessionController
from app.sessions.session_time import SessionTime
from app.shell.frames import EXPRESS_EVERY_FRAMES, FRAME_MS, PANELS_EVERY_FRAMES, Frames, percentile_ms
from broker_core.engine.runner import Mode
from tests.app.conftest import Hand


def test_percentiles_of_durations_are_those_of_a_sorted_list() -> None:
    tenths = [number % 97 for number in range(1_000)]
    for percent in (50, 90, 99, 100):
        wanted = np.percentile(tenths, percent, method="inverted_cdf") / 10
        assert percentile_ms(Counter(tenths), percent) == pytest.approx(wanted)
    assert percentile_ms(Counter(), 50) == 0


def test_frames_are_missed_only_while_something_moves(qtbot: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    now_s, moving = [0.0], [True]
    monkeypatch.setattr("app.shell.frames.time.perf_counter", lambda: now_s[0])
    frames = Frames(lambda: True, lambda _s: None, lambda: moving[0])

    def frame(later_frames: int) -> int:
        now_s[0] += later_frames * FRAME_MS / 1000 + 0.001
        frames._timer.timeout.emit()
        return frames.dropped

    frames.start()
    frames._timer.stop()
    assert frame(3) == 3
    moving[0] = False
    assert frame(8) == 3, "nobody misses a frame of what stands still"
    moving[0] = True
    assert frame(3) == 5
    qtbot.wait(1)
    figures = frames.figures()
    assert figures is not None and frame_words(figures).endswith(", frames dropped 5")
    frames._timer.start()
    frames.stop()


def test_a_frame_of_express_mode_shows_canvas_or_panels_or_is_left_out_and_costs_nothing(
    hand: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    workbench = hand.workbench
    monkeypatch.setattr(workbench.frames, "_grant", lambda _s: None)  # the session does not come to its end meanwhile
    assert workbench.draw() and workbench.draw()
    workbench.controller.time.express()
    hand.qtbot.waitUntil(lambda: workbench.controller.source.status.mode is Mode.EXPRESS)
    shown: list[tuple[bool, bool]] = []
    monkeypatch.setattr(
        workbench.views, "refresh", lambda _snapshot, *, drawing, panels: shown.append((drawing, panels))
    )
    while shown[-1:] != [(False, True)]:  # from one frame with panels to the next
        workbench.draw()
    shown.clear()
    workbench.frames.forget()
    for _ in range(EXPRESS_EVERY_FRAMES * PANELS_EVERY_FRAMES):
        workbench.frames._frame()
        workbench.frames._painted()
    assert sorted(shown) == [(False, True), *[(True, False)] * 3] and workbench.frames.count == len(shown)
    workbench.controller.time.pause()


def test_what_is_marked_for_painting_is_painted_before_the_engine_goes_on(qtbot: Any) -> None:
    painted: list[str] = []

    class Picture(QWidget):
        def paintEvent(self, _event: QPaintEvent) -> None:
            painted.append("picture")

    picture = Picture()
    qtbot.addWidget(picture)
    picture.show()
    qtbot.waitUntil(lambda: bool(painted))
    painted.clear()
    frames = Frames(lambda: picture.update() is None, lambda _s: painted.append("slot"), lambda: True)
    frames._frame()
    qtbot.waitUntil(lambda: len(painted) == 2)
    assert painted == ["picture", "slot"]


@pytest.mark.parametrize(
    ("changes", "with_panels"), [("++++++++++++", "--+--+--+--+"), ("--+--+--+----", "---+--+--+--+")]
)
def test_panels_are_drawn_in_every_third_frame_or_soon_after_where_the_state_has_not_changed(
    hand: Hand, monkeypatch: pytest.MonkeyPatch, changes: str, with_panels: str
) -> None:
    workbench, drawn = hand.workbench, ""
    shown, refreshed = workbench.controller.snapshot, [0]
    monkeypatch.setattr(SessionController, "snapshot", property(lambda _controller: shown))
    monkeypatch.setattr(SessionTime, "moving", property(lambda _time: True))
    workbench.draw()
    workbench.views.refreshed.connect(lambda: refreshed.append(0))
    workbench._pace._since_panels = 0
    for change in changes:
        shown = replace(shown) if change == "+" else shown
        refreshed.clear()
        workbench.draw()
        drawn += "+" if refreshed else "-"
    assert drawn == with_panels


def test_the_canvas_shows_what_is_selected_of_a_state_that_has_not_changed(
    hand: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    workbench = hand.workbench
    model = MagicMock(wraps=workbench.views.canvas_model)
    monkeypatch.setattr(workbench.views, "canvas_model", model)
    shown = workbench.controller.snapshot  # a busy machine takes another one when a panel has asked for something
    monkeypatch.setattr(SessionController, "snapshot", property(lambda _controller: shown))
    workbench.draw()
    model.view.reset_mock()
    workbench.draw()
    model.view.assert_not_called()
    workbench.views.select("topic:commits")
    workbench.draw()
    assert [call.args[2] for call in model.view.call_args_list] == ["topic:commits"]


def test_what_the_frames_of_a_session_cost_is_in_its_recording(open_workbench: Callable[..., Hand]) -> None:
    hand = open_workbench(record=True)
    workbench = hand.workbench
    workbench.frames.start()
    hand.qtbot.waitUntil(lambda: workbench.frames.count >= 5)
    folder = workbench.controller.source.folder
    assert folder is not None
    workbench.controller.stop()
    drawn = workbench.frames.session_figures()["frames_drawn_count"]
    noted = json.loads((folder / "session.json").read_text())["extra"]["cost"]
    assert 5 <= noted["frames_drawn_count"] <= drawn
    assert noted["frames_dropped_count"] >= 0
    assert 0 < noted["frame_cost_p50_ms"] <= noted["frame_cost_p99_ms"]
    assert 0 <= noted["window_delay_p50_ms"] <= noted["window_delay_p99_ms"]
    assert workbench.controller.path is not None
    workbench.controller.open(workbench.controller.path)
    assert workbench.frames.session_figures() == {}
