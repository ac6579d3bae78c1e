from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from broker_core.limits import MAX_TTL_MS
from broker_core.operations.entry import ADMIN, READ, Entry, Right, declaring
from broker_core.operations.fields import Number
from broker_core.operations.request import Request, Result
from broker_core.settings import about

MembersStay = Annotated[bool, about("group members count as alive and stay")]


class ClockAnswer(Result, frozen=True, kw_only=True):
    """The broker's time: milliseconds since it was opened, and as Unix time. `stopped` while it does not pass."""

    time_ms: float
    unix_ms: int
    stopped: bool


ENTRIES: list[Entry] = []
_TAG = "Clock"
_admin_operation = declaring(
    ENTRIES,
    tag=_TAG,
    rights=(Right(ADMIN, "broker"),),
    details="Only on a broker that is opened for tests.",
    errors=(409,),
)
_entry = declaring(ENTRIES, tag=_TAG)


@_entry("GET /v1/clock", "Describe the broker's clock", rights=(Right(READ, "broker"),))
class DescribeClock(Request[ClockAnswer], frozen=True, kw_only=True):
    """The broker's time."""


@_admin_operation("POST /v1/clock/stop", "Stop the broker's clock; requests are still served")
class StopClock(Request[ClockAnswer], frozen=True, kw_only=True):
    """The broker's time stands still until it is started or moved; requests are served meanwhile."""


@_admin_operation("POST /v1/clock/start", "Start the broker's clock again")
class StartClock(Request[ClockAnswer], frozen=True, kw_only=True):
    """A stopped clock goes on from its time."""


@_admin_operation(
    "POST /v1/clock/advance", "Advance the broker's clock by some time; everything due by then happens", mode="parked"
)
class AdvanceClock(Request[ClockAnswer], frozen=True, kw_only=True):
    """The broker's time moves on by `by_ms`. What comes due happens in order, each at its time, before the response.

    Members of groups send no heartbeats in that time, and leave where it exceeds their session timeout; with
    `members_stay` they count as heard from at its end.
    """

    by_ms: Annotated[float, Meta(ge=0, le=MAX_TTL_MS)]
    members_stay: MembersStay = False


@_admin_operation(
    "POST /v1/clock/jump", "Advance the broker's clock to a Unix time; everything due by then happens", mode="parked"
)
class JumpClock(Request[ClockAnswer], frozen=True, kw_only=True):
    """The broker's time moves on to `unix_ms`, as by `AdvanceClock`; it never moves back."""

    unix_ms: Number
    members_stay: MembersStay = False
