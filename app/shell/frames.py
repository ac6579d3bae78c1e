"""Frames: the window draws, then gives the engine the rest of the interval, and measures both."""

from __future__ import annotations

import gc
import time
from collections import Counter, deque
from collections.abc import Callable

import numpy as np
from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt, QTimer

from app.presenters.status import FrameFigures

FRAME_MS = 33
# What a slot may take at least, so that the broker goes on however slow the window is, ...
MIN_SLOT_S = 0.006
# ... and what is kept free of it: the engine looks at the clock only every few steps.
MARGIN_S = 0.0015
REMEMBERED = 300


# The canvas and the clock follow every frame, tables and charts every third: faster is not readable. Where the state
# changes in some frames only, as with a broker elsewhere, they follow in one in which it has not.
PANELS_EVERY_FRAMES = 3
# In express mode nobody can follow each frame: every second is left to the engine.
EXPRESS_EVERY_FRAMES = 2


class Pace:
    """Decides what each frame updates: the canvas, the panels, and which commands are enabled."""

    def __init__(self) -> None:
        self._number = self._since_panels = 0
        self._was_still = False

    def next(self, *, moving: bool, express: bool, still: bool) -> tuple[bool, bool, bool]:
        """(canvas, panels, commands) of the next frame; `still` if the state is that of the frame before."""
        self._number += 1
        self._since_panels += 1
        canvas = not express or self._number % EXPRESS_EVERY_FRAMES == 0
        due = self._since_panels >= PANELS_EVERY_FRAMES * (EXPRESS_EVERY_FRAMES if express else 1)
        # In express mode panels are drawn where the canvas is not: a frame with both takes twice as long. Commands come
        # in the frame after the panels, which are the most costly.
        panels = not moving or (due and (not canvas if express else still or not self._was_still))
        if canvas or panels:
            self._was_still = still
        if panels:
            self._since_panels = 0
        return canvas, panels, canvas and self._since_panels == 1 if express else panels


def percentile_ms(tenths: Counter[int], percent: float) -> float:
    """The percentile, by nearest rank, of durations counted in tenths of a millisecond; 0 if there are none."""
    left = tenths.total() * percent / 100
    for duration, count in sorted(tenths.items()):
        left -= count
        if left <= 0:
            return duration / 10
    return 0.0


class Frames(QObject):
    """Calls `draw` 30 times a second, lets Qt paint, then calls `grant(seconds)` with what is left of the interval.

    What a frame costs is counted only where `draw` returns True: it may leave one out.
    Frames that come too late for one to be drawn are counted only while `moving()`: on a still picture none is missed.
    """

    def __init__(
        self,
        draw: Callable[[], bool],
        grant: Callable[[float], object],
        moving: Callable[[], bool],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._moving = moving
        self._draw = draw
        self._grant = grant
        self._began_s = 0.0
        self._drawn = True
        self._due_s = 0.0
        self._costs_s: deque[float] = deque(maxlen=REMEMBERED)
        self._delays_s: deque[float] = deque(maxlen=REMEMBERED)
        self._all_costs, self._all_delays = Counter[int](), Counter[int]()
        self.dropped = 0
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(FRAME_MS)
        self._timer.timeout.connect(self._frame)

    def start(self) -> None:
        gc.collect()
        gc.freeze()
        self._due_s = time.perf_counter()
        self._timer.start()

    def stop(self) -> None:
        if self._timer.isActive():
            gc.unfreeze()
        self._timer.stop()

    def _frame(self) -> None:
        self._began_s = now_s = time.perf_counter()
        delay_s = max(0.0, now_s - self._due_s)
        self._delays_s.append(delay_s)
        self._all_delays[round(delay_s * 10_000)] += 1
        if self._moving():
            self.dropped += int(delay_s * 1000 / FRAME_MS)
        self._due_s = now_s + FRAME_MS / 1000
        self._drawn = self._draw()
        # Qt paints what was marked for it by events of this priority.
        QCoreApplication.postEvent(self, QEvent(QEvent.Type.User), Qt.EventPriority.LowEventPriority.value)

    def customEvent(self, _event: QEvent) -> None:
        self._painted()

    def _painted(self) -> None:
        cost_s = time.perf_counter() - self._began_s
        if self._drawn:
            self._costs_s.append(cost_s)
            self._all_costs[round(cost_s * 10_000)] += 1
        self._grant(max(MIN_SLOT_S, FRAME_MS / 1000 - cost_s - MARGIN_S))

    @property
    def count(self) -> int:
        return len(self._costs_s)

    def forget(self) -> None:
        self._costs_s.clear()
        self._delays_s.clear()
        self._all_costs.clear()
        self._all_delays.clear()
        self.dropped = 0

    def figures(self) -> FrameFigures | None:
        """All of them at once; None before the first frame."""
        if not self._costs_s:
            return None
        cost_50, cost_99 = np.percentile(self._costs_s, (50, 99)) * 1000
        delay_50, delay_99, worst = np.percentile(self._delays_s, (50, 99, 100)) * 1000
        return FrameFigures(
            float(cost_50), float(cost_99), float(delay_50), float(delay_99), float(worst), self.dropped
        )

    def session_figures(self) -> dict[str, float]:
        """The cost of all frames since `forget`, by names that end in their units; empty before the first frame."""
        costs, delays = self._all_costs, self._all_delays
        if not costs:
            return {}
        return {
            "frames_drawn_count": costs.total(),
            "frames_dropped_count": self.dropped,
            "frame_cost_p50_ms": percentile_ms(costs, 50),
            "frame_cost_p99_ms": percentile_ms(costs, 99),
            "window_delay_p50_ms": percentile_ms(delays, 50),
            "window_delay_p99_ms": percentile_ms(delays, 99),
        }
