"""Publishing from afar: batches are collected into requests, and each gets its own answer."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from broker_core.broker.broker import Published
from broker_core.clients.remote.known_topics import KnownTopics
from broker_core.clients.remote.link import Link
from broker_core.clock import NS_PER_MS
from broker_core.engine.loop import Loop
from broker_core.errors import BrokerError, ErrorCode
from broker_core.log.batch import ProducerStamp
from broker_core.messages import Message
from broker_core.replies import Reply
from broker_core.wire.batches import encode_messages
from broker_core.wire.errors import broker_error
from broker_core.wire.produce import Produce, Produced, ProducedBatch, ProduceReply
from broker_core.wire.topics import Metadata

_MOST_BATCHES = 64  # in one request
_MOST_BYTES = 1_048_576  # ... but for a single batch
TIMEOUT_MS = 30_000  # that a batch waits for room at the broker, before it is sent again


class _Waiting:
    """A batch that is to be sent, or was."""

    __slots__ = ("batch", "client", "count", "on_appended", "reply")

    def __init__(self, batch: ProducedBatch, count: int, client: str, on_appended: Callable[[Published], object]):
        self.batch = batch
        self.count = count
        self.client = client
        self.on_appended = on_appended
        self.reply: Reply[Published | None] = Reply()


class Publishing:
    """Every method is called under the host's lock. `most_requests` of them are on their way at a time."""

    def __init__(self, link: Link, loop: Loop, known: KnownTopics) -> None:
        self._link = link
        self._loop = loop
        self._known = known
        self._waiting: deque[_Waiting] = deque()
        self._held: dict[str, int] = {}  # topics that are to be left alone until this session time
        self._under_way = 0
        self._refreshing = False
        self.most_requests = 1

    def publish_batch(
        self,
        topic: str,
        partition: int,
        messages: Sequence[Message],
        *,
        client: str,
        producer: ProducerStamp | None,
        on_appended: Callable[[Published], object],
    ) -> Reply[Published | None]:
        """See `Broker.publish_batch`; `on_appended` is called when the answer comes.

        Fails with CONNECTION_LOST, and then nobody knows whether it was stored.
        """
        batch = ProducedBatch(topic, partition, memoryview(encode_messages(messages, producer)))
        waiting = _Waiting(batch, len(messages), client, on_appended)
        if not self._link.connected:
            waiting.reply.fail(BrokerError(ErrorCode.CONNECTION_LOST, self._link.place))
            return waiting.reply
        self._waiting.append(waiting)
        return waiting.reply

    def send(self) -> None:
        """Put what waits into requests, as far as the broker takes them."""
        if not self._link.connected:
            self.lost(BrokerError(ErrorCode.CONNECTION_LOST, self._link.place))
        held: list[_Waiting] = []
        while self._waiting and self._under_way < self.most_requests:
            together: list[_Waiting] = []
            size_bytes = 0
            while self._waiting and len(together) < _MOST_BATCHES:
                first = self._waiting[0]
                if self._held and self._held.get(first.batch.topic, 0) > self._loop.now_ns:
                    held.append(self._waiting.popleft())
                    continue
                size_bytes += len(first.batch.batch)
                if together and (size_bytes > _MOST_BYTES or first.client != together[0].client):
                    break
                together.append(self._waiting.popleft())
            if together:
                self._post(together)
        self._waiting.extendleft(reversed(held))

    def withdraw(self, reply: Reply[Published | None]) -> bool:
        """Do not send what `reply` waits for, which fails; False where it was sent already."""
        for waiting in self._waiting:
            if waiting.reply is reply:
                self._waiting.remove(waiting)
                reply.fail(BrokerError(ErrorCode.REQUEST_TIMED_OUT, f"{waiting.client} has withdrawn it"))
                return True
        return False

    def lost(self, error: BrokerError) -> None:
        """There is no connection: what waits to be sent fails."""
        waiting, self._waiting = self._waiting, deque()
        for each in waiting:
            each.reply.fail(error)

    def _post(self, together: list[_Waiting]) -> None:
        self._under_way += 1
        request = Produce(together[0].client, "all", TIMEOUT_MS, tuple(each.batch for each in together))

        def done(answer: Any, error: BrokerError | None) -> None:
            self._under_way -= 1
            if isinstance(answer, ProduceReply):
                self._answered(together, answer)
            else:
                failed = error or BrokerError(ErrorCode.CONNECTION_LOST, self._link.place)
                # It was sent, and nobody knows what became of it.
                lost = BrokerError(failed.code, failed.about, possibly_stored=True)
                for each in together:
                    each.reply.fail(lost)
            self.send()

        self._link.post(request, done, repeat=False, at_once=True, timeout_s=2 * TIMEOUT_MS / 1_000)

    def _answered(self, together: list[_Waiting], answer: ProduceReply) -> None:
        if answer.revision != self._known.broker_revision:
            self._refresh()
        for each, produced in zip(together, answer.results, strict=False):
            self._settle(each, produced)
        for each in together[len(answer.results) :]:
            each.reply.fail(BrokerError(ErrorCode.INVALID_REQUEST, "the broker left a batch without an answer"))

    def _settle(self, waiting: _Waiting, produced: Produced) -> None:
        if produced.error:
            if produced.throttle_ms:
                self._hold(produced.topic, produced.throttle_ms)
            if produced.error == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION.code:
                self._known.forget(produced.topic)
            waiting.reply.fail(broker_error(produced.error, produced.about, produced.throttle_ms))
        elif produced.offset < 0:
            waiting.reply.resolve(None)
        else:
            published = Published(
                produced.topic, produced.partition, produced.offset, produced.missed_by, produced.count
            )
            if produced.topic == waiting.batch.topic:  # else it is in the bin of a topic whose schema refused it
                waiting.on_appended(published)
            waiting.reply.resolve(published)

    def _hold(self, topic: str, throttle_ms: int) -> None:
        """Leave the topic alone for as long as the broker asks for."""
        until_ns = self._loop.now_ns + throttle_ms * NS_PER_MS
        self._held[topic] = until_ns

        def release(_at_ns: int) -> None:
            if self._held.get(topic, 0) <= until_ns:
                self._held.pop(topic, None)
            self.send()

        self._loop.timers.at(until_ns, release)

    def _refresh(self) -> None:
        """Something has changed: ask again for all that is known."""
        if self._refreshing or not self._known.names:
            return
        self._refreshing = True
        names = self._known.names

        def done(answer: Any, error: BrokerError | None) -> None:
            self._refreshing = False
            if error is None:
                self._known.note(names, answer)

        self._link.post(Metadata(names), done, repeat=False, at_once=True)
