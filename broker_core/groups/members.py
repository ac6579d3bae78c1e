from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from broker_core.clock import NS_PER_MS
from broker_core.errors import BrokerError
from broker_core.groups.protocol import MemberSubscription, decode_subscription
from broker_core.messages import TopicPartition
from broker_core.replies import Reply
from broker_core.snapshots import MemberView
from broker_core.timers import Timer, Timers

CONSUMER = "consumer"  # the protocol type whose metadata is decoded


class JoinResult(msgspec.Struct, frozen=True):
    """The result of a join. `members` holds (member id, instance id, metadata) of all members for the leader only."""

    member_id: str
    generation: int
    protocol: str
    leader: str
    members: tuple[tuple[str, str, bytes], ...] = ()


class SyncResult(msgspec.Struct, frozen=True, gc=False):
    """The result of a sync. `assignment` are the leader's bytes for the member, possibly empty."""

    assignment: bytes
    generation: int
    protocol: str


class Deadline(msgspec.Struct, eq=False):
    """Calls `missed(now_ns)` after `timeout_ns` without a sign of life, unless `excused()`.

    Its timer is only armed again when it fires: a heartbeat costs an assignment, not a heap entry.
    """

    _timers: Timers
    heard_ns: int
    timeout_ns: int
    _excused: Callable[[], bool]
    _missed: Callable[[int], object]
    _timer: Timer | None = None

    def __post_init__(self) -> None:
        self._timer = self._timers.at(self.heard_ns + self.timeout_ns, self._fire)

    def _fire(self, now_ns: int) -> None:
        if self._excused():
            self.heard_ns = now_ns
        due_ns = self.heard_ns + self.timeout_ns
        if due_ns > now_ns:
            self._timer = self._timers.at(due_ns, self._fire)
        else:
            self._missed(now_ns)

    def cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()


class Member(msgspec.Struct, eq=False):
    """A member of a group. `owned` are its partitions in the current generation."""

    member_id: str
    client: str
    instance_id: str
    joined_ns: int
    host: str = ""  # the address of the client; "" for one in the broker's process
    seen_ns: int = 0
    lost_ns: int | None = None
    protocols: dict[str, bytes] = {}
    subscription: MemberSubscription = MemberSubscription(())
    rebalance_timeout_ns: int = 0
    session: Deadline | None = None
    poll: Deadline | None = None
    join: Reply[JoinResult] | None = None
    sync: Reply[SyncResult] | None = None
    assignment: bytes = b""
    owned: tuple[TopicPartition, ...] = ()
    epoch: int | None = None  # of its own, in the consumer group protocol (KIP-848)

    def __post_init__(self) -> None:
        self.seen_ns = self.joined_ns

    @property
    def metadata_bytes(self) -> int:
        """Size of the member's assignment and of its metadata for each protocol."""
        return len(self.assignment) + sum(map(len, self.protocols.values()))

    @property
    def waiting(self) -> bool:
        """Whether it waits for the reply to a join or sync; its deadlines are suspended while it does."""
        return self.join is not None or self.sync is not None

    @property
    def heard_ns(self) -> int:
        """When the member was last known to be alive: its last heartbeat, or the end of its connection."""
        return self.seen_ns if self.session is None else max(self.seen_ns, self.session.heard_ns)

    def heard(self, now_ns: int) -> None:
        self.lost_ns = None
        if self.session is not None:
            self.session.heard_ns = now_ns

    def polled(self, now_ns: int) -> None:
        if self.poll is not None:
            self.poll.heard_ns = now_ns

    def watch(
        self,
        timers: Timers,
        now_ns: int,
        session_timeout_ms: int,
        max_poll_interval_ms: int,
        missed: Callable[[int, Member, str, int], object],
    ) -> None:
        """Arm its deadlines; `missed(now_ns, member, sentence, heard_ns)` is called when one passes. 0 ms: no limit."""
        self.unwatch()

        def deadline(timeout_ms: int, sentence: str) -> Deadline:
            made = Deadline(
                timers,
                now_ns,
                timeout_ms * NS_PER_MS,
                lambda: self.waiting,
                lambda at_ns: missed(at_ns, self, sentence, made.heard_ns),
            )
            return made

        name = self.client
        self.session = deadline(
            session_timeout_ms, f"{name} missed its heartbeats for {session_timeout_ms / 1000:.1f} s"
        )
        if max_poll_interval_ms:
            self.poll = deadline(max_poll_interval_ms, f"{name} did not poll for {max_poll_interval_ms / 1000:.1f} s")

    def unwatch(self) -> None:
        for deadline in (self.session, self.poll):
            if deadline is not None:
                deadline.cancel()
        self.session = self.poll = None

    def offer(self, protocol_type: str, protocols: Mapping[str, bytes]) -> None:
        self.protocols = dict(protocols)
        self.subscription = read_subscription(protocol_type, next(iter(protocols.values())), self.instance_id)

    def view(self) -> MemberView:
        return MemberView(
            client=self.client,
            member_id=self.member_id,
            instance_id=self.instance_id,
            topics=self.subscription.topics,
            partitions=self.owned,
            joined_ns=self.joined_ns,
            last_heartbeat_ns=self.session.heard_ns if self.session is not None else self.joined_ns,
            lost_ns=self.lost_ns,
        )


def read_subscription(protocol_type: str, metadata: bytes, instance_id: str = "") -> MemberSubscription:
    """The subscription of a member; an empty one for other protocol types and for invalid bytes."""
    if protocol_type != CONSUMER:
        return MemberSubscription((), instance_id=instance_id)
    try:
        return decode_subscription(metadata, instance_id)
    except BrokerError:
        return MemberSubscription((), instance_id=instance_id)


JOINING, LEAVING, LEAVING_FOR_A_WHILE = 0, -1, -2  # member epochs of heartbeats with a meaning
_OTHER = (("", -1),)  # unlike every assignment


def _any_topic(_name: str) -> bool:
    return True


class ConsumerHeartbeat(msgspec.Struct, frozen=True, kw_only=True):
    """The heartbeat of a member of a consumer group (KIP-848). None means unchanged; `owned` are the partitions that it
    reads now. `topic_regex` stands for the matching topics that `allowed(name)` is true for.
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


class ConsumerMember(Member, eq=False):
    """A member that reconciles: `target` is its future assignment, `revoking` are the partitions to give up first.

    `reported` is the assignment of its last reply, None if it has to be sent again.
    """

    epoch: int = 0
    previous_epoch: int = 0
    names: tuple[str, ...] = ()
    regex: str = ""
    allowed: Callable[[str], bool] = _any_topic
    assignor: str = ""
    away: bool = False  # a static member that has left temporarily
    target: tuple[TopicPartition, ...] = ()
    revoking: frozenset[TopicPartition] = frozenset()
    reported: tuple[TopicPartition, ...] | None = None
    timer: Timer | None = None
    is_classic: bool = False

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
        """Send the member its assignment with its next heartbeat, even if it has been sent already."""
        self.reported = _OTHER

    def stop_timer(self) -> None:
        if self.timer is not None:
            self.timer.cancel()
        self.timer = None
