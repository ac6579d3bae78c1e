"""Settings of a gate, and what each policy does."""

from __future__ import annotations

import enum
from typing import Annotated, Literal

from broker_core.errors import ConfigError
from broker_core.kinds import Range
from broker_core.settings import Positive, PositiveNumber, Settings, WaitMsAboveZero

Policy = Literal["block", "reject", "drop_newest", "drop_oldest", "priority_evict"]


class Verdict(enum.StrEnum):
    """What became of an offer."""

    ADMITTED = "admitted"
    REFUSED = "refused"
    DROPPED = "dropped"


class Answer(enum.Enum):
    """What a gate does with an offer that it cannot admit at once."""

    PARK = enum.auto()  # it waits, first come first served, until there is room or its deadline passes
    REFUSE = enum.auto()  # its producer is told
    DROP = enum.auto()  # its producer is told that it was dropped, and goes on
    EVICT = enum.auto()  # the oldest that wait make room; where they cannot, the new one is dropped
    EVICT_LESS_URGENT = enum.auto()  # the same, but only messages of a lower priority make room


# (at the depth limit, above the rate). Nothing that waits can be evicted to make a rate lower.
ANSWERS: dict[Policy, tuple[Answer, Answer]] = {
    "block": (Answer.PARK, Answer.PARK),
    "reject": (Answer.REFUSE, Answer.REFUSE),
    "drop_newest": (Answer.DROP, Answer.DROP),
    "drop_oldest": (Answer.EVICT, Answer.DROP),
    "priority_evict": (Answer.EVICT_LESS_URGENT, Answer.DROP),
}


class FlowConfig(Settings, frozen=True, forbid_unknown_fields=True):
    """How much a topic or queue takes; None is "no limit".

    `max_messages` and `max_bytes` limit what its slowest reader has not finished with, and of a topic that nobody reads
    all that nobody has finished with; subscriptions have limits of their own. `rate_per_s` limits messages per second,
    with a `burst` on top (one second's worth where none is given). `block_timeout_ms` is how long a producer waits
    under the policy `block`, a week at most.
    """

    max_messages: Positive | None = None
    max_bytes: Positive | None = None
    policy: Policy = "block"
    rate_per_s: PositiveNumber | None = None
    burst: Annotated[float, Range(1)] | None = None
    block_timeout_ms: WaitMsAboveZero | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.burst is not None and self.rate_per_s is None:
            raise ConfigError(f"burst {self.burst} needs a rate_per_s")
