from __future__ import annotations

from functools import partial

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices

import resources
from app.commands.context import CommandContext, Handlers
from app.commands.menus import COMMANDS
from app.presenters.help import about, language, page
from widgets.dialogs.dialog import ReadingDialog
from widgets.hint_bar import Notice
from widgets.i18n import tr

_FOLDER = resources.path("guides")
_HELP = {f"{command.id.removeprefix('help_').replace('_', '-')}.md": command for command in COMMANDS}
#: Files of resources/guides with the commands that show them; some are there in other languages, too.
GUIDES = {name: command for name, command in _HELP.items() if (_FOLDER / name).is_file()}


class HelpHandlers(Handlers):
    def __init__(self, context: CommandContext) -> None:
        super().__init__(context)
        bind = context.registry.bind
        bind("help_panel", self._help_panel)
        bind("help_canvas", self._help_canvas)
        bind("help_filters", lambda: self._read(tr("Filters"), page("filters")))
        for guide, command in GUIDES.items():
            bind(command.id, partial(self._show_guide, guide))
        bind("help_keys", self._show_keys)
        bind("about", lambda: self._read(tr("About Brokerscope"), about()))
        self._hinted = ""
        context.controller.opened.connect(self._hint)
        context.controller.acted.connect(lambda *_args: context.window.hint.take_back(self._hinted))

    def _help_panel(self) -> None:
        window = self._context.window
        if not window.shows_panels:
            self._help_canvas()
            return
        panel = window.panel(window.shown_tab())
        self._read(panel.title, page(panel.info.name))

    def _help_canvas(self) -> None:
        self._read(tr("Canvas"), page("canvas"))

    def _read(self, title: str, markdown: str) -> None:
        ReadingDialog(title, f"## {title}\n\n{markdown}", self._context.window).open()

    def _show_guide(self, name: str) -> None:
        own = _FOLDER / name.replace(".md", f".{language()}.md")
        text = (own if own.is_file() else _FOLDER / name).read_text(encoding="utf-8")
        dialog = ReadingDialog(tr(GUIDES[name].title), text, self._context.window, wide=True)
        dialog.page.anchorClicked.connect(self._follow)
        dialog.open()

    def _follow(self, link: QUrl) -> None:
        if link.fileName().endswith(".html"):
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(resources.path("pictures", link.fileName()))))
        else:
            self._show_guide(link.fileName())

    def _show_keys(self) -> None:
        rows = [f"| {tr('Menu')} | {tr('Command')} | {tr('Keys')} |", "|---|---|---|"]
        rows += [
            f"| {entry.category} | {entry.title} | {entry.shortcut} |"
            for entry in self._context.registry.entries()
            if entry.shortcut
        ]
        self._read(tr("Keys"), "\n".join(rows))

    def _hint(self) -> None:
        scenario, context = self._context.controller.source.scenario, self._context
        context.window.hint.clear()
        if not context.settings.hints or scenario is None or scenario.lesson or not scenario.try_:
            return
        context.settings.hints = False
        self._hinted = tr("Try this first: {what}", what=scenario.try_[0])
        context.window.hint.show_notice(
            Notice(self._hinted, tr("More scenarios..."), lambda: context.registry.trigger("pick_scenario"))
        )
