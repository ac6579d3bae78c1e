"""What a remote client has noted of topics and queues, so that a message can be placed without asking."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence

from broker_core.errors import BrokerError, ErrorCode
from broker_core.log.partitioners import Partitioner
from broker_core.log.reserved_headers import check_lifetimes, counted_bytes
from broker_core.messages import Message
from broker_core.queues.levels import check_priorities
from broker_core.wire.topics import MetadataReply, TopicInfo


class Known:
    """A topic or queue, with its own turn of messages without a key."""

    def __init__(self, info: TopicInfo) -> None:
        self.info = info
        # Of many clients that send a little each, not all begin with partition 0.
        self.partitioner = Partitioner(info.partitioner, first_turn=random.randrange(max(1, info.partitions)))

    def partition_for(self, message: Message) -> int:
        """By key, or for a queue by priority; see `BrokerState.partition_for`."""
        levels = self.info.priorities
        if levels:
            return min(max(message.priority, 0), levels - 1)
        return self.partitioner.choose(message.key, self.info.partitions)

    def check(self, messages: Sequence[Message], largest_bytes: int | None) -> None:
        """See `Broker.check`."""
        config, name = self.info.log, self.info.name
        if not messages:
            raise BrokerError(ErrorCode.INVALID_REQUEST, f"a batch for {name} has no messages")
        if config.cleanup == "compact" and any(message.key is None for message in messages):
            raise BrokerError(ErrorCode.INVALID_RECORD, f"{name} is compacted, so every message needs a key")
        check_lifetimes(messages)
        if self.info.priorities:
            check_priorities(name, self.info.priorities, messages)
        limit = config.max_message_bytes
        if largest_bytes is not None and largest_bytes <= limit:
            return
        for message in messages:
            size = len(message.key or b"") + len(message.value or b"") + counted_bytes(message.headers)
            if size > limit:
                raise BrokerError(ErrorCode.MESSAGE_TOO_LARGE, f"{size} bytes for {name}, which takes at most {limit}")


class KnownTopics:
    """By name. `revision` is another one after each change; `broker_revision` is what the broker calls its own."""

    def __init__(self, ask: Callable[[tuple[str, ...]], MetadataReply]) -> None:
        """`ask(names)` gets what the broker knows, and may wait for it."""
        self._ask = ask
        self._known: dict[str, Known | None] = {}
        self.revision = 0
        self.broker_revision = -1

    @property
    def names(self) -> tuple[str, ...]:
        """All that was ever asked for."""
        return tuple(self._known)

    def note(self, names: Iterable[str], reply: MetadataReply) -> None:
        """`reply` is what the broker knows of `names`."""
        self.broker_revision = reply.revision
        found = {info.name: info for info in reply.topics}
        for name in names:
            info, known = found.get(name), self._known.get(name)
            if (None if known is None else known.info) != info:
                self.revision += 1
                if info is None:
                    self._known[name] = None
                elif known is not None and known.info.partitioner == info.partitioner:
                    known.info = info
                else:
                    self._known[name] = Known(info)
            elif info is None:
                self._known[name] = None

    def get(self, name: str) -> Known:
        """What is noted. Raises UNKNOWN_TOPIC_OR_PARTITION, also where it was not asked for yet."""
        known = self._known.get(name)
        if known is None:
            raise BrokerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, name)
        return known

    def get_or_ask(self, name: str) -> Known:
        """What is noted, or else what the broker says."""
        if name not in self._known:
            self.note((name,), self._ask((name,)))
        return self.get(name)

    def forget(self, name: str) -> None:
        """It may have changed: ask again."""
        if self._known.pop(name, None) is not None:
            self.revision += 1
