from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar, get_args, get_type_hints

from broker_core.errors import BrokerError, ErrorCode, must
from broker_core.simulation.actions import UserAction
from broker_core.simulation.context import SimulationContext

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Plan:
    """An action that can be done. `do` does it, and may give a better sentence than the action's own.

    `action` is what is recorded, with what the session has chosen filled in. `inverse` undoes it; if that is None,
    `final` is the reason that there is none. `reported`: the broker emits the event itself.
    """

    action: UserAction
    do: Callable[[], object]
    inverse: UserAction | None = None
    final: str = ""
    client: str = ""
    reported: bool = False


@dataclass(frozen=True, slots=True)
class Performed:
    """An action that was done, in a `sentence`, and its `inverse`, or, in a sentence, why there is none."""

    action: UserAction
    sentence: str
    inverse: UserAction | None
    final: str = ""


def refuse(why: str, code: ErrorCode = ErrorCode.INVALID_REQUEST) -> BrokerError:
    return BrokerError(code, why)


def needed(found: T | None, why_not: str) -> T:
    """`found`. Raises INVALID_REQUEST for None."""
    return must(found, ErrorCode.INVALID_REQUEST, why_not)


class Handler:
    """Base of handlers. Methods `_x(action: Type) -> Plan` raise a BrokerError if the action is impossible now."""

    def __init__(self, context: SimulationContext) -> None:
        self._context = context


@cache
def planning(handler: Any) -> tuple[tuple[type[Any], str], ...]:
    """(type of action, name of the method) of these methods of a type of handler."""
    found = []
    for name, method in vars(handler).items():
        hints = get_type_hints(method) if name.startswith("_") and callable(method) else {}
        if list(hints) == ["action", "return"] and hints["return"] is Plan:
            found += [(action, name) for action in get_args(hints["action"]) or (hints["action"],)]
    return tuple(found)
