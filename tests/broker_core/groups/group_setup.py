"""A coordinator in virtual time, and members that behave as clients do."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from broker_core.clock import NS_PER_MS, NS_PER_S
from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import Event, EventKind, EventStream
from broker_core.groups.assignors import lead
from broker_core.groups.commits import Reads
from broker_core.groups.config import GroupConfig
from broker_core.groups.coordinator import GroupCoordinator
from broker_core.groups.joining import JoinRequest
from broker_core.groups.members import JoinResult, SyncResult
from broker_core.groups.offsets import OffsetStore
from broker_core.groups.protocol import MemberSubscription, decode_assignment, encode_subscription
from broker_core.messages import TopicPartition
from broker_core.replies import Reply
from broker_core.timers import Timers

GROUP = "indexers"


class GroupSetup:
    """Topics with as many partitions as `partitions` says, each with 1,000 messages."""

    def __init__(self, store: OffsetStore | None = None, **config: int) -> None:
        self.now_ns = 0
        self.partitions = {"commits": 6, "issues": 3}
        self.events: list[Event] = []
        self.timers = Timers()
        self.stream = stream = EventStream()
        stream.attach(self.events.append)
        self.coordinator = GroupCoordinator(
            stream,
            self.timers,
            store or OffsetStore(),
            Reads(
                end_offset=self.end_offset,
                partitions_of=lambda topic: self.partitions.get(topic, 0),
                topic_names=lambda: self.partitions,
            ),
            GroupConfig(**{"initial_rebalance_delay_ms": 1_000, **config}),
        )

    def end_offset(self, topic: str, partition: int) -> int:
        if not 0 <= partition < self.partitions.get(topic, 0):
            raise BrokerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"{topic}-{partition}")
        return 1_000

    def run(self, seconds: float) -> None:
        """Let that much time pass."""
        end_ns = self.now_ns + round(seconds * NS_PER_S)
        while (due_ns := self.timers.next_deadline_ns()) is not None and due_ns <= end_ns:
            self.now_ns = due_ns
            self.timers.fire_next(due_ns)
        self.now_ns = end_ns

    def kinds(self, *wanted: EventKind) -> list[Event]:
        return [event for event in self.events if event.kind in wanted]

    @property
    def state(self) -> str:
        return str(self.coordinator.state(GROUP))

    def member(self, client: str, *topics: str, **settings: object) -> Client:
        return Client(self, client, topics or ("commits",), **settings)  # type: ignore[arg-type]

    def group_of(self, count: int, **settings: object) -> list[Client]:
        """A stable group of `count` clients."""
        clients = [self.member(f"indexer-{number}", **settings) for number in range(1, count + 1)]
        for client in clients:
            client.join()
        self.run(3)
        assert self.state == "Stable"
        return clients


class Client:
    """Joins, leads, syncs; by itself only with `beat`, which heartbeats every `interval_ms` until `crash`."""

    def __init__(
        self,
        setup: GroupSetup,
        client: str,
        topics: Iterable[str],
        *,
        assignor: str = "range",
        instance_id: str = "",
        session_timeout_ms: int = 10_000,
        rebalance_timeout_ms: int = 30_000,
        max_poll_interval_ms: int = 0,
        on_owned: Callable[[Client], object] = lambda client: None,
    ) -> None:
        self.setup = setup
        self.client = client
        self.topics = tuple(topics)
        self.assignor = assignor
        self.instance_id = instance_id
        self.session_timeout_ms = session_timeout_ms
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.max_poll_interval_ms = max_poll_interval_ms
        self.on_owned = on_owned
        self.member_id = ""
        self.generation = -1
        self.owned: tuple[TopicPartition, ...] = ()
        self.had: tuple[TopicPartition, ...] = ()  # what a sticky member asks to get back
        self.errors: list[ErrorCode] = []
        self.alive = True
        self.settled = False
        self.led = 0

    @property
    def cooperative(self) -> bool:
        return self.assignor == "cooperative-sticky"

    def metadata(self) -> bytes:
        owned = self.had if self.assignor.endswith("sticky") else ()
        return encode_subscription(MemberSubscription(self.topics, owned=owned, generation=self.generation))

    def join(self, cause: str = "") -> Reply[JoinResult]:
        self.settled = False
        if not self.cooperative:
            self.owned = ()
        reply = self.raw_join(cause)
        reply.then(self._joined)
        return reply

    def raw_join(self, cause: str = "", **changes: object) -> Reply[JoinResult]:
        request: dict[str, object] = {
            "client_id": self.client,
            "member_id": self.member_id,
            "instance_id": self.instance_id,
            "session_timeout_ms": self.session_timeout_ms,
            "rebalance_timeout_ms": self.rebalance_timeout_ms,
            "max_poll_interval_ms": self.max_poll_interval_ms,
            "protocol_type": "consumer",
            "protocols": {self.assignor: self.metadata()},
            "cause": cause,
        }
        request.update(changes)
        request["protocols"] = dict(request["protocols"])  # type: ignore[call-overload]
        return self.setup.coordinator.join(self.setup.now_ns, GROUP, JoinRequest(**request))  # type: ignore[arg-type]

    def _joined(self, reply: Reply[JoinResult]) -> None:
        if not self.alive:
            return
        if reply.error is not None:
            self._failed(reply.error)
            return
        result = reply.result()
        self.member_id, self.generation = result.member_id, result.generation
        assignments = {}
        if result.members:
            self.led += 1
            assignments = lead(result.protocol, result.members, lambda topic: self.setup.partitions.get(topic, 0))
        self.sync(assignments).then(self._synced)

    def sync(self, assignments: dict[str, bytes] | None = None) -> Reply[SyncResult]:
        return self.setup.coordinator.sync(self.setup.now_ns, GROUP, self.member_id, self.generation, assignments or {})

    def _synced(self, reply: Reply[SyncResult]) -> None:
        if not self.alive:
            return
        if reply.error is not None:
            self._failed(reply.error)
            return
        given = decode_assignment(reply.result().assignment).partitions
        lost = set(self.owned) - set(given)
        self.owned = self.had = given
        self.settled = True
        self.on_owned(self)
        if self.cooperative and lost:
            # As real clients do: at the next poll.
            self.setup.timers.at(self.setup.now_ns + NS_PER_MS, lambda _: self.alive and self.settled and self.join())

    def _failed(self, error: Exception) -> None:
        assert isinstance(error, BrokerError)
        self.errors.append(error.code)
        self.settled = True
        if error.code in {ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION}:
            self.member_id, self.generation, self.owned, self.had = "", -1, (), ()
            self.join()
        elif error.code is ErrorCode.REBALANCE_IN_PROGRESS:
            self.join()

    def heartbeat(self) -> None:
        """One heartbeat; joins again where the broker says so."""
        if not self.settled:
            return
        try:
            self.setup.coordinator.heartbeat(self.setup.now_ns, GROUP, self.member_id, self.generation)
        except BrokerError as error:
            self._failed(error)

    def beat(self, interval_ms: int = 1_000) -> Client:
        """Heartbeats from now on."""

        def again(_: int) -> None:
            if self.alive:
                self.heartbeat()
                self.setup.timers.at(self.setup.now_ns + interval_ms * NS_PER_MS, again)

        self.setup.timers.at(self.setup.now_ns + interval_ms * NS_PER_MS, again)
        return self

    def crash(self) -> None:
        """Silence from now on."""
        self.alive = False

    def leave(self, cause: str = "") -> None:
        self.alive = False
        self.setup.coordinator.leave(self.setup.now_ns, GROUP, self.member_id, cause)

    def commit(self, offset: int, partition: int = 0, topic: str = "commits") -> list[object]:
        return list(
            self.setup.coordinator.commit(
                self.setup.now_ns, GROUP, self.member_id, self.generation, {(topic, partition): offset}
            )
        )
