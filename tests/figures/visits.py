"""One session looked at in every way in which a window can come to show a moment of it."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.shell.workbench import Workbench
from tests.figures.compare import Look, Verdict, judge
from tests.figures.recount.reading import rows_of, scenario_of
from tests.figures.shown.window import shown_figures

PATIENCE_MS = 30_000
NS_PER_S = 1_000_000_000


@dataclass(frozen=True)
class Plan:
    """How many looks of each kind; `until_s` is where the session is ended, its own end where that comes before.

    A look that is not `thorough` leaves out a part of what takes long, another one each time.
    """

    live: int
    past: int
    until_s: float
    thorough: bool = False


class Visit:
    """Looks at the session of one scenario, and holds what it has seen."""

    def __init__(self, workbench: Workbench, qtbot: QtBot, scenario: Path, plan: Plan, seed: int = 1) -> None:
        self._workbench = workbench
        self._controller = workbench.controller
        self._qtbot = qtbot
        self._scenario = scenario
        self._plan = plan
        self._numbers = random.Random(seed)
        self._looks: list[Look] = []
        self._verdict = Verdict()
        self._begun = self._turn = 0

    def verdict(self) -> Verdict:
        """Every way, one after the other."""
        controller, plan = self._controller, self._plan
        folder = self._live()
        moments = self._draw(plan.past, controller.source.end_ns)
        self._scrub("scrubbed", moments)
        controller.travel.to_present()
        self._look("live again")
        controller.stop()
        self._look("after the end")
        self._scrub("after the end, in the past", moments)
        self._judge(folder)
        self._judge(self._branch(moments[-1]))
        self._opened(folder, moments)
        self._judge(folder)
        self._unrecorded(folder, moments)
        return self._verdict

    def live_and_opened(self) -> Verdict:
        """The two ways that share the least."""
        folder = self._live()
        moments = self._draw(self._plan.past, self._controller.source.end_ns)
        self._controller.stop()
        self._opened(folder, moments)
        self._judge(folder)
        return self._verdict

    def recorded(self, folder: Path, moments: list[int]) -> Verdict:
        """A session that was recorded before."""
        self._opened(folder, moments)
        self._judge(folder)
        return self._verdict

    # -- ways

    def _live(self) -> Path:
        controller = self._controller
        controller.record = True
        controller.open(self._scenario)
        assert controller.source.scenario is not None
        # While the scenario is being set up, events tell of no settings and no targets; the first keyframe comes after.
        controller.time.run_until(1)
        self._begun = controller.source.latest.events
        end_ns = round(min(self._plan.until_s, controller.source.scenario.until_s) * NS_PER_S)
        for time_ns in (*self._draw(self._plan.live - 1, end_ns), end_ns):
            controller.time.run_until(time_ns)
            self._look("live")
        assert controller.source.folder is not None
        return controller.source.folder

    def _scrub(self, mode: str, moments: list[int]) -> None:
        """There and back: the moments in no order."""
        for time_ns in self._numbers.sample(moments, len(moments)):
            self._controller.travel.to(time_ns)
            self._arrive()
            self._look(mode)
        events = max(self._controller.snapshot.events, self._begun + 1)
        self._controller.travel.to_event(self._numbers.randrange(self._begun, events))
        self._arrive()
        self._look(f"{mode}, by event")

    def _branch(self, time_ns: int) -> Path:
        controller = self._controller
        controller.travel.to(time_ns)
        self._arrive()
        controller.branching.branch()

        def there() -> bool:
            controller.time.grant(0.05)
            return not controller.time.moving

        self._wait(there)
        assert controller.simulated is not None
        controller.simulated.look(lambda simulation: simulation.loop.now_ns).result(10)
        self._look("branch")
        controller.time.run_until(controller.source.end_ns + 2 * NS_PER_S)
        self._look("branch, gone on")
        folder = controller.source.folder
        controller.stop()
        assert folder is not None
        return folder

    def _opened(self, folder: Path, moments: list[int]) -> None:
        controller = self._controller
        controller.open_session(folder, moments[0])
        self._wait(lambda: controller._reading is not None and not controller._reading.thread.is_alive())
        self._arrive()
        self._look("opened")
        if moments[1:]:
            self._scrub("opened, scrubbed", moments[1:])

    def _unrecorded(self, folder: Path, moments: list[int]) -> None:
        controller = self._controller
        controller.record = False
        controller.open(self._scenario)
        for time_ns in moments:
            controller.time.run_until(time_ns)
            self._look("not recorded")
        self._scrub("not recorded, scrubbed", moments[:-1])
        self._judge(folder)

    # -- steps

    def _draw(self, count: int, end_ns: int) -> list[int]:
        """Moments in order: any, and now and then one on a whole second."""
        drawn = {self._numbers.randrange(1, end_ns) for _ in range(count)}
        return sorted(ns if at % 3 else ns // NS_PER_S * NS_PER_S for at, ns in enumerate(sorted(drawn)))

    def _look(self, mode: str) -> None:
        controller = self._controller
        self._turn += 1
        figures, covers = shown_figures(self._workbench, None if self._plan.thorough else self._turn)
        shown, present_ns = controller.snapshot, controller.source.end_ns
        name = f"{self._scenario.stem}, {mode}"
        self._looks.append(Look(name, shown.events, shown.time_ns, self._present_events(), present_ns, figures, covers))

    def _present_events(self) -> int:
        stored = self._controller.stored
        return stored.event_count if stored is not None else self._controller.source.latest.events

    def _arrive(self) -> None:
        self._wait(lambda: not self._controller.travel.busy)
        QApplication.processEvents()

    def _wait(self, reached: Callable[[], bool]) -> None:
        self._qtbot.waitUntil(reached, timeout=PATIENCE_MS)

    def _judge(self, folder: Path) -> None:
        """Compare what was seen since the last time with the events in `folder`."""
        self._verdict.add(judge(self._looks, rows_of(folder), scenario_of(folder)))
        self._looks = []
