from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from PySide6.QtCore import QPoint, QRect

from app.commands.context import CommandContext, Handlers, lacking
from app.commands.registry import Command
from app.environment.paths import shipped_scenarios
from app.presenters.lesson import lesson_facts
from app.presenters.panels import PANELS
from app.sessions.lesson_course import LessonCourse
from broker_core.errors import ScenarioError
from broker_core.simulation.actions.faults import HoldSchedule
from broker_core.simulation.lesson import PointAt, WindowNames
from broker_core.simulation.scenario import load_scenario
from widgets.i18n import tr
from widgets.overlays import Place
from widgets.panels.table_panel import TablePanel


class LessonHandlers(Handlers):
    def __init__(self, context: CommandContext) -> None:
        super().__init__(context)
        self._panel = context.window.parts.lesson
        self._next: Path | None = None
        self._next_title = self._name = ""
        self._kept: frozenset[str] = frozenset()
        self._current = -1
        self.course = LessonCourse(context.controller)
        bind = context.registry.bind
        bind("toggle_lesson", self._toggle, self._why_no_lesson)
        is_last = lacking(lambda: self._next, tr("This is the last lesson."))
        bind("next_lesson", self.open_next, self._why_no_lesson, is_last)
        bind("lesson_over", self.start_over, self._why_not_over)
        context.registry.triggered.connect(self._did)
        context.controller.opened.connect(self._opened)
        context.views.refreshed.connect(self._refresh)
        travel = context.controller.travel
        travel.turned.connect(lambda: self._did("go_to") if travel.looking_back else None)
        self._panel.stepPressed.connect(self.help_with_step)
        self._panel.nextWanted.connect(lambda: context.registry.trigger("next_lesson"))
        self._panel.startOverWanted.connect(lambda: context.registry.trigger("lesson_over"))
        self._panel.folded.connect(lambda on: context.registry.set_checked("toggle_lesson", not on))
        context.window.next_step.stepPressed.connect(self.help_with_step)

    def _why_no_lesson(self) -> str:
        return "" if self._controller.collectors.lesson.lesson else tr("This scenario has no lesson.")

    def _why_not_over(self) -> str:
        recorded = tr("A recorded session is read-only.")
        return self._why_no_lesson() or ("" if self._controller.stored is None else recorded)

    def _opened(self) -> None:
        context, controller = self._context, self._controller
        lesson = controller.collectors.lesson.lesson
        self._name = controller.path.stem if controller.path is not None else ""
        self._kept = context.settings.lessons.get(self._name, frozenset())
        self._next, self._next_title, self._current = None, "", -1
        self.course = LessonCourse(controller)
        if lesson is not None and lesson.next:
            self._next = next((path for path in _beside(controller.path) if path.stem == lesson.next), None)
        if self._next is not None:
            try:
                self._next_title = tr(load_scenario(self._next)[0].title)
            except ScenarioError:  # a teacher's file that is wrong has an editor that says so
                self._next = None
        context.window.ring.clear()
        self._panel.begin()
        context.window.right.show_lesson(lesson is not None)
        context.registry.set_checked("toggle_lesson", lesson is not None)

    def _refresh(self) -> None:
        controller = self._controller
        if controller.collectors.lesson.lesson is None or controller.source.scenario is None:
            self._panel.set_facts(None)
            return
        if controller.stored is None:
            self._note_selected()
        facts = lesson_facts(
            tr(controller.source.scenario.title),
            controller.collectors.lesson,
            by_ns=None if controller.stored is None else controller.snapshot.time_ns,
            kept=self._kept,
            next_title=self._next_title,
            why_not=self.course.why_cannot if controller.live else lambda _step: "",
        )
        self._panel.set_facts(facts)
        if controller.stored is None and (hold := self.course.hold()) is not None:
            controller.perform(HoldSchedule(hold))
        current = next((number for number, step in enumerate(facts.steps) if step.current), -1) if facts else -1
        if current != self._current:
            self._current = current
            self._context.window.ring.clear()

    def _note_selected(self) -> None:
        """Tell the lesson what is selected and which panel is in front: a step may wait for it."""
        window, controller = self._context.window, self._controller
        collector, now_ns = controller.collectors.lesson, controller.source.end_ns
        if self._context.views.selected:
            collector.selected(self._context.views.selected, now_ns)
        if window.shows_panels:
            collector.did(f"show_{window.shown_tab()}", now_ns)
            panel = window.panel(window.shown_tab())
            if isinstance(panel, TablePanel) and panel.selected_count():
                collector.selected(f"row:{panel.info.name}", now_ns)
        self._keep(self._kept | collector.done_texts())

    def _keep(self, done: frozenset[str]) -> None:
        if done != self._kept:
            self._kept, settings = done, self._context.settings
            settings.lessons = {**settings.lessons, self._name: done}

    def _did(self, command: str) -> None:
        controller = self._controller
        if controller.stored is None:
            controller.collectors.lesson.did(command, controller.source.end_ns)

    def _toggle(self) -> None:
        self._panel.foldWanted.emit(not self._panel.is_folded)
        if not self._panel.is_folded:
            self._context.window.open_right(True)

    def open_next(self) -> None:
        assert self._next is not None
        self._context.open_scenario(self._next)

    def start_over(self) -> None:
        def restart() -> None:
            self._keep(frozenset())
            self._context.attempt(self._controller.restart)

        self._context.leaving.then(restart)

    def help_with_step(self, number: int) -> bool:
        """Draw a ring around what a step points at; False if it is nowhere, and the status bar says so.

        A step that can no longer be done needs another beginning.
        """
        if self._panel.facts is not None and self._panel.facts.steps[number].cannot:
            return self._context.registry.trigger("lesson_over")
        steps = self._controller.collectors.lesson.steps
        at = steps[number].point_at if steps else None
        if at is None:
            return False
        found = self._context.window.ring.show_at(self._place(at))
        if not found:
            self._context.show_message(self._where_in_words(at))
        return found

    def _place(self, at: PointAt) -> Place:
        window, canvas = self._context.window, self._context.canvas
        if at.command:
            action = self._context.registry.action(at.command)
            return lambda: window.place_of_action(action)
        if at.panel:
            return lambda: window.place_of_tab(at.panel)

        if at.object == "timeline":
            return lambda: QRect(window.timeline.mapTo(window, QPoint()), window.timeline.size())

        def on_canvas() -> QRect | None:
            where = canvas.place_of(at.object)
            viewport = canvas.viewport()
            return None if where is None else QRect(viewport.mapTo(window, QPoint(where.topLeft())), where.size())

        return on_canvas

    def _where_in_words(self, at: PointAt) -> str:
        if at.object:
            return tr("{name} is not on the canvas now.", name=at.object.partition(":")[2] or at.object)
        if at.panel:
            return tr(
                "The panel {name} is hidden; show it with View > Panels.",
                name=self._context.window.panel(at.panel).title,
            )
        return tr(
            "The command is in the palette (Ctrl+P): {name}", name=self._context.registry.action(at.command).text()
        )


def _beside(path: Path | None) -> Iterable[Path]:
    """Where the next lesson may be: beside the scenario, else among those that come with the program."""
    beside = [] if path is None else sorted(path.resolve().parent.glob("*.y*ml"))
    return (*beside, *shipped_scenarios())


def window_names(commands: Iterable[Command], scenario: Path | None = None) -> WindowNames:
    """Names that a lesson may use: these commands, the panels, and the scenarios next to it or bundled with the
    program."""
    return WindowNames(
        frozenset(command.id for command in commands),
        frozenset(panel.name for panel in PANELS),
        frozenset(path.stem for path in _beside(scenario)),
    )
