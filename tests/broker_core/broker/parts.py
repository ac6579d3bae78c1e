"""Parts of the broker on their own: logs in memory, and what publishing needs of the others."""

from __future__ import annotations

from typing import Any, cast

from broker_core.broker.corruption_report import CorruptionReport
from broker_core.broker.delivery_record import DeliveryRecord
from broker_core.broker.durability import Durability
from broker_core.broker.fetches import Fetches
from broker_core.broker.logs import Logs, Topic
from broker_core.broker.publishing import Published, Publishing
from broker_core.broker.recently_deleted import RecentlyDeleted
from broker_core.broker.schemas import Schemas
from broker_core.events import Event, EventStream
from broker_core.files import MemoryFiles
from broker_core.log.config import LogConfig
from broker_core.log.growth import Growth
from broker_core.log.partitioners import Partitioner
from broker_core.messages import Message
from broker_core.replies import Reply
from broker_core.timers import Timers


class NoGroups:
    """There are none."""

    def committed(self, group: str, topic: str, partition: int) -> None:
        return None

    def is_member(self, group: str, member_id: str) -> bool:
        return False


class Parts:
    """Logs, schemas and publishing, without queues, groups or topics of users."""

    def __init__(self, log: LogConfig | None = None) -> None:
        self.timers = Timers()
        self.stream = EventStream()
        self.events: list[Event] = []
        self.stream.attach(self.events.append)
        self.files = MemoryFiles()
        self.logs = Logs(self.files, RecentlyDeleted(self.timers), log or LogConfig(durability="memory"), epoch_ms=0)
        self.corruption = CorruptionReport(self.stream, str)
        self.durability = Durability(self.files, self.logs, self.corruption.add)
        self.schemas = Schemas(self.logs, self.stream)
        record = DeliveryRecord(self.stream, self.logs.partition, cast(Any, NoGroups))
        self.fetches = Fetches(record, self.timers, self.logs.partition)
        self.growth = Growth(self.timers)
        self.appends: list[tuple[str, int]] = []  # by producers with an id, asked for before they are done
        self.publishing = Publishing(
            self.logs,
            self.schemas,
            self.durability,
            lambda _stamp, *place: self.appends.append(place),
            self.fetches,
            self.growth,
            self.stream,
        )

    def topic(self, name: str, partitions: int = 1) -> Topic:
        return self.logs.add(name, partitions, Partitioner("crc32"))

    def publish(self, name: str, *values: bytes, key: bytes | None = None) -> Reply[Published | None]:
        messages = [Message(value, key) for value in values]
        return self.publishing.publish_batch(0, name, None, messages, client="p")
