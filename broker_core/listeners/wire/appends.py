"""Small batches that came together are appended together; each is answered for itself, in the order they came.

An append costs what it costs once, not once a request, and on a disk it is one write. What is in here has been judged
and is in no log yet: it is flushed before the broker is asked for anything else, so nobody sees the difference.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from broker_core.broker.broker import Broker, Published
from broker_core.log.batch import MAX_BATCH_RECORDS, ProducerStamp
from broker_core.messages import Message
from broker_core.replies import Reply

MOST_BYTES = 65_536  # together; what is larger costs more than an append anyway

OnAppended = Callable[[Published], object]
Place = tuple[str, str, int]  # client, topic, partition


def _ignore(_published: Published) -> None:
    """For who waits for what comes after."""


class _Together:
    """Batches of one client for one partition. `appended` is where they are in the log, None while they are not."""

    __slots__ = ("appended", "messages", "size_bytes", "stored")

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.size_bytes = 0
        self.appended: Published | None = None
        self.stored: Reply[Published | None] = Reply()

    def has_room(self, messages: int, size_bytes: int) -> bool:
        """Whether so much more can be put in."""
        return self.size_bytes + size_bytes <= MOST_BYTES and len(self.messages) + messages <= MAX_BATCH_RECORDS

    def append(self, broker: Broker, now_ns: int, place: Place) -> None:
        """Put them into the log."""
        client, name, partition = place
        try:
            self.stored = broker.publish_batch(
                now_ns, name, partition, self.messages, client=client, on_appended=self._note
            )
        except Exception as error:
            self.stored.fail(error)

    def _note(self, appended: Published) -> None:
        self.appended = appended


class _Part:
    """One of the batches: `count` messages, the first is number `first` of those that are together."""

    __slots__ = ("count", "first", "on_appended", "stored", "together")

    def __init__(self, together: _Together, count: int, on_appended: OnAppended | None) -> None:
        self.together = together
        self.first = len(together.messages)
        self.count = count
        self.on_appended = on_appended
        self.stored: Reply[Published | None] = Reply()

    def tell(self) -> None:
        """It was appended, or could not be."""
        if self.on_appended is not None and self.together.appended is not None:
            self.on_appended(self._of(self.together.appended))
        self.together.stored.then(self._settle)

    def _settle(self, stored: Reply[Published | None]) -> None:
        if stored.error is not None:
            self.stored.fail(stored.error)
        else:
            published = stored.result()
            self.stored.resolve(None if published is None else self._of(published))

    def _of(self, whole: Published) -> Published:
        return Published(whole.topic, whole.partition, whole.offset + self.first, whole.missed_by, self.count)


class Appends:
    """Of one connection. Every method is called under the host's lock.

    `more_follow`: behind this request there is another one, else there is nothing to wait for.
    """

    def __init__(self, broker: Broker) -> None:
        self.more_follow = False
        self._broker = broker
        self._open: dict[Place, _Together] = {}
        self._parts: list[_Part] = []  # of all of them, in the order they came

    def publish_batch(
        self,
        now_ns: int,
        name: str,
        partition: int,
        messages: Sequence[Message],
        *,
        size_bytes: int,
        client: str,
        producer: ProducerStamp | None,
        on_appended: OnAppended | None,
        deadline_ns: int,
    ) -> Reply[Published | None]:
        """See `Broker.publish_batch`; done with the next `flush`. No message is larger than `size_bytes`."""
        place = (client, name, partition)
        together = self._open.get(place)
        if producer is not None or (together is None and not (self.more_follow and self._alike(name))):
            self.flush(now_ns)
            return self._broker.publish_batch(
                now_ns,
                name,
                partition,
                messages,
                client=client,
                producer=producer,
                on_appended=on_appended or _ignore,
                deadline_ns=deadline_ns,
            )
        self._broker.check(name, messages, size_bytes)
        if together is not None and not together.has_room(len(messages), size_bytes):
            self.flush(now_ns)
            together = None
        if together is None:
            together = self._open[place] = _Together()
        part = _Part(together, len(messages), on_appended)
        together.messages += messages
        together.size_bytes += size_bytes
        self._parts.append(part)
        return part.stored

    def flush(self, now_ns: int) -> None:
        """Append what came together, and tell what became of it."""
        if not self._parts:
            return
        opened, self._open = self._open, {}
        parts, self._parts = self._parts, []
        for place, together in opened.items():
            together.append(self._broker, now_ns, place)
        for part in parts:
            part.tell()

    def _alike(self, name: str) -> bool:
        """Whether what becomes of one batch becomes of all: nobody judges them, no subscription may miss one."""
        return self._broker.takes_batches(name) and not self._broker.subscription_names()
