"""Members of consumer groups (KIP-848): their heartbeats, the replies, and their reconciliation."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from broker_core.groups.members import Member
from broker_core.messages import TopicPartition
from broker_core.timers import Timer

JOINING, LEAVING, LEAVING_FOR_A_WHILE = 0, -1, -2  # member epochs of heartbeats with a meaning
_OTHER = (("", -1),)  # unlike every assignment


def _any_topic(_name: str) -> bool:
    return True


class ConsumerHeartbeat(msgspec.Struct, frozen=True, kw_only=True):
    """The heartbeat of a member. None means unchanged; `owned` are the partitions that it reads now. `topic_regex`
    stands for the matching topics that `allowed(name)` is true for.
    """

    client_id: str
    member_id: str
    member_epoch: int
    instance_id: str = ""
    rebalance_timeout_ms: int | None = None
    topics: tuple[str, ...] | None = None
    topic_regex: str | None = None
    allowed: Callable[[str], bool] = _any_topic
    assignor: str | None = None
    owned: tuple[TopicPartition, ...] | None = None
    host: str = ""


class ConsumerHeartbeatResult(msgspec.Struct, frozen=True):
    """The reply to a heartbeat. `assignment` is the complete current assignment, None if it is unchanged."""

    member_id: str
    member_epoch: int
    heartbeat_interval_ms: int
    assignment: tuple[TopicPartition, ...] | None


class ConsumerMember(Member):
    """A member that reconciles: `target` is its future assignment, `revoking` are the partitions to give up first.

    `reported` is the assignment of its last reply, None if it has to be sent again.
    """

    __slots__ = (
        "allowed",
        "assignor",
        "away",
        "is_classic",
        "names",
        "previous_epoch",
        "regex",
        "reported",
        "revoking",
        "target",
        "timer",
    )

    def __init__(self, member_id: str, client: str, instance_id: str, now_ns: int) -> None:
        super().__init__(member_id, client, instance_id, now_ns)
        self.epoch: int = 0
        self.previous_epoch = 0
        self.names: tuple[str, ...] = ()
        self.regex = ""
        self.allowed: Callable[[str], bool] = _any_topic
        self.assignor = ""
        self.away = False  # a static member that has left temporarily
        self.target: tuple[TopicPartition, ...] = ()
        self.revoking: frozenset[TopicPartition] = frozenset()
        self.reported: tuple[TopicPartition, ...] | None = None
        self.timer: Timer | None = None
        self.is_classic = False

    def offer(self, protocol_type: str, protocols: Mapping[str, bytes]) -> None:
        self.protocols = dict(protocols)

    @property
    def metadata_bytes(self) -> int:
        return super().metadata_bytes + sum(map(len, self.names))

    @property
    def may_read(self) -> tuple[TopicPartition, ...]:
        return tuple(each for each in self.owned if each not in self.revoking)

    def forget(self, topic: str) -> None:
        """The topic was deleted. One that is made again by that name is another, of which the member is told anew."""
        self.target = tuple(place for place in self.target if place[0] != topic)
        self.revoking = frozenset(place for place in self.revoking if place[0] != topic)
        if not self.revoking:
            self.stop_timer()
        if any(name == topic for name, _ in self.reported or ()):
            self.tell_again()

    def tell_again(self) -> None:
        """It gets its assignment with its next heartbeat, whatever it was told before."""
        self.reported = _OTHER

    def stop_timer(self) -> None:
        if self.timer is not None:
            self.timer.cancel()
        self.timer = None
