from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from PySide6.QtCore import QObject

from app.commands.context import CommandContext, Handlers
from app.commands.jobs import Job
from app.sessions.audit import audit, table_of
from app.sessions.work import Work
from broker_core.events import Event
from broker_core.recording.event_index import EventIndex
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
            lambda work: table_of(audit(events(work), snapshot, scenario, work, **more)),
        )

    def _events(self, count: int) -> Callable[[Work], Iterable[Event]]:
        folder, ring, recorder = (
            self._controller.source.folder,
            self._controller.collectors.events,
            self._controller.recorder,
        )
        if folder is None:
            return lambda _work: ring.between(0, count)

        def read(_work: Work) -> Iterable[Event]:
            if recorder is not None:
                recorder.flush()
            return EventIndex(folder, None if recorder is None else recorder.unsealed).events(0, to_seq=count - 1)

        return read


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
