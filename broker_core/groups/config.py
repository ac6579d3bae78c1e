"""Settings of the group coordinator."""

from __future__ import annotations

import msgspec

from broker_core.limits import MAX_MEMBERS


class GroupConfig(msgspec.Struct, frozen=True):
    """Kafka's settings of the same names; the shortest session is shorter, because nothing here crosses a
    network.

    `initial_rebalance_delay_ms`: how long an empty group waits for more members after each join.
    `rebalances_kept`: how many rebalances the coordinator remembers.
    """

    initial_rebalance_delay_ms: int = 3_000
    min_session_timeout_ms: int = 10
    max_session_timeout_ms: int = 1_800_000
    max_members: int = MAX_MEMBERS
    rebalances_kept: int = 1_000
