from __future__ import annotations

import re
from operator import attrgetter
from typing import Annotated, Literal

from msgspec import Meta

from broker_core.errors import ConfigError
from broker_core.groups.history import REBALANCES_KEPT
from broker_core.limits import MAX_MEMBERS, MAX_WAIT_MS
from broker_core.settings import WEEK, Positive, Settings, WaitMs, about

_UNITS_S = {"D": 86_400, "H": 3_600, "M": 60, "S": 1}
FROM_AGE = re.compile(
    r"by_duration:P(?:(?P<D>\d{1,300})D)?(?:T(?:(?P<H>\d{1,300})H)?(?:(?P<M>\d{1,300})M)?(?:(?P<S>\d{1,300}(\.\d+)?)S)?)?(?<![PT])"
)


class GroupConfig(Settings, frozen=True):
    """Settings with the names of Kafka's. The minimum session timeout is lower, because no network is involved.

    `initial_rebalance_delay_ms` is the time for which an empty group waits for more members after each join,
    `rebalances_kept` the number of rebalances in the history. `consumer_session_timeout_ms` and
    `consumer_heartbeat_interval_ms` apply to consumer groups (KIP-848), where the broker sets them:
    `group.consumer.session.timeout.ms` and `group.consumer.heartbeat.interval.ms`; and to share groups.
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

    @property
    def default_group_settings(self) -> GroupSettings:
        """The settings of groups that have none of their own."""
        return GroupSettings(
            consumer_session_timeout_ms=self.consumer_session_timeout_ms,
            consumer_heartbeat_interval_ms=self.consumer_heartbeat_interval_ms,
            share_session_timeout_ms=self.consumer_session_timeout_ms,
            share_heartbeat_interval_ms=self.consumer_heartbeat_interval_ms,
        )


class GroupSettings(Settings, frozen=True, forbid_unknown_fields=True):
    """Settings of one group, of any kind. Those of a share group hold for what it reads already, too.

    `auto_offset_reset` is for topics that the group has not read before: earliest, latest, or by_duration: and a
    duration of ISO 8601, the age of the first message that it reads. `dead_letter_topic` is a topic whose settings
    let share groups write dead letters to it (KIP-1191); without one they are only in the dead-letter queue of the
    subscription.
    """

    consumer_session_timeout_ms: Annotated[WaitMs, about("how long a consumer may be silent (KIP-848)")] = 45_000
    consumer_heartbeat_interval_ms: Annotated[WaitMs, about("how often consumers send a heartbeat (KIP-848)")] = 5_000
    share_session_timeout_ms: Annotated[WaitMs, about("how long a share consumer may be silent")] = 45_000
    share_heartbeat_interval_ms: Annotated[WaitMs, about("how often share consumers send a heartbeat")] = 5_000
    record_lock_duration_ms: Annotated[
        Annotated[int, Meta(ge=1_000, le=MAX_WAIT_MS, extra=WEEK)], about("how long a share consumer holds a message")
    ] = 30_000
    delivery_count_limit: Annotated[
        Annotated[int, Meta(ge=2, le=100)], about("deliveries before a message becomes a dead letter")
    ] = 5
    max_record_locks: Annotated[
        Annotated[int, Meta(ge=100, le=10_000)], about("messages of a partition that share consumers hold at most")
    ] = 2_000
    auto_offset_reset: Annotated[str, about("where a share group begins in a topic that it has not read")] = "latest"
    isolation_level: Annotated[
        Literal["read_uncommitted", "read_committed"],
        about("whether a share group reads open and aborted transactions"),
    ] = "read_uncommitted"
    renew_enabled: Annotated[bool, about("share consumers may hold messages for longer")] = True
    dead_letter_topic: Annotated[str, about("topic to which dead letters are written")] = ""
    dead_letter_copies: Annotated[bool, about("dead letters have key, value and headers of the message")] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.auto_offset_reset not in {"earliest", "latest"} and self.from_age_ms is None:
            about = "must be earliest, latest, or by_duration: with a duration as PT1H30M"
            raise ConfigError(f"auto_offset_reset {self.auto_offset_reset[:60]!r} {about}")

    @property
    def from_age_ms(self) -> int | None:
        """The age of the first message that a share group reads; None if it does not go by age."""
        found = FROM_AGE.fullmatch(self.auto_offset_reset)
        if found is None:
            return None
        return round(1_000 * sum(float(found[unit] or 0) * seconds for unit, seconds in _UNITS_S.items()))


class GroupSettingsByName:
    """The settings of groups by name. `kafka_settings` are those that Kafka clients have chosen, as they wrote them."""

    def __init__(self, broker_config: GroupConfig) -> None:
        self.broker_config, self.default = broker_config, broker_config.default_group_settings
        self.kafka_settings: dict[str, dict[str, str]] = {}
        self._by_group: dict[str, GroupSettings] = {}

    def names(self) -> tuple[str, ...]:
        return tuple(self._by_group)

    def of(self, group: str) -> GroupSettings:
        return self._by_group.get(group, self.default)

    def check_heartbeats(self, group: str, settings: GroupSettings) -> None:
        """Raises INVALID_CONFIG if a heartbeat interval is not below its timeout, unless group or broker has both."""
        for kind in ("consumer", "share"):
            both = attrgetter(f"{kind}_heartbeat_interval_ms", f"{kind}_session_timeout_ms")
            interval_ms, timeout_ms = both(settings)
            if interval_ms >= timeout_ms and both(settings) not in {both(self.of(group)), both(self.default)}:
                raise ConfigError(f"{kind}_heartbeat_interval_ms must be less than {kind}_session_timeout_ms")

    def set(self, group: str, settings: GroupSettings) -> None:
        self._by_group[group] = settings
