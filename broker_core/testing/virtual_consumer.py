"""A consumer in virtual time: its methods are those of confluent-kafka, and its actor lives in a simulation."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import Any, TypeVar

import msgspec

from broker_core.clients.consumer import Consumer, ConsumerConfig
from broker_core.clients.effects import SqliteEffects
from broker_core.errors import BrokerError
from broker_core.groups import protocol
from broker_core.messages import Headers, StoredMessage
from broker_core.replies import Reply
from broker_core.simulation.consumer import ConsumerActor
from broker_core.simulation.specs import ConsumerSpec, GroupSpec
from broker_core.testing.blocking_thread import BlockingThread
from broker_core.testing.schedule import Disturbance

T = TypeVar("T")

RESTART_S = 1.0  # of a function that a broker's error has ended, as by a supervisor
MAX_LATENCY_MS = 3.0
WAIT_MS = 1_000.0  # a part of a poll without an end
OFFSET_INVALID = -1001  # librdkafka's


class TopicPartition(msgspec.Struct, frozen=True):
    """A partition, with an offset where one is meant."""

    topic: str
    partition: int
    offset: int = OFFSET_INVALID


Listener = Callable[["VirtualConsumer", list[TopicPartition]], object]


class VirtualMessage:
    """A message with the methods of confluent-kafka's."""

    def __init__(self, stored: StoredMessage) -> None:
        self._stored = stored

    def topic(self) -> str:
        """The topic's name."""
        return self._stored.topic

    def partition(self) -> int:
        """The partition's number."""
        return self._stored.partition

    def offset(self) -> int:
        """The offset in its partition."""
        return self._stored.offset

    def key(self) -> bytes | None:
        """The key."""
        return self._stored.key

    def value(self) -> bytes | None:
        """The value."""
        return self._stored.value

    def headers(self) -> Headers:
        """Pairs of a name and bytes."""
        return self._stored.headers

    def timestamp(self) -> tuple[int, int]:
        """(1, Unix time in milliseconds); 1 says that the producer has set it."""
        return 1, self._stored.timestamp_ms

    def error(self) -> None:
        """Always None: an error is raised."""


class VirtualConsumer:
    """What the function of a `FunctionActor` gets. Every call takes some virtual time, and may be the last.

    An error of the broker is raised as `BrokerError`, as after a commit by a member whose group has moved on.
    """

    def __init__(self, actor: FunctionActor, client: Consumer) -> None:
        self.thread: BlockingThread
        self._actor = actor
        self._client = client

    def subscribe(
        self,
        topics: Sequence[str],
        on_assign: Listener | None = None,
        on_revoke: Listener | None = None,
        on_lost: Listener | None = None,
    ) -> None:
        """Read `topics` from the next poll on. The listeners are called in a poll and must not wait."""
        for what, listener in (("assign", on_assign), ("revoke", on_revoke), ("lost", on_lost or on_revoke)):
            if listener is not None:
                self._actor.listeners[what] = partial(listener, self)
            else:
                self._actor.listeners.pop(what, None)
        self._client.subscribe(topics)

    def poll(self, timeout: float | None = None) -> VirtualMessage | None:
        """The next message; None after `timeout` seconds. Without one it waits for as long as it takes."""
        messages = self.consume(1, -1 if timeout is None else timeout)
        return messages[0] if messages else None

    def consume(self, num_messages: int = 1, timeout: float = -1) -> list[VirtualMessage]:
        """Up to `num_messages`; [] after `timeout` seconds, which below 0 never ends."""

        async def poll() -> list[StoredMessage]:
            self._actor.enter("waiting")
            messages: list[StoredMessage] = []
            while not messages:
                timeout_ms = WAIT_MS if timeout < 0 else timeout * 1_000
                messages = await self._client.poll(timeout_ms, num_messages)
                if timeout >= 0:
                    break
            self._actor.enter("running")
            return messages

        return [VirtualMessage(message) for message in self._call(poll)]

    def commit(
        self,
        message: VirtualMessage | None = None,
        offsets: Sequence[Any] | None = None,
        asynchronous: bool = True,
    ) -> None:
        """Commit behind `message`, or `offsets` (with topic, partition and offset), or all that was handed out.

        With `asynchronous` it does not wait, and drops an error, as without an on_commit. In a listener it is
        done at once.
        """
        if message is not None:
            offsets = [TopicPartition(message.topic(), message.partition(), message.offset() + 1)]
        chosen = None if offsets is None else {(each.topic, each.partition): each.offset for each in offsets}

        def commit() -> None:
            if chosen is None:
                self._client.commit_handed()
            else:
                self._client.commit_offsets(chosen)

        async def arrive() -> None:
            commit()

        if self._actor.in_listener:
            commit()
        elif asynchronous:
            self._actor.later(commit)
        else:
            self._call(arrive)

    def assignment(self) -> list[TopicPartition]:
        """The partitions that it owns."""
        return _places(self._client.assignment)

    def sleep(self, seconds: float) -> None:
        """Let `seconds` of virtual time pass, as work on a message takes them; no call of the broker."""

        async def pass_time() -> None:
            await self._actor.sleep(seconds * self._actor.slowness)

        self.thread.ask(pass_time)

    def close(self) -> None:
        """Leave the group."""

        async def leave() -> None:
            self._client.close()

        if not self._client.closed:
            self._call(leave)

    def _call(self, request: Callable[[], Coroutine[Reply[Any], None, T]]) -> T:
        return self.thread.ask(lambda: self._actor.call(request))


def _places(partitions: Sequence[protocol.TopicPartition]) -> list[TopicPartition]:
    return [TopicPartition(topic, partition) for topic, partition in partitions]


class FunctionActor(ConsumerActor):
    """A consumer whose work is `function(consumer)`; it begins anew after a crash. `disturb(disturbance)` does one."""

    def __init__(
        self,
        name: str,
        function: Callable[[VirtualConsumer], object],
        config: ConsumerConfig,
        effects_of: Callable[[str], SqliteEffects],
        disturbances: Sequence[Disturbance],
        disturb: Callable[[Disturbance], object],
    ) -> None:
        super().__init__(name, ConsumerSpec(name=name), effects_of)
        self.calls = 0
        self.in_listener = False
        self.listeners: dict[str, Callable[[list[TopicPartition]], object]] = {}
        self._function = function
        self._config = config
        self._disturbances = tuple(disturbances)
        self._disturb = disturb

    def _connect(self, group: GroupSpec) -> None:
        self.listeners.clear()
        self._client = Consumer(
            self.broker,
            self.loop,
            self.name,
            group.name,
            group.topics,
            self._config,
            on_assigned=partial(self._tell, "assign"),
            on_revoked=partial(self._tell, "revoke"),
            on_lost=partial(self._tell, "lost"),
        )
        self._client.muted = self._muted

    def _tell(self, what: str, partitions: Sequence[protocol.TopicPartition]) -> None:
        if what in self.listeners:
            self.in_listener = True
            try:
                self.listeners[what](_places(partitions))
            finally:
                self.in_listener = False

    async def run(self) -> None:
        while (client := self._client) is not None:
            consumer = VirtualConsumer(self, client)
            consumer.thread = BlockingThread(partial(self._function, consumer), self.name)
            self.enter("running")
            try:
                await consumer.thread.run()
            except BrokerError:
                self.failed += 1
                client.abandon()
                await self.sleep(RESTART_S)
                if self._group is not None:
                    self._connect(self._group)
            else:
                client.abandon()
                return

    async def call(self, request: Callable[[], Coroutine[Reply[Any], None, T]]) -> T:
        """One call of the broker: there, `request`, and back, with what is to go wrong on the way."""
        self.calls += 1
        call = self.calls
        await self._on_the_way(call, "before")
        reply: Reply[T] = Reply()
        try:
            reply.resolve(await request())
        except BrokerError as error:
            reply.fail(error)
        await self._on_the_way(call, "after")
        return reply.result()

    def later(self, request: Callable[[], object]) -> None:
        """A call without a waiting caller; it is lost where the client crashes before it arrives."""

        async def arrive() -> None:
            await self._latency()
            if self._client is not None and not self._client.closed:
                try:
                    request()
                except BrokerError:
                    self.failed += 1

        self.loop.spawn(arrive(), self.name)

    async def _on_the_way(self, call: int, when: str) -> None:
        for disturbance in self._disturbances:
            if disturbance.call == call and disturbance.when == when:
                self._disturb(disturbance)
        await self._latency()

    async def _latency(self) -> None:
        await self.sleep(self.numbers.uniform(0.01, MAX_LATENCY_MS) / 1_000)
