"""The table of handlers: each operation has a function `_x(broker, now_ns, request)` in a module beside this one."""

from __future__ import annotations

from collections.abc import Callable
from inspect import isfunction, signature
from operator import attrgetter
from types import ModuleType
from typing import Any

from broker_core.operations.request import Request

CLIENT = "admin"  # the client in the events of these operations
#: `handler(broker, now_ns, request)` returns the result, or a reply that is settled with it.
Handlers = dict[type[Request[Any]], Callable[[Any, int, Any], Any]]


def handlers_of(*modules: ModuleType) -> Handlers:
    """The handlers in these modules, by the type of request in their annotations."""
    found: Handlers = {}
    for module in modules:
        for function in filter(isfunction, vars(module).values()):
            names = [(each.name.lstrip("_"), each.annotation) for each in signature(function).parameters.values()]
            if [name for name, _ in names] == ["broker", "now_ns", "request"]:
                found[attrgetter(names[2][1])(module)] = function
    return found
