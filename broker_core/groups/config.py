from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from broker_core.errors import ConfigError
from broker_core.groups.history import REBALANCES_KEPT
from broker_core.limits import MAX_MEMBERS, MAX_WAIT_MS
from broker_core.settings import WEEK, Positive, Settings, WaitMs


class GroupConfig(Settings, frozen=True):
    """Settings with the names of Kafka's. The minimum session timeout is lower, because no network is involved.

    `initial_rebalance_delay_ms` is the time for which an empty group waits for more members after each join,
    `rebalances_kept` the number of rebalances in the history. `consumer_session_timeout_ms` and
    `consumer_heartbeat_interval_ms` apply to consumer groups (KIP-848), where the broker sets them:
    `group.consumer.session.timeout.ms` and `group.consumer.heartbeat.interval.ms`.
    """

    initial_rebalance_delay_ms: Annotated[int, Meta(ge=0, le=MAX_WAIT_MS, extra=WEEK)] = 3_000
    min_session_timeout_ms: WaitMs = 10
    max_session_timeout_ms: WaitMs = 1_800_000
    max_members: Annotated[int, Meta(ge=1, le=MAX_MEMBERS)] = MAX_MEMBERS
    rebalances_kept: Positive = REBALANCES_KEPT
    consumer_session_timeout_ms: WaitMs = 45_000
    consumer_heartbeat_interval_ms: WaitMs = 5_000

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.min_session_timeout_ms > self.max_session_timeout_ms:
            least, most = self.min_session_timeout_ms, self.max_session_timeout_ms
            raise ConfigError(f"min_session_timeout_ms {least} must be at most max_session_timeout_ms, {most}")
