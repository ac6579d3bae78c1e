"""A broker in the process of a test, which Kafka and HTTP clients can connect to."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path
from types import TracebackType
from typing import Annotated, Any, Self

from broker_core.clients.admin import Admin
from broker_core.clients.producer import Producer
from broker_core.clients.producer_config import ProducerConfig
from broker_core.clients.serializers import JsonSerializer
from broker_core.clock import s_from_ns
from broker_core.engine.host import BrokerHost, HostConfig
from broker_core.errors import BrokerError
from broker_core.flow.config import FlowConfig
from broker_core.groups.config import GroupConfig
from broker_core.kinds import Range
from broker_core.limits import MAX_PARTITIONS
from broker_core.listeners.connections import Connections
from broker_core.listeners.kafka.listener import KafkaListener
from broker_core.log.config import Durability, LogConfig
from broker_core.messages import Headers, StoredMessage
from broker_core.queues.config import QueueConfig
from broker_core.settings import Port, checked_class
from broker_core.snapshots import Snapshot
from broker_core.testing.clock import BrokerClock
from broker_core.testing.event_ring import EventRing
from broker_core.testing.timeline import timeline

_READ_AT_ONCE = 10_000
# A test waits for its members, not for more of them.
DEFAULT_GROUPS = GroupConfig(initial_rebalance_delay_ms=0)


@checked_class(fast=("publish",))  # the producer checks
class EmbeddedBroker:
    """A fresh broker with Kafka and HTTP listeners on loopback ports. Close it, or use it in a `with` block.

    Without `path` everything is in memory. Port 0 is any free port; the HTTP listener is opened by the first use of
    `http_url`, or at once where `http_port` names one. With `create_topics` above 0, Kafka clients create unknown
    topics with that many partitions. Raises as `BrokerHost`, and INVALID_CONFIG where a port is taken.
    """

    def __init__(
        self,
        path: Path | str | None = None,
        *,
        durability: Durability = "file",
        groups: GroupConfig = DEFAULT_GROUPS,
        kafka_port: Port = 0,
        http_port: Port = 0,
        create_topics: Annotated[int, Range(0, MAX_PARTITIONS)] = 0,
    ) -> None:
        self.host = BrokerHost(path, HostConfig(log=LogConfig(durability=durability), groups=groups))
        self.host.broker.clock.movable = self.host.clock
        self.admin = Admin(self.host)
        self.clock = BrokerClock(lambda: self.host)
        self.connections = Connections(lambda: self.host.now_ns)
        self._started_s = time.time()
        # What was in its directory is no event.
        self.events = EventRing(Snapshot(0, 0) if path is None else self.host.call(self._restored))
        self.host.events.attach(self.events)
        self._http_port = http_port
        self._http_url = ""
        self._producer: Producer | None = None
        with contextlib.ExitStack() as opened:
            opened.callback(self.host.close)
            self._kafka = KafkaListener(
                self.host, port=kafka_port, connections=self.connections, create_topics=create_topics
            ).start()
            if http_port:
                self._open_http()
            opened.pop_all()

    # -- where clients find it

    @property
    def bootstrap_servers(self) -> str:
        """What Kafka clients are configured with."""
        return self._kafka.bootstrap_servers

    @property
    def http_url(self) -> str:
        """Where HTTP clients find it; the first use opens the listener."""
        if not self._http_url:
            self._open_http()
        return self._http_url

    def _open_http(self) -> None:
        # The import and the application of FastAPI cost more than all else of a broker.
        from broker_core.listeners.http.listener import HttpListener

        self._http_url = HttpListener(self.host, port=self._http_port, connections=self.connections).start().url

    # -- arrange

    def create_topic(
        self, name: str, partitions: int = 1, *, flow: FlowConfig | None = None, log: LogConfig | None = None
    ) -> None:
        """Create a topic; `admin.create_topic` has more settings.

        Raises TOPIC_ALREADY_EXISTS, INVALID_TOPIC, INVALID_PARTITIONS.
        """
        self.admin.create_topic(name, partitions, flow=flow, log=log)

    def create_queue(self, name: str, config: QueueConfig | None = None, *, flow: FlowConfig | None = None) -> None:
        """Create a queue. Raises TOPIC_ALREADY_EXISTS, INVALID_TOPIC."""
        self.admin.create_queue(name, config, flow=flow)

    def publish(
        self,
        topic: str,
        *values: Any,
        key: str | bytes | None = None,
        headers: Headers = (),
        partition: int | None = None,
        ttl_ms: int | None = None,
        priority: int = 0,
    ) -> list[tuple[int, int]]:
        """Publish `values` to a topic or queue, in order; (partition, offset) of each.

        Bytes, text and None are stored as they are, any other value as JSON. Raises UNKNOWN_TOPIC_OR_PARTITION,
        UNSERIALIZABLE, and what refuses a message.
        """
        if self._producer is None:
            self._producer = Producer(self.host, ProducerConfig(idempotent=False), client_id="test")
        return [
            self._producer.publish(
                topic, _stored(value), key, headers=headers, partition=partition, ttl_ms=ttl_ms, priority=priority
            )
            for value in values
        ]

    # -- assert

    def messages(self, topic: str, partition: int | None = None) -> list[StoredMessage]:
        """All that a topic or queue holds, of one partition or of all, in the order of publishing.

        Messages of one moment are in the order of partition and offset. Raises UNKNOWN_TOPIC_OR_PARTITION, DAMAGED.
        """

        def read(_now: int) -> list[StoredMessage]:
            found: list[StoredMessage] = []
            logs = self.host.broker.logs
            chosen = range(logs.partition_count(topic)) if partition is None else (partition,)
            for number in chosen:
                log = logs.partition(topic, number)
                offset = log.start_offset
                while part := log.read(offset, max_messages=_READ_AT_ONCE):
                    found += part
                    offset = part[-1].offset + 1
            return sorted(found, key=lambda message: message.published_ns)

        return self.host.call(read)

    # -- the recording

    @property
    def now_s(self) -> float:
        """Session time in seconds."""
        return s_from_ns(self.host.now_ns)

    def timeline(self) -> str:
        """What has happened last, in some lines."""

        def tell(_now_ns: int) -> str:
            return timeline(self.events.events, self.host.broker.logs)

        try:
            return self.host.call(tell)
        except BrokerError:  # it is closed
            return tell(0)

    def _restored(self, now_ns: int) -> Snapshot:
        from broker_core.recording.keyframes import MAX_LEASES, MAX_LETTERS  # loads pyarrow

        topics, groups, queues = self.host.broker.views.all(now_ns, max_leases=MAX_LEASES, max_dead_letters=MAX_LETTERS)
        return Snapshot(now_ns, self.host.events.count, topics, groups, queues, totals=self.host.broker.views.totals())

    def save(self, folder: Path | str, *, title: str = "Test", about: str = "") -> Path:
        """Write a session to `folder`, which must be empty or not there, for `brokerscope open` and `report`.

        It holds the last events of this broker. Works after `close`, too. Raises FOLDER_NOT_EMPTY, STORAGE_ERROR.
        """
        return self.events.save(
            Path(folder),
            title=title,
            about=about,
            started_s=self._started_s,
            totals=self.host.broker.views.totals(),
            end_ns=self.host.now_ns,
        )

    # -- the end

    def close(self) -> None:
        """Close listeners, clients and files. The second call does nothing."""
        self.host.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _stored(value: Any) -> bytes | str | None:
    return value if value is None or isinstance(value, bytes | str) else JsonSerializer().serialize(value)
