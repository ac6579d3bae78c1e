"""Settings of a gate, and what each policy does."""

from __future__ import annotations

import enum
from typing import Literal

import msgspec

from broker_core.errors import ConfigError
from broker_core.limits import MAX_WAIT_MS

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


class FlowConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How much a topic or queue takes; None is "no limit".

    `max_messages` and `max_bytes` limit what its slowest reader has not finished with; `rate_per_s` limits messages
    per second, with a `burst` on top (one second's worth where none is given). `block_timeout_ms` is how long a
    producer waits under the policy `block`, a week at most.
    """

    max_messages: int | None = None
    max_bytes: int | None = None
    policy: Policy = "block"
    rate_per_s: float | None = None
    burst: float | None = None
    block_timeout_ms: float | None = None

    def __post_init__(self) -> None:
        if self.policy not in ANSWERS:
            raise ConfigError(f"policy {self.policy!r} must be one of {', '.join(ANSWERS)}")
        for name in ("max_messages", "max_bytes", "rate_per_s", "block_timeout_ms"):
            value = getattr(self, name)
            if value is not None and not 0 < value < float("inf"):
                raise ConfigError(f"{name} {value} must be more than 0")
        if self.block_timeout_ms is not None and self.block_timeout_ms > MAX_WAIT_MS:
            raise ConfigError(f"block_timeout_ms {self.block_timeout_ms} must be at most {MAX_WAIT_MS}, a week")
        if self.burst is not None and (self.rate_per_s is None or not 1 <= self.burst < float("inf")):
            raise ConfigError(f"burst {self.burst} must be at least 1, and needs a rate_per_s")
