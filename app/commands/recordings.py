from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from PySide6.QtCore import QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFileDialog

from app.commands.context import CommandContext, Handlers
from app.commands.forms import form_of
from app.environment.paths import drafts_folder
from app.pages.moments import HOSTS, KEYS, PagePart
from app.pages.page import SUFFIX, WrittenPage, share
from app.sessions.cleaning import Cleaned, Limits, clean, keep
from app.sessions.export import RecordedRun, save_scenario, save_test
from app.sessions.jobs import Work
from app.sessions.library import Entry, Library
from app.sessions.stored import StoredSession
from broker_core.clock import s_from_ns
from broker_core.errors import BrokerError
from broker_core.recording.copying import copy_session
from broker_core.recording.reader import seal
from widgets.dialogs.choose_session import ChooseSessionDialog, SessionLine
from widgets.dialogs.form import Values
from widgets.formats import byte_size
from widgets.hint_bar import Notice
from widgets.i18n import mark, tr

T = TypeVar("T")

MIB = 1 << 20


class CleaningHandlers(Handlers):
    """`cleaned(Cleaned)` after each look, also if nothing was removed."""

    cleaned = Signal(object)

    def __init__(self, context: CommandContext) -> None:
        super().__init__(context)
        self._parent = Library(context.controller.sessions).parent
        self.cleaned.connect(self._say)
        context.controller.opened.connect(self._look)

    def _look(self) -> None:
        """Clean up old recordings, only in a folder where this program has begun a recording."""
        controller, settings = self._context.controller, self._context.settings
        if controller.source.folder is None or controller.stored is not None:
            return
        spared = {Path(name).resolve() for name in (str(controller.source.folder), *settings.recent_sessions)}
        limits = Limits(settings.recordings_most, settings.recordings_mib * MIB)
        self._answers.work("cleaning", partial(clean, self._parent, limits, spared), self.cleaned.emit)

    def _say(self, done: Cleaned) -> None:
        if not done.recordings:
            return
        size = byte_size(done.size_bytes)
        told = (
            tr("Removed a recording ({size}) that was never named, bookmarked or opened.", size=size)
            if done.recordings == 1
            else tr(
                "Removed {count:,} recordings ({size}) that were never named, bookmarked or opened.",
                count=done.recordings,
                size=size,
            )
        )
        self._context.show_message(told)


MOST_RECENT = 20

_DRAW_PAUSE_S = 0.001  # between two moments, for the window to draw


class RecordingHandlers(Handlers):
    def __init__(self, context: CommandContext) -> None:
        super().__init__(context)
        self.library = Library(context.controller.sessions)
        bind = context.registry.bind
        bind("open_session", self._choose)
        bind("save_copy", self._ask_target, context.why_not_recorded)
        bind("save_scenario", self._ask_scenario, self._why_no_export)
        bind("save_test", self._ask_test, self._why_no_export)
        bind("record", self._toggle_record)
        context.registry.set_checked("record", context.controller.record)
        context.controller.opened.connect(lambda: context.registry.set_checked("record", context.controller.record))
        bind("session_page", self._ask_page, self._why_no_page)

    def _choose(self) -> None:
        opened = [Path(name) for name in self._context.settings.recent_sessions]
        lines = [line_of(entry) for entry in self.library.entries(opened)]
        dialog = ChooseSessionDialog(
            tr("Open session"),
            tr("Sessions in {parent}, the newest first.", parent=self.library.parent),
            lines,
            parent=self._context.window,
        )
        dialog.chosen.connect(lambda keys: self._leave_for(Path(keys[0])))
        dialog.browseRequested.connect(self._browse)
        dialog.open()

    def _browse(self) -> None:
        found = QFileDialog.getExistingDirectory(self._context.window, tr("Open session"), str(self.library.parent))
        if found:
            self._leave_for(Path(found))

    def _leave_for(self, folder: Path) -> None:
        self._context.leaving.then(partial(self.open, folder))

    def open(self, folder: Path, at_ns: int = 0) -> bool:
        def call() -> None:
            self.tell(self._controller.open_session(folder, at_ns))

        done = self._context.attempt(call)
        if done:
            self._remember(folder)
        return done

    def tell(self, stored: StoredSession) -> None:
        """Say what was opened, and what is missing of it."""
        self._context.show_message(stored.summary())
        if stored.problems:
            self._context.window.hint.show_notice(Notice(" ".join(stored.problems), look="problem"))

    def _remember(self, folder: Path) -> None:
        keep(folder)
        settings = self._context.settings
        others = [name for name in settings.recent_sessions if name != str(folder)]
        settings.recent_sessions = (str(folder), *others)[:MOST_RECENT]

    def offer_left_open(self) -> None:
        left = self.library.left_open()
        if not left:
            return
        newest = left[0]
        more = tr(" So were {count} others.", count=len(left) - 1) if len(left) > 1 else ""
        self._context.window.hint.show_notice(
            Notice(
                tr(
                    "{title}, started {started}, was still open when the program died.{more}",
                    title=tr(newest.title),
                    started=newest.started,
                    more=more,
                ),
                tr("Open it"),
                partial(self._leave_for, newest.folder),
                partial(self._close_all, [entry.folder for entry in left]),
            )
        )

    def _close_all(self, folders: list[Path]) -> None:
        def close(work: Work) -> int:
            sealed = 0
            for place, folder in enumerate(folders):
                work.report(place / len(folders), folder.name)
                with contextlib.suppress(BrokerError):  # the error is shown when the session is opened
                    seal(folder)
                    sealed += 1
            return sealed

        self._context.jobs.work(
            tr("Closing interrupted recordings"),
            close,
            lambda count: tr("Closed {count}; they can be opened.", count=count),
        )

    def _ask_target(self) -> None:
        folder = self._controller.source.folder
        assert folder is not None
        if target := self._context.ask_target(tr("Save session as"), Path.home() / folder.name):
            self.save_copy(target)

    def save_copy(self, target: Path) -> None:
        def copy(folder: Path, work: Work) -> Path:
            return copy_session(folder, target, lambda part, name: work.report(part, tr("Copying {name}", name=name)))

        self._context.show_message(tr("Copying the session to {target}.", target=target))
        self._job(mark("Copy of {name}"), copy, lambda path: tr("Copied to {path}", path=path))

    def _job(self, title: str, do: Callable[[Path, Work], T], told: Callable[[T], str], **more: Any) -> None:
        """A job on the session's folder; of a session that is being recorded, as far as it has come."""
        folder, recorder = self._controller.source.folder, self._controller.recorder
        assert folder is not None
        keep(folder)

        def work(work: Work) -> T:
            if recorder is not None:
                recorder.flush()
            return do(folder, work)

        self._context.jobs.work(tr(title, name=folder.name), work, told, **more)

    def _why_no_export(self) -> str:
        if self._controller.source.scenario is None:
            return tr("No session is open.")
        why = self._controller.source.why_no_branch()
        return why and tr("{why} Save its recording (Ctrl+S) or a page of it (Ctrl+Shift+H) instead.", why=why)

    def _ask_scenario(self) -> None:
        drafts_folder().mkdir(parents=True, exist_ok=True)
        proposed = drafts_folder() / f"{self._name()}.yaml"
        if target := self._context.ask_target(tr("Save as scenario"), proposed, tr("Scenarios (*.yaml)")):
            self.export(target, save_scenario)

    def _ask_test(self) -> None:
        proposed = Path.home() / f"test_{self._name('_')}.py"
        if target := self._context.ask_target(tr("Save as test"), proposed, tr("Tests (*.py)")):
            self.export(target, save_test)

    def _name(self, between: str = "-") -> str:
        scenario = self._controller.source.scenario
        title = "session" if scenario is None else scenario.title
        return re.sub(r"[^a-z0-9]+", between, title.lower()).strip(between) or "session"

    def export(self, target: Path, save: Callable[[RecordedRun, Path, Work], Path]) -> None:
        """Write the session as a scenario or a test, as a job: it is run again first, to verify the result."""
        controller = self._controller
        assert controller.path is not None
        inputs = controller.source.inputs()
        run = RecordedRun(inputs.text, inputs.seed, inputs.actions, controller.source.end_ns, controller.path)
        if controller.source.folder is not None:
            keep(controller.source.folder)

        def told(at: Path) -> str:
            said = tr("Saved {at}", at=at)
            self._context.show_message(said)
            return said

        self._context.jobs.work(tr("Save {name}", name=target.name), lambda work: save(run, target, work), told)
        self._context.show_message(tr("Rerunning the session to save {name}...", name=target.name))

    def _toggle_record(self) -> None:
        controller = self._controller
        controller.record = self._context.registry.action("record").isChecked()
        recorded = controller.source.folder is not None and not controller.time.stopped
        if controller.record:
            can_be = not recorded and controller.simulated is not None
            this = "" if not can_be else tr(" This one is not: branch here (Ctrl+B) to rerun and record it up to now.")
            self._context.show_message(tr("New sessions are recorded.{this}", this=this))
        else:
            this = tr(" This one will still be recorded to its end.") if recorded else ""
            self._context.show_message(tr("New sessions are not recorded.{this}", this=this))

    def _why_no_page(self) -> str:
        nothing = "" if self._controller.source.end_ns else tr("Nothing has happened yet.")
        return self._context.why_not_recorded() or nothing

    def _ask_page(self) -> None:
        end_s = s_from_ns(self._controller.source.end_ns)
        form = form_of("session_page", {"from_s": {"most": end_s}, "to_s": {"value": end_s, "most": end_s}})
        empty = tr("The part of the session is empty: its end must be after its beginning.")
        dialog = form.dialog(self._context.window, lambda v: empty if v["from_s"] >= v["to_s"] else "")
        dialog.chosen.connect(self._ask_page_target)
        dialog.open()

    def _ask_page_target(self, values: Values) -> None:
        folder = self._controller.source.folder
        assert folder is not None
        proposed = Path.home() / f"{folder.name}{SUFFIX}"
        if target := self._context.ask_target(tr("Session as a page"), proposed, tr("Pages (*.html)")):
            without = tuple(name for name in (KEYS, HOSTS) if not values[name])
            # Up to the end is up to the last event, which a field of tenths may miss.
            to_s = None if values["to_s"] >= round(s_from_ns(self._controller.source.end_ns), 1) else values["to_s"]
            self.make_page(target, PagePart(values["from_s"], to_s, without))

    def make_page(self, target: Path, wanted: PagePart) -> None:
        def write(folder: Path, work: Work) -> WrittenPage:
            def report(done: float, message: str) -> None:
                work.report(done, message)
                time.sleep(_DRAW_PAUSE_S)

            return share(folder, target, wanted, report)

        self._context.show_message(tr("Making the page {target}.", target=target))
        self._job(mark("Page of {name}"), write, self._page_told, opens=lambda made: made.path.absolute())

    def _page_told(self, made: WrittenPage) -> str:
        sentence = tr("Written to {path}, {size}.", path=made.path, size=byte_size(made.size_bytes))
        if made.problems:
            sentence = f"{sentence} {tr('The recording is incomplete: {problem}', problem=made.problems[0])}"
        opens = partial(QDesktopServices.openUrl, QUrl.fromLocalFile(str(made.path.absolute())))
        self._context.window.hint.show_notice(Notice(sentence, tr("Open it"), opens))
        return sentence


def line_of(entry: Entry) -> SessionLine:
    texts = (entry.title, entry.started, entry.lasted, entry.end, str(entry.folder))
    return SessionLine(str(entry.folder), texts)
