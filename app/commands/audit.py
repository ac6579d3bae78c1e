from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from PySide6.QtCore import QObject

from app.commands.context import CommandContext, Handlers
from app.sessions.audit import audit, table_of
from app.sessions.jobs import Job, Work
from broker_core.events import Event
from broker_core.recording.playback import FolderPlayback
from widgets.dialogs.facts_table import FactsTable, FactsTableDialog
from widgets.i18n import tr


class AuditHandlers(Handlers):
    def __init__(self, context: CommandContext) -> None:
        super().__init__(context)
        context.registry.bind("audit", self._ask, self._why_not)

    def _why_not(self) -> str:
        if self._controller.source.scenario is None:
            return tr("No session is open.")
        if not self._controller.source.knows("beginning"):
            return tr("This session began in the middle: what was published before is not known.")
        if self._controller.source.folder is None and self._controller.collectors.events.first_seq > 0:
            return tr("This session is not recorded, and its first events are no longer in memory.")
        return ""

    def _ask(self) -> None:
        snapshot, scenario = self._controller.snapshot, self._controller.source.scenario
        assert scenario is not None
        events, source = self._events(snapshot.events), self._controller.source
        more: dict[str, Any] = {"unseen_seeks": source.outside_clients, "problems": source.missing_events}
        work_out(
            self._context,
            tr("Was anything lost?"),
            tr("Checking every message..."),
            lambda work: table_of(audit(events(), snapshot, scenario, work, **more)),
        )

    def _events(self, count: int) -> Callable[[], Iterable[Event]]:
        folder, recorder = self._controller.source.folder, self._controller.recorder
        if folder is None:
            return partial(self._controller.collectors.events.between, 0, count)
        return lambda: FolderPlayback(folder, recorder).events(0, count - 1)


def work_out(context: CommandContext, title: str, beginning: str, work: Callable[[Work], FactsTable]) -> None:
    """Do `work` as a job, showing its progress in a dialog and then its result. Closing the dialog does not cancel the
    job.
    """
    dialog = FactsTableDialog(title, beginning, context.window)
    job = context.jobs.work(title, work, lambda found: found.sentence)
    job.changed.connect(_Follower(job, dialog).follow)
    dialog.open()


class _Follower(QObject):
    """A child of the dialog: Qt ends the connection with whichever of job and dialog goes first."""

    def __init__(self, job: Job, dialog: FactsTableDialog) -> None:
        super().__init__(dialog)
        self._job, self._dialog = job, dialog

    def follow(self) -> None:
        told = self._job.facts
        if told.progress is not None:
            self._dialog.set_progress(told.progress)
        if told.state == "Done":
            self._dialog.set_facts(self._job.result)
        elif told.state in {"Failed", "Cancelled"}:
            self._dialog.set_facts(FactsTable(told.message, state="failure"))
