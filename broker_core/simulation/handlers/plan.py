"""What was found out about an action before anything is done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from broker_core.errors import BrokerError, ErrorCode
from broker_core.simulation.actions import UserAction


@dataclass(frozen=True, slots=True)
class Plan:
    """An action that can be done. `do` does it, and may give a better sentence than the action's own.

    `action` is what is recorded, with what the session has chosen filled in. `inverse` undoes it; where that is None,
    `final` is the reason that there is none. `reported`: the broker emits the event itself.
    """

    action: UserAction
    do: Callable[[], str | None]
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
    """The error for what cannot be done now."""
    return BrokerError(code, why)
