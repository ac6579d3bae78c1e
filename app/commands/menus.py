"""The menus with their commands, as `resources/menus.toml` declares them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from typing import Any

from PySide6.QtGui import QAction

import resources
from app.commands.registry import ActionRegistry, Command
from app.presenters.panels import PANELS
from widgets.i18n import tr

# A line, a command, or a menu within a menu: its title and what it holds.
Entry = QAction | None | tuple[str, list[QAction | None]]

_BAR: dict[str, Any] = tomllib.loads(resources.path("menus.toml").read_text(encoding="utf-8"))
#: The menus of the bar in order, each with the menus within it.
BAR: dict[str, tuple[str, ...]] = {title: tuple(held) if isinstance(held, dict) else () for title, held in _BAR.items()}


def _commands(title: str, part: dict[str, dict[str, Any]]) -> Iterator[Command]:
    for name, given in part.items():
        if name == "panels":
            for panel in PANELS:
                yield Command(f"show_{panel.name}", panel.title, panel.hint, panel.icon, panel.shortcut, title)
        else:
            yield Command(name, category=title, **given)


_MENUS = {name: held for title, held in _BAR.items() for name, held in (held if BAR[title] else {title: held}).items()}
_PARTS = {title: [list(_commands(title, part)) for part in parts] for title, parts in _MENUS.items()}
#: Ids of commands between lines, by the title of their menu.
PARTS = {title: [[command.id for command in part] for part in parts] for title, parts in _PARTS.items()}
COMMANDS = tuple(command for parts in _PARTS.values() for part in parts for command in part)
_DECLARED = {command.id for command in COMMANDS}


def menu_bar(registry: ActionRegistry) -> list[tuple[str, list[Entry]]]:
    """(title, entries) of each menu; only commands with a handler, and only menus that hold any."""
    bound = {command.id: command.category for command in registry.commands()}

    def entries(title: str) -> list[QAction | None]:
        found: list[QAction | None] = []
        made = [command for command, category in bound.items() if category == title and command not in _DECLARED]
        for part in (*PARTS.get(title, []), made):
            actions = [registry.action(command) for command in part if command in bound]
            found += [None, *actions] if found and actions else actions
        return found

    bar: list[tuple[str, list[Entry]]] = []
    for title, titles in BAR.items():
        within = [(tr(name), held) for name in titles if (held := entries(name))]
        if found := [*entries(title), *within]:
            bar.append((tr(title), found))
    return bar
