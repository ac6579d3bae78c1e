from __future__ import annotations

from functools import partial

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices

import resources
from app.commands.context import CommandContext, Handlers
from app.commands.registry import Command
from app.presenters.help import CANVAS, FILTERS, about
from widgets.dialogs.reading import ReadingDialog
from widgets.hint_bar import Notice
from widgets.i18n import mark, tr

# Files of resources/guides. A name is translated: each language has its own file.
GUIDES = {
    mark("window.md"): Command(
        "help_window", "The window", "Help", "", "help", "Canvas, panels, time, sessions, keys."
    ),
    mark("command-line.md"): Command(
        "help_command_line", "The command line", "Help", "", "command", "Every command, reports, exit codes."
    ),
    mark("attach.md"): Command(
        "help_attach", "Attach", "Help", "", "running", "The window on a broker that runs elsewhere."
    ),
    mark("library.md"): Command(
        "help_library", "The library", "Help", "", "layers", "A broker in your own process; actors; packages."
    ),
    mark("kafka.md"): Command(
        "help_kafka", "Kafka clients", "Help", "", "group", "What they can do here, and which faults you can give them."
    ),
    mark("http.md"): Command(
        "help_http", "HTTP", "Help", "", "message", "The broker for any program that speaks HTTP."
    ),
    mark("testing.md"): Command(
        "help_testing", "Testing programs", "Help", "", "check", "Recipes for tests with a broker."
    ),
    mark("testing-api.md"): Command(
        "help_testing_api", "Classes for tests", "Help", "", "layers", "Every public class and method of the test kit."
    ),
}
REFERENCE = "testing-reference.md"


class HelpHandlers(Handlers):
    COMMANDS = (
        Command("help_panel", "Help for this panel", "Help", "F1", "help", "Explains the open panel, or the canvas."),
        Command(
            "help_canvas",
            "Help for the canvas",
            "Help",
            "Shift+F1",
            "help",
            "What the canvas shows, and how to use it.",
        ),
        Command("help_filters", "Filters", "Help", "", "filter", "The language of all filters."),
        *GUIDES.values(),
        Command(
            "help_testing_reference",
            "Testing reference",
            "Help",
            "",
            "search",
            "Conditions, verdicts, faults and the clock for tests.",
        ),
        Command("help_keys", "Keys", "Help", "", "command", "All keys, by menu."),
        Command("about", "About Brokerscope", "Help", "", "info", "Version and licences."),
    )

    def __init__(self, context: CommandContext) -> None:
        super().__init__(context)
        bind = context.registry.bind
        bind("help_panel", self._help_panel)
        bind("help_canvas", self._help_canvas)
        bind("help_filters", lambda: self._read(tr("Filters"), tr(FILTERS)))
        for guide, command in GUIDES.items():
            bind(command.id, partial(self._show_guide, guide))
        bind("help_testing_reference", self._show_reference)
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
        self._read(panel.title, tr(panel.info.help))

    def _help_canvas(self) -> None:
        self._read(tr("Canvas"), tr(CANVAS))

    def _read(self, title: str, markdown: str) -> None:
        ReadingDialog(title, f"## {title}\n\n{markdown}", self._context.window).open()

    def _show_guide(self, name: str) -> None:
        text = resources.path("guides", tr(name)).read_text(encoding="utf-8")
        dialog = ReadingDialog(tr(GUIDES[name].title), text, self._context.window, wide=True)
        dialog.page.anchorClicked.connect(self._follow)
        dialog.open()

    def _follow(self, link: QUrl) -> None:
        if link.fileName() == REFERENCE:
            self._show_reference()
        elif link.fileName().endswith(".html"):
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(resources.path("pictures", link.fileName()))))
        else:
            self._show_guide(link.fileName())

    def _show_reference(self) -> None:
        from app.commands.testing_reference import testing_reference  # loads the test kit

        ReadingDialog(tr("Testing reference"), testing_reference(), self._context.window, wide=True).open()

    def _show_keys(self) -> None:
        rows = [f"| {tr('Menu')} | {tr('Command')} | {tr('Keys')} |", "|---|---|---|"]
        rows += [
            f"| {entry.category} | {entry.title} | {entry.shortcut} |"
            for entry in self._context.registry.entries()
            if entry.shortcut
        ]
        self._read(tr("Keys"), "\n".join(rows))

    def _hint(self) -> None:
        scenario, context = self._context.controller.scenario, self._context
        context.window.hint.clear()
        if not context.settings.hints or scenario is None or scenario.lesson or not scenario.try_:
            return
        context.settings.hints = False
        self._hinted = tr("Try this first: {what}", what=scenario.try_[0])
        context.window.hint.show_notice(
            Notice(self._hinted, tr("More scenarios..."), lambda: context.registry.trigger("pick_scenario"))
        )
