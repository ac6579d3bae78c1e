from __future__ import annotations

from collections.abc import Callable, Iterable

from PySide6.QtCore import QObject

from app.commands.context import CommandContext, Handlers
from app.commands.jobs import WorkJob
from app.commands.registry import Command
from app.sessions.audit import Audit, audit, table_of
from app.sessions.work import Work
from broker_core.events import Event
from broker_core.recording.event_index import EventIndex
from widgets.dialogs.facts_table import FactsTable, FactsTableDialog
from widgets.i18n import tr


class AuditHandlers(Handlers):
    COMMANDS = (
        Command("audit", "Was anything lost?", "Session", "Ctrl+Shift+L", "check", "Accounts for every message."),
    )

    def __init__(self, context: CommandContext) -> None:
        super().__init__(context)
        context.registry.bind("audit", self._ask, self._why_not)

    def _why_not(self) -> str:
        if self._controller.scenario is None:
            return tr("No session is open.")
        if not self._controller.knows("beginning"):
            return tr("This session began in the middle: what was published before it is not known.")
        if self._controller.folder is None and self._controller.events.first_seq > 0:
            return tr("This session is not recorded, and its first events are not in memory any more.")
        return ""

    def _ask(self) -> None:
        snapshot, scenario = self._controller.snapshot, self._controller.scenario
        assert scenario is not None
        events, outside = self._events(snapshot.events), self._controller.outside_clients
        dialog = FactsTableDialog(tr("Was anything lost?"), tr("Accounting for every message..."), self._context.window)
        job = self._context.jobs.work(
            tr("Was anything lost?"),
            lambda work: audit(events(work), snapshot, scenario, work, unseen_seeks=outside),
            lambda found: table_of(found).sentence,
        )
        show_when_done(job, dialog, lambda found: table_of(found) if isinstance(found, Audit) else None)
        dialog.open()

    def _events(self, count: int) -> Callable[[Work], Iterable[Event]]:
        folder, ring, recorder = self._controller.folder, self._controller.events, self._controller.recorder
        if folder is None:
            return lambda _work: ring.between(0, count)

        def read(_work: Work) -> Iterable[Event]:
            if recorder is not None:
                recorder.flush()
            return EventIndex(folder, None if recorder is None else recorder.unsealed).events(0, to_seq=count - 1)

        return read


def show_when_done(job: WorkJob, dialog: FactsTableDialog, facts: Callable[[object], FactsTable | None]) -> None:
    """Show the progress of `job` in `dialog`, then its result; closing the dialog does not end the job."""
    follower = _Follower(job, dialog, facts)
    job.changed.connect(follower.follow)


class _Follower(QObject):
    """A child of the dialog: Qt ends the connection with whichever of job and dialog goes first."""

    def __init__(self, job: WorkJob, dialog: FactsTableDialog, facts: Callable[[object], FactsTable | None]) -> None:
        super().__init__(dialog)
        self._job, self._dialog, self._facts = job, dialog, facts

    def follow(self) -> None:
        told = self._job.facts
        if told.progress is not None:
            self._dialog.set_progress(told.progress)
        found = self._facts(self._job.result) if told.state == "Done" else None
        if found is not None:
            self._dialog.set_facts(found)
        elif told.state in {"Failed", "Cancelled"}:
            self._dialog.set_facts(FactsTable(told.message, state="failure"))
