"""A broker in virtual time, for clients that live in the core."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

from broker_core.broker.broker import Broker
from broker_core.broker.handlers import HANDLERS
from broker_core.clients.consumer import Consumer
from broker_core.clients.membership import ConsumerConfig
from broker_core.clock import ns_from_s
from broker_core.engine.loop import Loop
from broker_core.events import Event, EventKind, EventStream
from broker_core.files import MemoryFiles
from broker_core.groups.config import GroupConfig
from broker_core.groups.offsets import OffsetStore
from broker_core.log.config import LogConfig
from broker_core.messages import Message
from broker_core.replies import Reply

EPOCH_MS = 1_700_000_000_000


class VirtualBroker:
    """One topic, `commits`, with as many partitions as asked for."""

    def __init__(self, partitions: int = 3, log: LogConfig | None = None) -> None:
        self.loop = Loop()
        self.stream = EventStream()
        self.events: list[Event] = []
        self.stream.attach(self.events.append)
        self.files = MemoryFiles()
        self.broker = Broker(
            self.files,
            self.loop.timers,
            self.stream,
            OffsetStore(),
            handlers=HANDLERS,
            log_config=log or LogConfig(),
            group_config=GroupConfig(initial_rebalance_delay_ms=0),
            epoch_ms=EPOCH_MS,
        )
        self.broker.topics.create(0, "commits", partitions)

    @property
    def now_ns(self) -> int:
        return self.loop.now_ns

    def run(self, seconds: float = 0.0) -> None:
        self.loop.run_until(self.loop.now_ns + ns_from_s(seconds))

    def do(self, coroutine: Coroutine[Reply[Any], None, Any], within_s: float = 60.0) -> Any:
        """Run a coroutine to its end; its result."""
        task = self.loop.spawn(coroutine, "test")
        end_ns = self.loop.now_ns + ns_from_s(within_s)
        while not task.finished.done and self.loop.run_next(end_ns):
            pass
        return task.finished.result()

    def publish(self, *values: bytes, topic: str = "commits", key: bytes | None = None) -> None:
        for value in values:
            assert self.broker.publishing.publish(self.now_ns, topic, Message(value, key), client="test").done

    def values(self, topic: str = "commits") -> list[list[bytes | None]]:
        """What each partition holds."""
        count = self.broker.logs.partition_count(topic)
        return [
            [
                message.value
                for message in self.broker.logs.partition(topic, number).read(
                    self.broker.logs.partition(topic, number).start_offset, max_messages=10_000
                )
            ]
            for number in range(count)
        ]

    def consumer(self, name: str = "reader", group: str = "readers", *topics: str, **config: Any) -> Consumer:
        return Consumer(self.broker, self.loop, name, group, topics or ("commits",), ConsumerConfig(**config))

    def kinds(self, *wanted: EventKind) -> list[Event]:
        return [event for event in self.events if event.kind in wanted]
