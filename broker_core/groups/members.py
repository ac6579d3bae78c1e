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


class Deadline:
    """Calls `missed` after `timeout_ns` without a sign of life, unless `excused()`.

    Its timer is only armed again when it fires: a heartbeat costs an assignment, not a heap entry.
    """

    __slots__ = ("_excused", "_missed", "_timer", "_timers", "heard_ns", "timeout_ns")

    def __init__(
        self,
        timers: Timers,
        now_ns: int,
        timeout_ns: int,
        *,
        excused: Callable[[], bool],
        missed: Callable[[int], object],
    ) -> None:
        self.heard_ns = now_ns
        self.timeout_ns = timeout_ns
        self._excused = excused
        self._missed = missed
        self._timers = timers
        self._timer: Timer = timers.at(now_ns + timeout_ns, self._fire)

    def _fire(self, now_ns: int) -> None:
        if self._excused():
            self.heard_ns = now_ns
        due_ns = self.heard_ns + self.timeout_ns
        if due_ns > now_ns:
            self._timer = self._timers.at(due_ns, self._fire)
        else:
            self._missed(now_ns)

    def cancel(self) -> None:
        self._timer.cancel()


class Member:
    """A member of a group. `owned` are its partitions in the current generation."""

    __slots__ = (
        "assignment",
        "client",
        "epoch",
        "host",
        "instance_id",
        "join",
        "joined_ns",
        "member_id",
        "owned",
        "poll",
        "protocols",
        "rebalance_timeout_ns",
        "seen_ns",
        "session",
        "subscription",
        "sync",
    )

    def __init__(self, member_id: str, client: str, instance_id: str, now_ns: int) -> None:
        self.member_id = member_id
        self.client = client
        self.host = ""  # the address of the client; "" for one in the broker's process
        self.instance_id = instance_id
        self.joined_ns = self.seen_ns = now_ns
        self.protocols: dict[str, bytes] = {}
        self.subscription = MemberSubscription(())
        self.rebalance_timeout_ns = 0
        self.session: Deadline | None = None
        self.poll: Deadline | None = None
        self.join: Reply[JoinResult] | None = None
        self.sync: Reply[SyncResult] | None = None
        self.assignment = b""
        self.owned: tuple[TopicPartition, ...] = ()
        self.epoch: int | None = None  # of its own, in the consumer group protocol (KIP-848)

    @property
    def metadata_bytes(self) -> int:
        """Of what it has sent of itself, and was sent."""
        return len(self.assignment) + sum(map(len, self.protocols.values()))

    @property
    def waiting(self) -> bool:
        """Whether it waits for the reply to a join or sync; its deadlines are suspended while it does."""
        return self.join is not None or self.sync is not None

    @property
    def heard_ns(self) -> int:
        """Its last sign of life: a heartbeat, or the end of its connection."""
        return self.seen_ns if self.session is None else max(self.seen_ns, self.session.heard_ns)

    def heard(self, now_ns: int) -> None:
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
                excused=lambda: self.waiting,
                missed=lambda at_ns: missed(at_ns, self, sentence, made.heard_ns),
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
        )


def read_subscription(protocol_type: str, metadata: bytes, instance_id: str = "") -> MemberSubscription:
    """The subscription of a member; an empty one for other protocol types and for invalid bytes."""
    if protocol_type != CONSUMER:
        return MemberSubscription((), instance_id=instance_id)
    try:
        return decode_subscription(metadata, instance_id)
    except BrokerError:
        return MemberSubscription((), instance_id=instance_id)
