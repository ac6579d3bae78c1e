from __future__ import annotations

from app.commands.context import CommandContext, Handlers, lacking
from app.environment.settings import MOST_FILTERS
from widgets.i18n import tr
from widgets.panels.panel import Panel


class FilterHandlers(Handlers):
    def __init__(self, context: CommandContext) -> None:
        super().__init__(context)
        for panel in context.window.parts.panels:
            panel.filter_field.saved.connect(self._save)
            panel.filter_field.deleted.connect(self._delete)
        no_filter = lacking(lambda: self._panel().info.filter_hint, tr("This panel has no filter."))
        context.registry.bind("filter_help", self._show_help, no_filter)
        self._show()

    def _show_help(self) -> None:
        self._panel().filter_field.show_help()

    def _save(self, name: str, text: str) -> None:
        if not self._context.settings.keep_filter(name, text):
            self._context.show_message(tr("{most} filters are kept already; delete one first.", most=MOST_FILTERS))
        self._show()

    def _delete(self, name: str) -> None:
        self._context.settings.forget_filter(name)
        self._show()

    def _show(self) -> None:
        for panel in self._context.window.parts.panels:
            panel.filter_field.set_kept(list(self._context.settings.saved_filters.items()))

    def _panel(self) -> Panel:
        window = self._context.window
        return window.panel(window.shown_tab())
