from __future__ import annotations

from importlib import import_module

from app.commands.context import Handlers

# The modules with families of commands, in the order in which these add to context menus. A new one is added here.
_MODULES = (
    *("session", "attach", "undo", "alerts", "audit", "compare", "timeline", "recordings", "scenarios", "lesson"),
    *("reports", "clients", "groups", "topics", "queues", "faults", "messages", "dead_letters"),
    *("view", "appearance", "listeners", "help"),
)
_MADE = (import_module(f"app.commands.{name}") for name in _MODULES)
FAMILIES: tuple[type[Handlers], ...] = tuple(
    kind
    for module in _MADE
    for kind in vars(module).values()
    if isinstance(kind, type) and issubclass(kind, Handlers) and kind.__module__ == module.__name__
)
