"""Async functions in virtual time: an asyncio loop whose clock is the simulation's, and a consumer as aiokafka's."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from broker_core.clock import s_from_ns
from broker_core.errors import BrokerError, ErrorCode
from broker_core.messages import Headers
from broker_core.testing.blocking_thread import ActorStopped
from broker_core.testing.disturbed_actor import both
from broker_core.testing.virtual_consumer import OFFSET_INVALID, TopicPartition, VirtualConsumer, VirtualMessage

MAX_RECORDS = 500
_FENCED = {ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION, ErrorCode.REBALANCE_IN_PROGRESS}


class AsyncTopicPartition(NamedTuple):
    """aiokafka's TopicPartition."""

    topic: str
    partition: int


class AsyncMessage(msgspec.Struct, frozen=True):
    """A message with the fields of aiokafka's ConsumerRecord."""

    topic: str
    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: Headers


class _Poll(NamedTuple):
    found: asyncio.Future[list[VirtualMessage]]
    most: int
    until_s: float


class _VirtualLoop(asyncio.BaseEventLoop):
    """If nothing is ready it lets virtual time pass, or polls: no handle runs then, so that listeners may wait."""

    def __init__(self, consumer: VirtualConsumer) -> None:
        super().__init__()
        self.thread = threading.get_ident()
        self._selector = self
        self._consumer = consumer
        self._polls: list[_Poll] = []
        self._polling = self._waits = False

    def time(self) -> float:
        return s_from_ns(self._consumer.now_ns)

    def poll(self, most: int, timeout_s: float) -> asyncio.Future[list[VirtualMessage]]:
        self._polls.append(_Poll(self.create_future(), most, self.time() + timeout_s))
        return self._polls[-1].found

    def run_nested(self, task: asyncio.Task[Any]) -> None:
        """Within a poll."""
        while not task.done():
            self._run_once()  # type: ignore[attr-defined]
        task.result()

    # -- what asyncio asks its selector

    def select(self, timeout_s: float | None) -> list[object]:
        """Wait up to `timeout_s` of virtual time."""
        self._polls = [each for each in self._polls if not each.found.done()]
        # What is ready runs before a poll, which may last as long as a rebalance.
        self._waits = timeout_s == 0 and not self._waits
        if self._waits:
            return []
        if self._polls and not self._polling:
            self._do_poll(self._polls[0], timeout_s)
        elif timeout_s is None:
            raise RuntimeError(
                "an async function waits for something that does not happen in virtual time; await its parts"
            )
        elif timeout_s > 0:
            self._consumer.sleep(timeout_s)
        return []

    def _do_poll(self, asked: _Poll, timeout_s: float | None) -> None:
        left_s = max(0.0, asked.until_s - self.time())
        wait_s = left_s if timeout_s is None else min(left_s, timeout_s)
        self._polling = True
        try:
            found = self._consumer.consume(asked.most, -1 if wait_s == float("inf") else wait_s)
        except Exception as error:
            asked.found.set_exception(error)
        else:
            if found or self.time() >= asked.until_s:
                asked.found.set_result(found)
        finally:
            self._polling = False

    def _process_events(self, _events: object) -> None:
        """There are none."""

    def _write_to_self(self) -> None:
        """Nobody else's thread wakes it."""


class _HurriedLoop(_VirtualLoop):
    """For a listener of a member that is taken out of its group, which cannot wait: timeouts are over at once."""

    _ahead_s = 0.0

    def time(self) -> float:
        return super().time() + self._ahead_s

    def select(self, timeout_s: float | None) -> list[object]:
        if timeout_s is None:
            return super().select(timeout_s)
        self._ahead_s += timeout_s
        return []


class VirtualAsyncConsumer:
    """The consumer passed to an async function of `add_async_consumers`: calls, listeners and errors of aiokafka's
    AIOKafkaConsumer.

    It is in its group, with `enable_auto_commit` off; `start` and `async with` may be left out. `asyncio.sleep`, tasks
    and timeouts of asyncio pass in virtual time; while a read waits for a rebalance, so do other tasks. Threads and
    sockets are outside of virtual time: await none.
    """

    def __init__(self, consumer: VirtualConsumer, loop: _VirtualLoop) -> None:
        self._consumer, self._loop = consumer, loop

    async def start(self) -> None:
        """Nothing: it is connected."""

    async def stop(self) -> None:
        """Leave the group, after `on_partitions_revoked`."""
        self._consumer.close()

    async def __aenter__(self) -> VirtualAsyncConsumer:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.stop()

    # -- subscriptions

    def subscribe(self, topics: Sequence[str] = (), *, listener: Any = None) -> None:
        """Read `topics`; a listener has `on_partitions_assigned` and `on_partitions_revoked`, async or not."""
        if listener is None:
            self._consumer.subscribe(topics)
            return
        self._consumer.subscribe(
            topics, self._heard(listener.on_partitions_assigned), self._heard(listener.on_partitions_revoked)
        )

    def _heard(self, listener: Callable[[set[AsyncTopicPartition]], Awaitable[object] | None]) -> Callable[..., None]:
        def call(_consumer: object, partitions: Sequence[TopicPartition]) -> None:
            waiting = listener({AsyncTopicPartition(each.topic, each.partition) for each in partitions})
            if waiting is None:
                return

            async def wait() -> None:
                await waiting

            if threading.get_ident() == self._loop.thread:
                self._loop.run_nested(self._loop.create_task(wait()))
            else:
                with contextlib.closing(_HurriedLoop(self._consumer)) as loop:
                    loop.run_until_complete(wait())

        return call

    def unsubscribe(self) -> None:
        """Leave the group with the next read."""
        self._consumer.unsubscribe()

    def assign(self, partitions: Sequence[Any]) -> None:
        """Read exactly these, from their committed offsets."""
        self._consumer.assign([TopicPartition(each.topic, each.partition) for each in partitions])

    def assignment(self) -> set[AsyncTopicPartition]:
        """The partitions that it owns."""
        return {AsyncTopicPartition(each.topic, each.partition) for each in self._consumer.assignment()}

    # -- reading

    async def getone(self) -> AsyncMessage:
        """The next message, for which it waits as long as it takes."""
        (message,) = await self._loop.poll(1, float("inf"))
        return _record(message)

    async def getmany(
        self, *, timeout_ms: float = 0, max_records: int | None = None
    ) -> dict[AsyncTopicPartition, list[AsyncMessage]]:
        """Messages by partition; {} after `timeout_ms`."""
        found: dict[AsyncTopicPartition, list[AsyncMessage]] = {}
        for message in await self._loop.poll(max_records or MAX_RECORDS, timeout_ms / 1_000):
            found.setdefault(AsyncTopicPartition(message.topic(), message.partition()), []).append(_record(message))
        return found

    def __aiter__(self) -> VirtualAsyncConsumer:
        return self

    async def __anext__(self) -> AsyncMessage:
        return await self.getone()

    def seek(self, partition: Any, offset: int) -> None:
        """Read on from `offset`. Raises an error for a partition that it does not own."""
        self._consumer.seek(TopicPartition(partition.topic, partition.partition, offset))

    def pause(self, *partitions: Any) -> None:
        """Read none of these until `resume`; they stay assigned."""
        self._consumer.pause(partitions)

    def resume(self, *partitions: Any) -> None:
        """Undo `pause`."""
        self._consumer.resume(partitions)

    # -- committing

    async def commit(self, offsets: Mapping[Any, Any] | None = None) -> None:
        """Commit `offsets` by partition, or all that was got. Raises CommitFailedError once the group has gone on."""
        try:
            if offsets is not None:
                places = [
                    TopicPartition(each.topic, each.partition, getattr(offset, "offset", offset))
                    for each, offset in offsets.items()
                ]
                self._consumer.commit(offsets=places, asynchronous=False)
            elif self._consumer.has_stored:
                self._consumer.commit(asynchronous=False)
        except BrokerError as error:
            raise _as_aiokafka(error) from None

    async def committed(self, partition: Any) -> int | None:
        """The group's committed offset; None if there is none."""
        (found,) = self._consumer.committed([partition])
        return None if found.offset == OFFSET_INVALID else found.offset


def run_async(function: Callable[[VirtualAsyncConsumer], Awaitable[object]], consumer: VirtualConsumer) -> None:
    """`await function(...)` to its end, in the thread of the consumer's function."""
    loop = _VirtualLoop(consumer)

    async def live() -> None:
        await function(VirtualAsyncConsumer(consumer, loop))

    try:
        loop.run_until_complete(live())
    finally:
        # What is left is cancelled, as by asyncio.run; of one that has crashed no call arrives any more.
        loop.set_exception_handler(lambda *_: None)
        with contextlib.closing(loop), contextlib.suppress(ActorStopped):
            if left := asyncio.all_tasks(loop):
                for task in left:
                    task.cancel()
                loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))


def _record(message: VirtualMessage) -> AsyncMessage:
    return AsyncMessage(
        message.topic(),
        message.partition(),
        message.offset(),
        message.timestamp()[1],
        message.key(),
        message.value(),
        message.headers(),
    )


def _as_aiokafka(error: BrokerError) -> BrokerError:
    """`error` as aiokafka raises it, if a program has imported that."""
    errors = sys.modules.get("aiokafka.errors")
    if errors is None:
        return error
    return both(errors.CommitFailedError if error.code in _FENCED else errors.KafkaError)(error.code, error.about)
