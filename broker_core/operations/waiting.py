from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from broker_core.filters.parser import MAX_CHARS
from broker_core.operations.entry import Entry
from broker_core.operations.request import Request, Result
from broker_core.operations.rights import READ, Right

Condition = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=MAX_CHARS,
        examples=['group = "billing" and lag = 0'],
        description="In the language of the window's filters",
    ),
]


class ConditionAnswer(Result, frozen=True, kw_only=True):
    """Whether the condition came to hold in time; `what` fits it, or is the state at the end, in words."""

    holds: bool
    what: str


class WaitUntil(Request[ConditionAnswer], frozen=True, kw_only=True):
    """A condition on a group, queue or topic as it is, or on an event and the state right after it.

    `kind = group and lag = 0`, `group = "billing" and state = Stable`, `~dlq`.
    """

    condition: Condition
    timeout_ms: Annotated[int, Meta(ge=0, le=600_000)] = 5_000


ENTRIES = (
    Entry(
        WaitUntil,
        "POST /v1/wait",
        "Wait until a condition holds",
        "Broker",
        (Right(READ, "broker"),),
        mode="parked",
        errors=(409,),
        details="After `timeout_ms` at the latest; `holds` says whether it does.",
    ),
)
