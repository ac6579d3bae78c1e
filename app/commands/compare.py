from __future__ import annotations

from pathlib import Path

from app.commands.audit import work_out
from app.commands.context import CommandContext, Handlers
from app.commands.recordings import line_of
from app.presenters.comparison import comparison
from app.sessions.compare import figures_of
from app.sessions.jobs import Work
from app.sessions.library import Entry, Library
from app.sessions.stored import origin_of
from broker_core.errors import BrokerError
from broker_core.recording.metadata import read_metadata
from broker_core.recording.recorder import Recorder
from widgets.dialogs.choose_session import ChooseSessionDialog
from widgets.dialogs.facts_table import FactsTable
from widgets.i18n import tr


class CompareHandlers(Handlers):
    def __init__(self, context: CommandContext) -> None:
        super().__init__(context)
        self._library = Library(context.controller.sessions)
        context.registry.bind("compare_last", self._compare_last, context.why_not_recorded)
        context.registry.bind("compare", self._choose)

    def last(self) -> Entry | None:
        """The run before the present one: what it branched from, else the last of the same scenario."""
        folder, scenario = self._controller.source.folder, self._controller.source.scenario
        if folder is None or scenario is None:
            return None
        before = [entry for entry in self._library.entries() if entry.folder.resolve() != folder.resolve()]
        try:
            origin = origin_of(read_metadata(folder))
        except BrokerError:
            origin = ""
        same = next((entry for entry in before if entry.title == scenario.title), None)
        return next((entry for entry in before if entry.folder.name == origin), same)

    def _compare_last(self) -> None:
        entry, folder = self.last(), self._controller.source.folder
        if entry is None or folder is None:
            # Not every recording can be started again.
            self._context.show_message(
                tr("There is no other recorded run of this scenario yet.")
                if self._context.why_not_simulated()
                else tr("There is no other recorded run of this scenario yet. Start it again (Ctrl+R), then compare.")
            )
            return
        self.compare(folder, entry.folder)

    def _choose(self) -> None:
        dialog = ChooseSessionDialog(
            tr("Compare two sessions"),
            tr("Select two of them (with Ctrl). The upper one is compared with the lower one."),
            [line_of(entry) for entry in self._library.entries()],
            button=tr("Compare"),
            many=2,
            browse=False,
            parent=self._context.window,
        )
        dialog.chosen.connect(lambda keys: self.compare(Path(keys[0]), Path(keys[1])))
        dialog.open()

    def compare(self, one: Path, other: Path) -> None:
        recorder = self._recorder_of(one), self._recorder_of(other)

        def work(job: Work) -> FactsTable:
            mine = figures_of(one, job, (0.0, 0.5), recorder[0])
            return comparison(mine, figures_of(other, job, (0.5, 1.0), recorder[1]))

        title = tr("Compare {one} with {other}", one=one.name, other=other.name)
        work_out(self._context, title, tr("Comparing..."), work)

    def _recorder_of(self, folder: Path) -> Recorder | None:
        return self._controller.recorder if self._controller.source.folder == folder else None
