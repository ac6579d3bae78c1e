"""What every command does: the registry's entries bound to the player, the panels and the dialogs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QPoint, QUrl
from PySide6.QtGui import QAction, QDesktopServices
from PySide6.QtWidgets import QFileDialog, QMenu

from app.actions import ActionRegistry
from app.jobs import Jobs, ReportJob
from app.player import Player
from app.view_models.ghost import ghost
from app.view_models.moves import current_group, group_name_error, move_choices
from app.view_models.views import Views
from broker_core.engine.runner import Mode
from broker_core.errors import BrokerError
from broker_core.lab.actions import MoveConsumer, Redrive
from broker_core.lab.arrivals import ArrivalError
from broker_core.lab.scenario import ScenarioError
from widgets.canvas.canvas import Canvas
from widgets.canvas.view import NEW_GROUP
from widgets.dialogs.export_report import ExportReportDialog
from widgets.dialogs.move_to_group import MoveToGroupDialog
from widgets.main_window import MainWindow
from widgets.palette import CommandPalette

ENDED = "The session has ended. Start it again (Ctrl+R) to change it."


class Handlers(QObject):
    """Binds the commands of `registry`. Errors and results are told by `window.status.say`."""

    def __init__(
        self, registry: ActionRegistry, window: MainWindow, canvas: Canvas, views: Views, player: Player, jobs: Jobs
    ) -> None:
        super().__init__(window)
        self._registry, self._window, self._canvas = registry, window, canvas
        self._views, self._player, self._jobs = views, player, jobs
        self._open_when_finished: set[str] = set()
        self._palette = CommandPalette(window)
        self._palette.chosen.connect(registry.trigger)
        self._bind_session()
        self._bind_consumers()
        self._bind_dead_letters()
        self._bind_report()
        self._bind_view()

    # -- time

    def _bind_session(self) -> None:
        bind, player = self._registry.bind, self._player
        bind("restart", self._restart)
        bind("pause", self._pause, self._why_ended)
        bind("step", player.step, self._why_ended)
        bind("run", player.run, self._why_ended)
        bind("fast", player.run_fast, self._why_ended)
        bind("express", player.express, self._why_ended)
        bind("stop", player.stop, lambda: "The session has ended already." if player.stopped else "")
        bind("open_scenario", self._open_scenario)
        bind("open_session_folder", self._open_folder, lambda: "" if player.folder else "This session is not recorded.")
        bind("quit", self._window.close)
        self._window.toolbar.speedChosen.connect(self._choose_speed)

    def _why_ended(self) -> str:
        if self._player.scenario is None:
            return "No session is open."
        over = self._player.stopped or self._player.status.mode in {Mode.FINISHED, Mode.FAILED}
        return ENDED if over else ""

    def _pause(self) -> None:
        """Space both stops time and lets it go on."""
        if self._player.moving:
            self._player.pause()
        else:
            self._player.run()

    def _choose_speed(self, speed: float) -> None:
        self._player.speed = speed
        if self._player.moving:
            self._player.run(speed)

    def _restart(self) -> None:
        self._try(self._player.restart)

    def _open_scenario(self) -> None:
        found, _ = QFileDialog.getOpenFileName(self._window, "Open scenario", "", "Scenarios (*.yaml *.yml)")
        if found:
            self.open(Path(found))

    def open(self, path: Path) -> None:
        """Open another scenario and let it run; where it cannot be opened, the present one stays."""
        if self._try(lambda: self._player.open(path)):
            self._player.run()

    def _try(self, call: Callable[[], object]) -> bool:
        try:
            call()
        except (ScenarioError, ArrivalError, BrokerError, OSError) as error:
            self._player.failed.emit(str(error))
            return False
        return True

    def _open_folder(self) -> None:
        if self._player.folder is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._player.folder)))

    # -- consumers

    def _bind_consumers(self) -> None:
        canvas = self._canvas
        canvas.consumerDropped.connect(self.move)
        canvas.consumerDroppedOnEmpty.connect(lambda consumer: self.ask_where(consumer, NEW_GROUP))
        canvas.moveRequested.connect(self.ask_where)
        canvas.ghostRequested.connect(self._show_ghost)
        canvas.selected.connect(self._select)
        canvas.contextMenuRequested.connect(self._canvas_menu)
        self._registry.bind("move_consumer", lambda: self.ask_where(self._consumer()), self._why_no_consumer)
        self._registry.bind("bench_consumer", lambda: self.move(self._consumer(), ""), self._why_not_bench)

    def _show_ghost(self, consumer: str, target: str) -> None:
        ended = self._why_ended()
        shown = ended or ghost(self._player.snapshot, self._views.owners, consumer, target)
        self._canvas.set_ghost(shown)

    def _consumer(self) -> str:
        """The selected consumer; "" where something else, or nothing, is selected."""
        kind, _, name = self._views.selected.partition(":")
        return name if kind == "consumer" else ""

    def _why_no_consumer(self) -> str:
        return self._why_ended() or ("" if self._consumer() else "Select a consumer on the canvas first.")

    def _why_not_bench(self) -> str:
        why = self._why_no_consumer()
        if why or current_group(self._player.snapshot, self._consumer()):
            return why
        return f"{self._consumer()} is on the bench already."

    def _select(self, selected: str) -> None:
        self._views.select(selected)
        self._registry.refresh("move_consumer", "bench_consumer")

    def move(self, consumer: str, group: str) -> None:
        """Move `consumer` to `group`; "" is the bench."""
        if why := self._why_ended():
            self._window.status.say(why)
        else:
            self._player.perform(MoveConsumer(consumer, group))

    def ask_where(self, consumer: str, target: str = "") -> None:
        """The dialog that every drag has as its twin."""
        if why := self._why_ended():
            self._window.status.say(why)
            return
        snapshot = self._player.snapshot
        choices = move_choices(snapshot, consumer)
        taken = {group.name for group in snapshot.groups}

        def name_error(name: str) -> str:
            return f"There is a group {name} already." if name in taken else group_name_error(name)

        dialog = MoveToGroupDialog(consumer, choices, name_error, self._window)
        dialog.ghostRequested.connect(
            lambda who, where: dialog.set_ghost(ghost(self._player.snapshot, self._views.owners, who, where))
        )
        dialog.chosen.connect(self.move)
        if target == NEW_GROUP:
            dialog.choose(NEW_GROUP)
        dialog.open()

    def _canvas_menu(self, clicked: str, at: QPoint) -> None:
        kind, _, name = clicked.partition(":")
        menu = QMenu(self._window)
        menu.setObjectName("canvas_menu")
        menu.setToolTipsVisible(True)
        self._select(clicked)
        if kind == "consumer":
            self._add_moves(menu, name)
            menu.addSeparator()
            menu.addAction(self._registry.action("move_consumer"))
        elif kind in {"queue", "dlq"}:
            menu.addAction(self._registry.action("redrive_all"))
            menu.addAction(self._registry.action("show_dead_letters"))
            menu.addAction(self._registry.action("show_in_flight"))
        elif kind in {"topic", "lane", "producer"}:
            menu.addAction(self._registry.action("show_offsets"))
            menu.addAction(self._registry.action("show_backpressure"))
        elif kind == "group":
            menu.addAction(self._registry.action("show_assignments"))
            menu.addAction(self._registry.action("show_offsets"))
        else:
            for command in ("zoom_in", "zoom_out", "zoom_fit"):
                menu.addAction(self._registry.action(command))
        menu.popup(at)
        menu.aboutToHide.connect(menu.deleteLater)

    def _add_moves(self, menu: QMenu, consumer: str) -> None:
        ended = self._why_ended()
        for choice in move_choices(self._player.snapshot, consumer):
            if choice.target == NEW_GROUP:
                continue
            action = QAction(f"Move to {choice.target or 'the bench'}", menu)
            action.setEnabled(not (choice.reason or ended))
            action.setToolTip(choice.reason or ended or choice.about)
            action.triggered.connect(partial(self._move_from_menu, consumer, choice.target))
            menu.addAction(action)

    def _move_from_menu(self, consumer: str, group: str, _checked: bool = False) -> None:
        self.move(consumer, group)

    # -- dead letters

    def _bind_dead_letters(self) -> None:
        panel = self._window.parts.dead_letters
        panel.redriveRequested.connect(self.redrive)
        self._registry.bind("redrive_selected", panel.redrive_selected, panel.why_not_selected)
        self._registry.bind("redrive_all", panel.redrive_all, panel.why_not_all)
        panel.selectionChanged.connect(lambda _count: self._registry.refresh("redrive_selected", "redrive_all"))

    def redrive(self, keys: Sequence[tuple[str, int]]) -> None:
        """Redrive dead letters, each given as (queue, offset in its bin)."""
        if why := self._why_ended():
            self._window.status.say(why)
            return
        by_queue: dict[str, list[int]] = {}
        for queue, offset in keys:
            by_queue.setdefault(queue, []).append(offset)
        for queue, offsets in by_queue.items():
            self._player.perform(Redrive(queue, tuple(sorted(offsets))))

    # -- the report

    def _bind_report(self) -> None:
        self._registry.bind("export_report", self._ask_report, self._why_no_report)
        self._jobs.changed.connect(lambda: self._views.show_jobs(self._jobs.facts()))
        self._jobs.done.connect(self._report_done)
        panel = self._window.parts.jobs
        panel.cancelRequested.connect(self._cancel_job)
        panel.openRequested.connect(self._open_result)

    def _why_no_report(self) -> str:
        if self._player.folder is None:
            return "This session is not recorded."
        return "" if self._player.stopped else "Stop the session first (F8): its recording is sealed then."

    def _ask_report(self) -> None:
        folder = self._player.folder
        assert folder is not None
        dialog = ExportReportDialog(
            str(folder / "report"), f"A report of the session recorded in {folder}.", parent=self._window
        )
        dialog.exportRequested.connect(self._start_report)
        dialog.open()

    def _start_report(self, out: str, open_when_finished: bool) -> None:
        folder = self._player.folder
        assert folder is not None
        job = self._jobs.report(folder, Path(out))
        if open_when_finished:
            self._open_when_finished.add(job.facts.id)
        self._window.show_tab("jobs")

    def _report_done(self, job: ReportJob) -> None:
        self._window.status.say(f"The report is written: {job.page}")
        if job.facts.id in self._open_when_finished:
            self._open_result(job.facts.id)

    def _cancel_job(self, job_id: str) -> None:
        job = self._jobs.find(job_id)
        if job is not None:
            job.cancel()

    def _open_result(self, job_id: str) -> None:
        job = self._jobs.find(job_id)
        if job is not None and job.page is not None and not QDesktopServices.openUrl(QUrl.fromLocalFile(str(job.page))):
            self._window.status.say(f"No program opens web pages here; the report is {job.page}")

    # -- the view

    def _bind_view(self) -> None:
        bind, window, canvas = self._registry.bind, self._window, self._canvas
        bind("filter", window.focus_filter)
        bind("palette", lambda: self._palette.show_entries(self._registry.entries()))
        for tab in ("assignments", "offsets", "in_flight", "dead_letters", "backpressure", "jobs"):
            bind(f"show_{tab}", partial(window.show_tab, tab))
        for name, toggle in (("right", window.toggle_right), ("bottom", window.toggle_bottom)):
            bind(f"toggle_{name}", partial(self._toggle, f"toggle_{name}", toggle))
            self._registry.set_checked(f"toggle_{name}", True)
        bind("zoom_in", canvas.zoom_in)
        bind("zoom_out", canvas.zoom_out)
        bind("zoom_fit", canvas.fit)

    def _toggle(self, command: str, show: Callable[[bool], None]) -> None:
        show(self._registry.action(command).isChecked())
