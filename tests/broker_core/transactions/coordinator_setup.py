"""A broker in virtual time whose process can be killed: what is on its disk is opened again."""

from __future__ import annotations

from collections.abc import Sequence

from broker_core.broker.broker import Broker
from broker_core.broker.handlers import HANDLERS
from broker_core.clock import NS_PER_MS
from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import Event, EventKind, EventStream
from broker_core.files import MemoryFiles
from broker_core.groups.config import GroupConfig
from broker_core.groups.offsets import OffsetStore
from broker_core.log.batch import ProducerStamp
from broker_core.log.config import Durability, LogConfig
from broker_core.messages import Message
from broker_core.replies import Reply
from broker_core.timers import Timers
from broker_core.transactions.transaction import DIRECTORY, Identity
from tests.broker_core.log.test_transactions import committed

EPOCH_MS = 1_700_000_000_000


class CoordinatorSetup:
    """Topic "orders" with two partitions. `offsets` are what the file of offsets holds, whoever opens it."""

    def __init__(self, durability: Durability = "file") -> None:
        self.files = MemoryFiles()
        self.offsets = OffsetStore()
        self.log_config = LogConfig(durability=durability, segment_bytes=400)
        self.now_ns = 0
        self.events: list[Event] = []
        self._open()
        self.broker.topics.create(0, "orders", 2)
        self.sequences: dict[tuple[Identity, int], int] = {}

    def _open(self) -> None:
        self.timers = Timers()
        stream = EventStream()
        stream.attach(self.events.append)
        self.broker = Broker(
            self.files,
            self.timers,
            stream,
            self.offsets,
            handlers=HANDLERS,
            log_config=self.log_config,
            group_config=GroupConfig(),
            epoch_ms=EPOCH_MS,
        )
        self.transactions = self.broker.transactions

    def kill(self) -> None:
        """The process dies, and the next one opens what it finds."""
        catalog = self.broker.catalog()
        files = MemoryFiles()
        for directory in ("orders-0", "orders-1", DIRECTORY):
            for name in self.files.listdir(directory) if self.files.exists(directory) else ():
                files.makedirs(directory)
                path = f"{directory}/{name}"
                files.write_whole(path, self.files.read(path, 0, self.files.size(path)), durable=False)
        self.files = files
        self._open()
        self.broker.restore(self.now_ns, catalog)
        self.transactions.resume(self.now_ns)
        self.sync()

    def run(self, ms: float) -> None:
        """Let that much time pass."""
        end_ns = self.now_ns + round(ms * NS_PER_MS)
        while (due_ns := self.timers.next_deadline_ns()) is not None and due_ns <= end_ns:
            self.now_ns = max(self.now_ns, due_ns)
            self.timers.fire_next(self.now_ns)
        self.now_ns = end_ns

    def sync(self, failing: str = "") -> None:
        """Rounds of group commit until nobody waits; the log with the name `failing` cannot be synced."""
        while self.broker.durability.syncs.wanted:
            tickets = self.broker.durability.syncs.begin()
            for log, ticket in tickets:
                ticket.run()
                if log.name == failing:
                    ticket.error = BrokerError(ErrorCode.STORAGE_ERROR, "the disk failed")
            self.broker.durability.end_sync(self.now_ns, tickets)

    def init(self, transactional_id: str = "payments", timeout_ms: int = 60_000) -> Identity:
        return self.done(self.transactions.begin_session(self.now_ns, transactional_id, timeout_ms, client="shop"))

    def done(self, reply: Reply[Identity]) -> Identity:
        self.sync()
        return reply.result()

    def send(self, identity: Identity, partition: int, *values: str, transactional_id: str = "payments") -> None:
        self.transactions.add_partitions(self.now_ns, transactional_id, identity, [("orders", partition)])
        self.sync()
        self.publish(identity, partition, values)

    def publish(self, identity: Identity, partition: int, values: Sequence[str]) -> None:
        sequence = self.sequences.get((identity, partition), 0)
        reply = self.broker.publishing.publish_batch(
            self.now_ns,
            "orders",
            partition,
            [Message(value.encode()) for value in values],
            client="shop",
            producer=ProducerStamp(*identity, sequence, True),
        )
        self.sync()
        reply.result()
        self.sequences[identity, partition] = sequence + len(values)

    def end(self, identity: Identity, *, commits: bool, bumps_epoch: bool = False) -> Identity:
        return self.done(
            self.transactions.end(self.now_ns, "payments", identity, commits=commits, bumps_epoch=bumps_epoch)
        )

    def committed(self, partition: int = 0) -> list[str]:
        log = self.broker.logs.partition("orders", partition)
        return [(value or b"").decode() for value in committed(log)]

    def told(self) -> list[tuple[str, str]]:
        """What the stream said of transactions."""
        kinds = {EventKind.TRANSACTION_STARTED, EventKind.TRANSACTION_ENDED}
        return [(event.kind.value, event.cause) for event in self.events if event.kind in kinds]
