from __future__ import annotations

from typing import Annotated

from broker_core.errors import ConfigError
from broker_core.settings import AtLeastOne, LimitPolicy, Positive, PositiveNumber, Settings, WaitMsAboveZero, about


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
    policy: Annotated[LimitPolicy, about("what happens at a limit")] = "block"
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
