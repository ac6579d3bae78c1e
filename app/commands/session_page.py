from __future__ import annotations

import time
from functools import partial
from pathlib import Path

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices

from app.commands.context import CommandContext, Handlers
from app.commands.forms import form_of
from app.pages.moments import HOSTS, KEYS, PagePart
from app.pages.page import SUFFIX, WrittenPage, share
from app.sessions.work import Work
from broker_core.clock import s_from_ns
from widgets.dialogs.form import Values
from widgets.formats import byte_size
from widgets.hint_bar import Notice
from widgets.i18n import tr

_BREATH_S = 0.001  # between two moments, for the window to draw


class SessionPageHandlers(Handlers):
    def __init__(self, context: CommandContext) -> None:
        super().__init__(context)
        context.registry.bind("session_page", self._ask, self._why_not)

    def _why_not(self) -> str:
        nothing = "" if self._controller.source.end_ns else tr("Nothing has happened yet.")
        return self._context.why_not_recorded() or nothing

    def _ask(self) -> None:
        end_s = s_from_ns(self._controller.source.end_ns)
        form = form_of("session_page", {"from_s": {"most": end_s}, "to_s": {"value": end_s, "most": end_s}})
        backwards = tr("The end is before the beginning.")
        dialog = form.dialog(self._context.window, lambda v: backwards if v["from_s"] > v["to_s"] else "")
        dialog.chosen.connect(self._ask_target)
        dialog.open()

    def _ask_target(self, values: Values) -> None:
        folder = self._controller.source.folder
        assert folder is not None
        proposed = Path.home() / f"{folder.name}{SUFFIX}"
        if target := self._context.ask_target(tr("Session as a page"), proposed, tr("Pages (*.html)")):
            without = tuple(name for name in (KEYS, HOSTS) if not values[name])
            # Up to the end is up to the last event, which a field of tenths may miss.
            to_s = None if values["to_s"] >= round(s_from_ns(self._controller.source.end_ns), 1) else values["to_s"]
            self.make(target, PagePart(values["from_s"], to_s, without))

    def make(self, target: Path, wanted: PagePart) -> None:
        """Write the page, as a job; of a session that is being recorded, as far as it has come."""
        folder = self._controller.source.folder
        assert folder is not None
        recorder = self._controller.recorder

        def work(work: Work) -> WrittenPage:
            if recorder is not None:
                recorder.flush()

            def report(done: float, message: str) -> None:
                work.report(done, message)
                time.sleep(_BREATH_S)

            return share(folder, target, wanted, report)

        self._context.jobs.work(tr("Page of {name}", name=folder.name), work, self._told)
        self._context.show_message(tr("Making the page {target}.", target=target))

    def _told(self, made: WrittenPage) -> str:
        sentence = tr("Written to {path}, {size}.", path=made.path, size=byte_size(made.size_bytes))
        if made.problems:
            sentence = f"{sentence} {tr('The recording is incomplete: {problem}', problem=made.problems[0])}"
        opens = partial(QDesktopServices.openUrl, QUrl.fromLocalFile(str(made.path.absolute())))
        self._context.window.hint.show_notice(Notice(sentence, tr("Open it"), opens))
        return sentence
