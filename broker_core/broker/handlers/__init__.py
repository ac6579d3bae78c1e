"""Handlers of operations: each translates a request into a call of the broker, and its result back."""

from collections.abc import Callable
from functools import wraps
from inspect import isfunction, signature
from operator import attrgetter
from types import ModuleType
from typing import Any

from broker_core.broker.broker import Handlers
from broker_core.broker.handlers import access, broker, browse, groups, queues, topics

_ARGUMENTS = ["broker", "now_ns", "request", "client"]


def handlers_of(*modules: ModuleType) -> Handlers:
    """The functions `_x(broker, now_ns, request)` of these modules, by the type of request in their annotations.

    One whose events name who asked has `client` as well.
    """
    found: Handlers = {}
    for module in modules:
        for function in filter(isfunction, vars(module).values()):
            names = [(each.name.lstrip("_"), each.annotation) for each in signature(function).parameters.values()]
            if len(names) >= 3 and [name for name, _ in names] == _ARGUMENTS[: len(names)]:
                found[attrgetter(names[2][1])(module)] = function if len(names) == 4 else _without_client(function)
    return found


def _without_client(function: Callable[[Any, int, Any], Any]) -> Callable[[Any, int, Any, str], Any]:
    @wraps(function)
    def handler(broker: Any, now_ns: int, request: Any, _client: str) -> Any:
        return function(broker, now_ns, request)

    return handler


HANDLERS = handlers_of(topics, browse, groups, queues, access, broker)
