from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from PySide6.QtGui import QAction

import resources
from app.commands.registry import ActionRegistry, Command
from app.presenters.panels import PANELS
from widgets.i18n import tr

# A command, a line (None), or a menu within a menu: its title and what it holds.
Entry = QAction | None | tuple[str, list[QAction | None]]
# What stands between two lines of a menu, by the id of each command; "panels" stands for all that show one.
_Part = dict[str, dict[str, Any]]

_DECLARED_MENUS: dict[str, list[_Part] | dict[str, list[_Part]]] = resources.table("menus.toml")


def _declared_commands(menu: str, part: _Part) -> Iterator[Command]:
    for name, given in part.items():
        if name == "panels":
            for panel in PANELS:
                yield Command(f"show_{panel.name}", panel.title, panel.hint, panel.icon, panel.shortcut, menu)
        else:
            yield Command(name, category=menu, **given)


_SUBMENUS = {title: tuple(held) if isinstance(held, dict) else () for title, held in _DECLARED_MENUS.items()}
_PARTS: dict[str, list[_Part]] = {}
for _title, _held in _DECLARED_MENUS.items():  # a menu has its parts itself, or menus within it that have theirs
    _PARTS.update(_held if isinstance(_held, dict) else {_title: _held})
COMMANDS_BY_MENU = {menu: [list(_declared_commands(menu, part)) for part in parts] for menu, parts in _PARTS.items()}
COMMANDS = tuple(command for parts in COMMANDS_BY_MENU.values() for part in parts for command in part)
_DECLARED_IDS = {command.id for command in COMMANDS}


def menu_bar(registry: ActionRegistry) -> list[tuple[str, list[Entry]]]:
    """(title, entries) of each menu; only commands with a handler, and only menus that hold any."""
    bound = {command.id: command for command in registry.commands()}

    def entries(menu: str) -> list[QAction | None]:
        found: list[QAction | None] = []
        made = [command for command in bound.values() if command.category == menu and command.id not in _DECLARED_IDS]
        for part in (*COMMANDS_BY_MENU.get(menu, []), made):
            actions = [registry.action(command.id) for command in part if command.id in bound]
            found += [None, *actions] if found and actions else actions
        return found

    bar: list[tuple[str, list[Entry]]] = []
    for title, submenus in _SUBMENUS.items():
        within = [(tr(submenu), held) for submenu in submenus if (held := entries(submenu))]
        if found := [*entries(title), *within]:
            bar.append((tr(title), found))
    return bar
