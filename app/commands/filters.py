"""Filters that are saved by name, for every panel that can be filtered."""

from __future__ import annotations

from PySide6.QtCore import QObject

from app.commands.context import CommandContext
from app.commands.registry import Command
from app.filters.saved import SavedFilters
from widgets.i18n import tr


class FilterHandlers(QObject):
    COMMANDS = (
        Command("filter_help", "Filter help", "View", "Ctrl+Shift+F", "help", "Fields, examples and saved filters."),
    )

    def __init__(self, context: CommandContext) -> None:
        super().__init__(context.window)
        self._context = context
        self.saved = SavedFilters(context.settings, self)
        self.saved.changed.connect(self._show)
        for panel in context.window.parts.panels:
            panel.filterSaved.connect(self.saved.save)
            panel.filterDeleted.connect(self.saved.delete)
        context.registry.bind("filter_help", self._help, self._why_no_filter)
        self._show()

    def _show(self) -> None:
        for panel in self._context.window.parts.panels:
            panel.set_saved_filters(list(self.saved))

    def _help(self) -> None:
        window = self._context.window
        window.panel(window.shown_tab()).show_filter_help()

    def _why_no_filter(self) -> str:
        window = self._context.window
        return "" if window.panel(window.shown_tab()).filter_field is not None else tr("This panel has no filter.")
