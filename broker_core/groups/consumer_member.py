"""A member of a consumer group (KIP-848): what it says, what it is told, and what it is on the way to."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from broker_core.groups.members import Member
from broker_core.groups.protocol import TopicPartition
from broker_core.timers import Timer

JOINING, LEAVING, LEAVING_FOR_A_WHILE = 0, -1, -2  # member epochs of heartbeats with a meaning


class ConsumerHeartbeat(msgspec.Struct, frozen=True, kw_only=True):
    """What a member says. None is "as before"; `owned` is what it reads now."""

    client_id: str
    member_id: str
    member_epoch: int
    instance_id: str = ""
    rebalance_timeout_ms: int | None = None
    topics: tuple[str, ...] | None = None
    topic_regex: str | None = None
    assignor: str | None = None
    owned: tuple[TopicPartition, ...] | None = None


class ConsumerHeartbeatResult(msgspec.Struct, frozen=True):
    """What it is told. `assignment` is everything that it may read now, None where that is as it was told before."""

    member_id: str
    member_epoch: int
    heartbeat_interval_ms: int
    assignment: tuple[TopicPartition, ...] | None


class ConsumerMember(Member):
    """A member that reconciles: `target` is what it is to own, `revoking` what it must give up first."""

    __slots__ = (
        "assignor",
        "away",
        "is_classic",
        "names",
        "previous_epoch",
        "regex",
        "revoking",
        "target",
        "timer",
        "told",
    )

    def __init__(self, member_id: str, client: str, instance_id: str, now_ns: int) -> None:
        super().__init__(member_id, client, instance_id, now_ns)
        self.epoch: int = 0
        self.previous_epoch = 0
        self.names: tuple[str, ...] = ()
        self.regex = ""
        self.assignor = ""
        self.away = False  # a static member that will come back
        self.target: tuple[TopicPartition, ...] = ()
        self.revoking: frozenset[TopicPartition] = frozenset()
        self.told: tuple[TopicPartition, ...] | None = None
        self.timer: Timer | None = None
        self.is_classic = False

    def offer(self, protocol_type: str, protocols: Mapping[str, bytes]) -> None:
        """Take over what a classic member says it can do; others offer no assignors of their own."""
        self.protocols = dict(protocols)

    @property
    def may_read(self) -> tuple[TopicPartition, ...]:
        """What it owns and need not give up."""
        return tuple(each for each in self.owned if each not in self.revoking)

    def stop_timer(self) -> None:
        """Its revocation is waited for no longer."""
        if self.timer is not None:
            self.timer.cancel()
        self.timer = None
