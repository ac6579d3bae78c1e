"""What was sent and is in no batch yet: the way to a producer's batches that needs no lock.

A sender appends its receipt to a list, which no other thread can come between, and only then looks whether somebody is
going to come for it. Whoever does (under the lock) first says that nobody comes any more, then takes what is there. So
nothing is left behind: what was appended too late for the one has seen that it must call the next.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, TypeVar

from broker_core.broker.broker import Broker
from broker_core.clients.batches import Receipt, messages_of
from broker_core.clients.host import Host
from broker_core.clients.producer_config import ProducerConfig
from broker_core.clock import ns_from_ms
from broker_core.engine.loop import Loop
from broker_core.log.partitioners import Partitioner
from broker_core.messages import Message
from broker_core.replies import Reply

T = TypeVar("T")

MOST_ENTRIES = 1_000
SMALL_BYTES = 2_048  # of key and value; what is larger costs more than the lock anyway
_NEVER = -1


class Inbox:
    """The entries of one topic, as long as the broker's revision is `revision`; each of at most `limit_bytes`."""

    __slots__ = ("awaited", "entries", "limit_bytes", "partitioner", "partitions", "revision", "topic")

    def __init__(self, topic: str) -> None:
        self.topic = topic
        self.entries: list[Receipt] = []
        self.awaited = False  # somebody is going to come: a timer runs
        self.revision = self.limit_bytes = _NEVER
        self.partitioner = Partitioner()
        self.partitions = 1

    def take(self) -> list[Receipt]:
        """What is there now; it is there no longer."""
        count = len(self.entries)
        taken = self.entries[:count]
        del self.entries[:count]
        return taken

    def parts(self, receipts: list[Receipt]) -> Iterator[tuple[int, list[Receipt], list[Message]]]:
        """`receipts` and their messages by the partition that they go to, in their order."""
        messages = messages_of(receipts)
        if [True for message in messages if message.key is not None]:
            choose = self.partitioner.choose
            places: dict[int, list[int]] = {}
            for place, message in enumerate(messages):
                places.setdefault(choose(message.key, self.partitions), []).append(place)
            for number, found in places.items():
                yield number, [receipts[place] for place in found], [messages[place] for place in found]
            return
        first = 0
        for number, part in self.partitioner.divide(messages, self.partitions).items():
            # Without keys each part is a run.
            yield number, receipts[first : first + len(part)], part
            first += len(part)


class Batches(Protocol):
    """Where the entries go: a `Sender`."""

    @property
    def full(self) -> bool:
        """True where no more is to be sent before something has left."""

    @property
    def fenced(self) -> bool:
        """True where nothing is stored any more."""

    def put(self, topic: str, partition: int, receipts: list[Receipt], messages: list[Message]) -> None:
        """Put these into the batches of one partition."""

    def put_or_fail(self, topic: str, receipt: Receipt, message: Message) -> None:
        """Put this into a batch as `send` does, or say why not."""

    def seal(self, topic: str, partition: int) -> None:
        """What lingers goes now."""


class Inboxes:
    """The inboxes of one producer. Everything but `by_topic` and its entries is for who holds the lock."""

    def __init__(self, broker: Broker, loop: Loop, config: ProducerConfig, batches: Batches) -> None:
        self.by_topic: dict[str, Inbox] = {}
        self.awaited: dict[Inbox, None] = {}  # those that may have something in them
        self._broker = broker
        self._loop = loop
        self._config = config
        self._batches = batches
        self._roomy = (
            config.linger_ms > 0 and config.adaptive is None and config.buffer_bytes >= 2 * MOST_ENTRIES * SMALL_BYTES
        )

    def note(self, topic: str) -> None:
        """Let the next messages for `topic` come this way, where that is possible."""
        if not self._roomy:
            return
        inbox = self.by_topic.get(topic)
        if inbox is None:
            inbox = self.by_topic[topic] = Inbox(topic)
        if inbox.revision != self._broker.revision:
            inbox.revision, inbox.limit_bytes = self._broker.revision, _NEVER
            partitioner, config = self._broker.partitions_by_key(topic), self._broker.topic_config(topic)
            # Nothing is to be judged by itself, and without a key nothing is refused.
            if partitioner is not None and config.cleanup == "delete" and self._broker.takes_batches(topic):
                inbox.partitioner, inbox.partitions = partitioner, self._broker.partition_count(topic)
                inbox.limit_bytes = min(SMALL_BYTES, config.max_message_bytes)

    def tend(self, inbox: Inbox) -> None:
        """See to it that somebody comes for what is in `inbox`; where it is much, at once."""
        if not inbox.awaited and not self._batches.fenced:
            inbox.awaited = True
            self.awaited[inbox] = None
            due_ns = self._loop.now_ns + ns_from_ms(self._config.linger_ms)
            self._loop.timers.at(due_ns, lambda _at: self._linger_over(inbox))
        if len(inbox.entries) >= MOST_ENTRIES or self._batches.fenced:
            self._empty(inbox)

    def gather(self) -> None:
        """Put everything into batches, before anything else is sent."""
        for inbox in self.by_topic.values():
            if inbox.entries:
                self._empty(inbox)

    def close(self) -> None:
        """Nothing comes this way any more; what is there fails."""
        for inbox in self.by_topic.values():
            inbox.revision, inbox.awaited = _NEVER, False
        self.awaited.clear()
        self.gather()

    def _linger_over(self, inbox: Inbox) -> None:
        inbox.awaited = False
        self.awaited.pop(inbox, None)
        self._empty(inbox)
        for number in range(inbox.partitions):
            self._batches.seal(inbox.topic, number)

    def _empty(self, inbox: Inbox) -> None:
        receipts = inbox.take()
        if self._batches.fenced or inbox.revision != self._broker.revision:
            # The topic has changed since they were sent: one or the other may be refused.
            for receipt, message in zip(receipts, messages_of(receipts), strict=True):
                self._batches.put_or_fail(inbox.topic, receipt, message)
            return
        for number, part, messages in inbox.parts(receipts):
            self._batches.put(inbox.topic, number, part, messages)
        if self._batches.full:
            inbox.revision = _NEVER  # senders must wait, which they do on the long way


class Gatherer:
    """Waits for what becomes of messages, and has them put into batches where they are in none."""

    def __init__(self, host: Host, inboxes: Inboxes) -> None:
        self._host = host
        self._inboxes = inboxes

    def wait(self, reply: Reply[T], timeout_s: float | None = None) -> T:
        """See `Host.wait`."""
        return self._host.wait(reply, timeout_s)

    def gather(self) -> None:
        """See `Inboxes.gather`. Raises CLOSED."""
        self._host.call(lambda _now: self._inboxes.gather())
