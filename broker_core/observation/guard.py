"""The gate before everything that a cluster which is not ours is asked to write; `kafka.connection` asks it."""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from broker_core.errors import BrokerError, ErrorCode
from broker_core.messages import TopicPartition

if TYPE_CHECKING:
    from broker_core.kafka_messages.writing import Body  # loads what a window without a cluster does not need


class Api(NamedTuple):
    """An API of Kafka and the newest version of it that is sent."""

    key: int
    newest: int


#: What is sent beside that while the guard is open, by what was unlocked.
WRITES: Final = {
    "redrive": {
        "Produce": Api(0, 9),
        "OffsetCommit": Api(8, 8),
        "InitProducerId": Api(22, 4),
        "AddPartitionsToTxn": Api(24, 3),
        "AddOffsetsToTxn": Api(25, 3),
        "EndTxn": Api(26, 3),
        "TxnOffsetCommit": Api(28, 3),
    },
    "offsets": {"OffsetCommit": Api(8, 8), "OffsetDelete": Api(47, 0)},
}
ALL_WRITES: Final = {name: api for apis in WRITES.values() for name, api in apis.items()}


class Permit(NamedTuple):
    """What one plan may write: committed offsets of `group`, also its transactional id, and messages to `targets`."""

    verb: str
    group: str
    committed: frozenset[TopicPartition]
    targets: frozenset[TopicPartition] = frozenset()

    def why_not(self, api: str, body: Body) -> str:
        if api not in WRITES[self.verb]:
            return f"{api} is not a part of {self.verb}"
        names = [body[name] for name in _NAMES if body.get(name) is not None]
        copies = api in {"Produce", "AddPartitionsToTxn"}
        places = set(_places(body))
        if any(name != self.group for name in names) or not places <= (self.targets if copies else self.committed):
            return f"{api} names something that is not in the plan"
        return ""


_NAMES: Final = ("group_id", "transactional_id", "v3_and_below_transactional_id")
_TOPICS: Final = ("topics", "topic_data", "v3_and_below_topics")


def _places(body: Body) -> Iterator[TopicPartition]:
    for topics in (body.get(name) or () for name in _TOPICS):
        for topic in topics:
            for part in topic.get("partitions") or topic.get("partition_data") or ():
                yield topic["name"], part if isinstance(part, int) else part.get("partition_index", part.get("index"))


class Guard:
    """Closed, unless `unlock` was called for one or both verbs; open then only for the plan that is `permitting`.

    Locks itself again after `for_s`. Thread-safe.
    """

    def __init__(self, verbs: Collection[str] = ()) -> None:
        self._unlocked = frozenset(verbs), math.inf
        self._permits: tuple[Permit, ...] = ()
        self._lock = threading.Lock()  # of changing them

    def unlock(self, verbs: Collection[str], for_s: float) -> None:
        self._unlocked = frozenset(verbs), time.monotonic() + for_s

    def lock(self) -> None:
        self._unlocked = frozenset(), 0.0

    @property
    def verbs(self) -> frozenset[str]:
        """The verbs that are unlocked now; empty when the unlocking has expired."""
        verbs, until_s = self._unlocked
        return verbs if time.monotonic() < until_s else frozenset()

    @property
    def left_s(self) -> float:
        """Until it locks itself: infinite if it never does."""
        return max(0.0, self._unlocked[1] - time.monotonic())

    def must_be_open(self, verb: str) -> None:
        """Raises READ_ONLY."""
        if why := self._why_locked(verb):
            raise BrokerError(ErrorCode.READ_ONLY, why)

    def _why_locked(self, verb: str) -> str:
        return "" if verb in self.verbs else f"the cluster is locked for {verb}; {_UNLOCK}"

    @contextlib.contextmanager
    def permitting(self, permit: Permit) -> Iterator[None]:
        """Raises READ_ONLY where that was not unlocked."""
        self.must_be_open(permit.verb)
        with self._lock:
            self._permits = (*self._permits, permit)
        try:
            yield
        finally:
            with self._lock:
                left = [*self._permits]
                left.remove(permit)
                self._permits = tuple(left)

    def check(self, api: str, body: Body) -> Api:
        """Raises READ_ONLY for a request that writes anything else than one of the plans under way."""
        refused = f"{api} writes, and no plan is under way"
        for permit in self._permits:
            refused = permit.why_not(api, body) or self._why_locked(permit.verb)
            if not refused:
                return WRITES[permit.verb][api]
        raise BrokerError(ErrorCode.READ_ONLY, refused)


_UNLOCK: Final = "--allow on the command line, or Unlock in the window, opens it"
