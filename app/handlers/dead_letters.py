"""What can be done with dead letters."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QMenu

from app.actions import Command
from app.desk import Desk
from broker_core.lab.actions import Redrive


class DeadLetterHandlers(QObject):
    """The menu Dead letters."""

    COMMANDS = (
        Command("redrive_selected", "Redrive selected", "Dead letters", "Ctrl+D", "redrive", "Back to their origin."),
        Command("redrive_all", "Redrive all", "Dead letters", "Ctrl+Shift+D", "redrive", "All that are listed."),
    )

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk.window)
        self._desk = desk
        panel, registry = desk.window.parts.dead_letters, desk.registry
        panel.redriveRequested.connect(self.redrive)
        registry.bind("redrive_selected", panel.redrive_selected, panel.why_not_selected)
        registry.bind("redrive_all", panel.redrive_all, panel.why_not_all)
        panel.selectionChanged.connect(lambda _count: registry.refresh("redrive_selected", "redrive_all"))
        desk.menu_parts.append(self._add_to_menu)

    def redrive(self, keys: Sequence[tuple[str, int]]) -> None:
        """Redrive dead letters, each given as (queue, offset in its bin)."""
        if why := self._desk.why_ended():
            self._desk.say(why)
            return
        by_queue: dict[str, list[int]] = {}
        for queue, offset in keys:
            by_queue.setdefault(queue, []).append(offset)
        for queue, offsets in by_queue.items():
            self._desk.perform(Redrive(queue, tuple(sorted(offsets))))

    def _add_to_menu(self, kind: str, _name: str, menu: QMenu) -> None:
        if kind in {"queue", "dlq"}:
            for command in ("redrive_all", "show_dead_letters", "show_in_flight"):
                menu.addAction(self._desk.registry.action(command))
