from __future__ import annotations

import enum
from typing import Annotated, Literal

from broker_core.errors import ConfigError
from broker_core.settings import AtLeastOne, Positive, PositiveNumber, Settings, WaitMsAboveZero, about

Policy = Literal["block", "reject", "drop_newest", "drop_oldest", "priority_evict"]


class OfferResult(enum.StrEnum):
    ADMITTED = "admitted"
    REFUSED = "refused"
    DROPPED = "dropped"


class Answer(enum.Enum):
    PARK = enum.auto()  # the offer waits, first come, first served, until there is space or its deadline passes
    REFUSE = enum.auto()  # the producer gets an error
    DROP = enum.auto()  # the messages are dropped without an error
    EVICT = enum.auto()  # the oldest messages are evicted; where that does not suffice, the new ones are dropped
    EVICT_LESS_URGENT = enum.auto()  # the same, but only less urgent messages are evicted


# (at the depth limit, above the rate). Evicting messages does not lower a rate.
ANSWERS: dict[Policy, tuple[Answer, Answer]] = {
    "block": (Answer.PARK, Answer.PARK),
    "reject": (Answer.REFUSE, Answer.REFUSE),
    "drop_newest": (Answer.DROP, Answer.DROP),
    "drop_oldest": (Answer.EVICT, Answer.DROP),
    "priority_evict": (Answer.EVICT_LESS_URGENT, Answer.DROP),
}


class FlowConfig(Settings, frozen=True, forbid_unknown_fields=True):
    """Limits of a topic or queue; None is no limit.

    `max_messages` and `max_bytes` limit the backlog of the slowest reader, or all unread messages of a topic without
    readers; subscriptions have limits of their own. `rate_per_s` limits messages per second, `burst` those at once
    (default: one second's worth). `block_timeout_ms` limits the wait of a producer under the policy `block`, a week at
    most.
    """

    max_messages: Annotated[Positive | None, about("maximum number of unfinished messages of the slowest reader")] = (
        None
    )
    max_bytes: Annotated[Positive | None, about("maximum number of unfinished bytes of the slowest reader")] = None
    policy: Annotated[Policy, about("what happens at a limit")] = "block"
    rate_per_s: Annotated[PositiveNumber | None, about("messages a second", flag="--rate")] = None
    burst: Annotated[
        AtLeastOne | None, about("messages allowed at once above the rate (none: as many as in one second)")
    ] = None
    block_timeout_ms: Annotated[WaitMsAboveZero | None, about("how long a producer waits under the policy block")] = (
        None
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.burst is not None and self.rate_per_s is None:
            raise ConfigError(f"burst {self.burst} needs a rate_per_s")
