"""A real cluster in the place of an embedded broker: the same faults, waits and audit, from between."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeVar, cast

from broker_core.broker.conditions import Conditions, Row, row_of
from broker_core.broker.handlers import HANDLERS
from broker_core.broker.occurrences import BrokerState, Parts, SnapshotState
from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import Event, EventStream
from broker_core.listeners.between.peer import BetweenPeer
from broker_core.observation.kafka.config import connection_config
from broker_core.observation.observed_session import ObservedSession
from broker_core.operations.observe import WaitUntil
from broker_core.operations.request import Request
from broker_core.snapshots import Snapshot
from broker_core.testing.embedded_broker import EmbeddedBroker, stored
from broker_core.testing.faults import Faults
from broker_core.testing.history import AuditedHistory, KeptEvents
from broker_core.timers import Timers

if TYPE_CHECKING:
    from broker_core.recording.audit import Audit

T = TypeVar("T")
_POLL_S = 0.02
_THERE: Final = 36  # TOPIC_ALREADY_EXISTS
_COPIES = 3  # of a topic that a test creates, where there are so many nodes
_OURS: Final = frozenset(
    {"clock", "http_url", "create_queue", "messages", "crash", "restart", "reset", "wait_until_async"}
)


class _SeenConditions(Conditions):
    """On the state that was seen last."""

    def __init__(self, latest: Callable[[], Snapshot], events: EventStream, timers: Timers) -> None:
        super().__init__(cast(Parts, None), events, timers)
        self._latest = latest

    def rows(self, now_ns: int) -> Iterator[Row]:
        snapshot = self._latest()
        self._state = cast(BrokerState, SnapshotState(snapshot))
        for group in snapshot.groups:
            yield row_of(group, now_ns)
        for topic in snapshot.topics:
            count = topic.messages_count  # which of them were aborted is not known of those from before
            yield {"kind": "topic", "topic": topic.name, "messages": count, "committed": count, "time": now_ns}


class _Nothing(list[Any]):
    """The logs and queues of a cluster: what an embedded broker has there is not known of it."""

    def names(self) -> list[str]:
        return []

    def partition(self, *_place: object) -> NoReturn:
        raise BrokerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "values of a cluster are not read")


class _SeenHost:
    """Stands in for the host of an embedded broker: answers from what the ports have seen of the cluster."""

    def __init__(self, session: ObservedSession, peer: BetweenPeer, stream: EventStream) -> None:
        self._session, self._peer, self._timers = session, peer, Timers()
        self.lock = threading.RLock()  # of conditions and events
        self.conditions = _SeenConditions(lambda: session.latest, stream, self._timers)
        self.client_faults, self.call = peer.ports.client_faults, peer.ports.call
        self.logs = self.queues = _Nothing()
        self.views = SimpleNamespace(totals=lambda: session.latest.totals)

    @property
    def broker(self) -> _SeenHost:
        return self

    @property
    def now_ns(self) -> int:
        return self._peer.ports.now_ns()

    def snapshot(self, _now_ns: int, **_most: int) -> Snapshot:
        return self._session.latest

    def ask(self, request: Request[T]) -> T:
        if not isinstance(request, WaitUntil):
            return self._peer.ask(request)
        with self.lock:
            reply = HANDLERS[WaitUntil](self, self.now_ns, request, "")
        while not reply.done:
            time.sleep(_POLL_S)
            with self.lock:
                self.conditions.look_again(self.now_ns)
                while not reply.done and self._timers.fire_next(self.now_ns) is not None:
                    pass
        return cast(T, reply.result())


class ClusterBroker(EmbeddedBroker):
    """The cluster at `cluster` (HOST:PORT), for a test that ran on an `EmbeddedBroker`: programs connect to
    `bootstrap_servers`, through which all they do is seen. `config` is a client.properties.

    `faults` of requests, `wait_until`, `audit`, `timeline`, `save`, `run`, `create_topic` and `publish` are the same.
    The audit covers what has passed since it was opened. What only our own broker can do (its clock, HTTP, queues,
    crashes, kicked members, full disks) raises INVALID_REQUEST and says so. Nothing is deleted: what a test creates
    stays. Raises as an attached cluster does.
    """

    def __init__(self, cluster: str, *, config: Path | str | None = None) -> None:
        peer = BetweenPeer(connection_config(cluster, None if config is None else Path(config)), port=0, every_s=1.0)
        stream = EventStream()
        self.path = self.disk = self._http = None
        self._programs, self._waited_for = [], set()
        self._started_s = time.time()
        self._history = AuditedHistory()
        self._ready = threading.Event()  # the first events may come before all is made

        def begin(snapshot: Snapshot) -> None:
            if not self._ready.is_set():
                self.events = KeptEvents(snapshot)
                stream.attach(self.events)
                stream.attach(self._history)

        def take(event: Event) -> None:
            self._ready.wait()
            with self._seen.lock:
                stream.pass_on(event)

        self._session = ObservedSession(peer, folder=None, sinks=[take], on_keyframe=begin)
        self._seen = _SeenHost(self._session, peer, stream)
        self.host, self.connections, self._peer = cast(Any, self._seen), peer.clients, peer
        self.admin = cast(Any, SimpleNamespace(topics=self._topics, groups=self._groups, describe_group=_only_ours))
        self.faults = Faults(self)
        self._ready.set()

    def __getattribute__(self, name: str) -> Any:
        return _only_ours(name) if name in _OURS else super().__getattribute__(name)

    def _topics(self) -> list[str]:
        return [topic.name for topic in self._session.latest.topics]

    def _groups(self) -> list[str]:
        return [group.name for group in self._session.latest.groups]

    @property
    def bootstrap_servers(self) -> str:
        """The address to configure Kafka clients with."""
        return self._peer.bootstrap_servers

    def addressed(self, text: str) -> str:
        """`text` with the address in place of "{bootstrap_servers}"."""
        return text.replace("{bootstrap_servers}", self.bootstrap_servers)

    def create_topic(self, name: str, partitions: int = 1, **settings: Any) -> None:
        """Create it with the cluster's own settings, unless an earlier test has. Raises INVALID_REQUEST for others, and
        if it is there with another number of partitions.
        """
        from aiokafka.admin import AIOKafkaAdminClient, NewTopic

        if settings:
            _only_ours(f"setting {next(iter(settings))} of topics")

        async def create() -> None:
            admin = AIOKafkaAdminClient(bootstrap_servers=self.bootstrap_servers, client_id="test")
            await admin.start()
            try:
                copies = min(_COPIES, len(self._peer.ports.nodes))
                made = await admin.create_topics([NewTopic(name, partitions, copies)])
                for _name, code, *why in made.topic_errors:
                    if code not in {0, _THERE}:
                        raise BrokerError(ErrorCode.INVALID_REQUEST, f"{name}: {why[0] if why else code}")
                await admin.describe_topics([name])  # so that the topic is seen
            finally:
                await admin.close()

        _done(create())
        self.wait_until(f'topic = "{name}" and messages >= 0')
        count = next(len(topic.partitions) for topic in self._session.latest.topics if topic.name == name)
        if count != partitions:
            raise BrokerError(ErrorCode.INVALID_REQUEST, f"{name} is there with {count} partitions, not {partitions}")

    def publish(
        self, topic: str, *values: Any, key: str | bytes | None = None, partition: int | None = None, **more: Any
    ) -> list[tuple[int, int]]:
        """As `EmbeddedBroker.publish`: the (partition, offset) of each value."""
        from aiokafka import AIOKafkaProducer

        if more:
            _only_ours(f"{next(iter(more))} of messages")

        async def send() -> list[tuple[int, int]]:
            async with AIOKafkaProducer(bootstrap_servers=self.bootstrap_servers, client_id="test") as producer:
                sent = []
                for value in values:
                    data, named = (each.encode() if isinstance(each, str) else each for each in (stored(value), key))
                    found = await producer.send_and_wait(topic, data, named, partition)
                    sent.append((found.partition, found.offset))
                return sent

        return _done(send())

    def audit(self) -> Audit:
        """As `EmbeddedBroker.audit`, of what has passed since this was opened."""
        self._peer.catch_up()
        return self._history.audit(self.host.broker, self._session.latest.compacted)

    def timeline(self, *, whole: bool = False) -> str:
        """As `EmbeddedBroker.timeline`, up to now."""
        self._peer.catch_up()
        return super().timeline(whole=whole)

    def save(self, folder: Path | str, *, title: str = "Test", about: str = "") -> Path:
        """As `EmbeddedBroker.save`, up to now."""
        self._peer.catch_up()
        return super().save(folder, title=title, about=about)

    def close(self) -> None:
        """Stop programs, end faults, close the ports. The cluster stays as it is. The second call does nothing."""
        self._end()

    def _end_broker(self) -> None:
        self._session.close()


def _only_ours(name: str, *_more: object) -> NoReturn:
    about = f"a real cluster has no {name} here; only an embedded broker has (make_broker() without cluster)"
    raise BrokerError(ErrorCode.INVALID_REQUEST, about)


def _done(work: Coroutine[Any, Any, T]) -> T:
    """Run `work` in a thread, since the test may run in a loop. Raises INVALID_REQUEST for the cluster's errors."""
    with ThreadPoolExecutor(1) as worker:
        try:
            return worker.submit(lambda: asyncio.run(work)).result()
        except Exception as error:
            raise BrokerError(ErrorCode.INVALID_REQUEST, f"the cluster has refused it: {error}") from error
