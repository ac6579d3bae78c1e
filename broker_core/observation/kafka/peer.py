"""A Kafka cluster as what an observed session observes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeVar, cast

from broker_core.clock import NS_PER_MS, NS_PER_S
from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import Event, EventKind
from broker_core.messages import TopicPartition
from broker_core.observation.kafka.arrivals import Arrivals
from broker_core.observation.kafka.changes import Changes
from broker_core.observation.kafka.cluster import Cluster
from broker_core.observation.kafka.config import ConnectionConfig
from broker_core.observation.kafka.logs import BROWSED, ClusterLogs
from broker_core.observation.kafka.sweep import Reader, Sweep
from broker_core.observation.peer import Facts, Look
from broker_core.operations.browse import ListLogs, LogName
from broker_core.operations.groups import DescribeGroup, DescribeShareGroup, ListGroups, ListShareGroups
from broker_core.operations.request import Request
from broker_core.operations.topics import DescribeTopic, ListTopics
from broker_core.recording.fold import Fold
from broker_core.snapshots import ShareGroupView, Snapshot

T = TypeVar("T")
MOST_SHARE: Final = 0.1  # of the time that passes, for looking
_MOST_WAIT_S: Final = 1.0  # of one `look`
_SOON_S: Final = 0.25
_ROUNDS, _ROUNDS_S = 24, 3.0  # of dating what groups have not read, before the first snapshot
_ROUNDS_LATER: Final = 4  # in each look, of what has moved among older messages
_CLOCK_EVERY_S, _CLOCK_OFF_NS = 30.0, 2 * NS_PER_S
_MAX_TIMESTAMP, _MAX_TIMESTAMP_FROM = -3, 7  # of ListOffsets, and the version that has it
_MOST_DATED: Final = 1_000  # partitions in one round
WHY_NOT: Final = "A Kafka cluster is only observed: nothing is changed, and not everything can be known from outside."
_Shares = Mapping[str, ShareGroupView]


def answer(request: Any, seen: Snapshot, shares: _Shares) -> Any:
    """From what was seen last. Raises UNKNOWN_TOPIC_OR_PARTITION, GROUP_ID_NOT_FOUND, READ_ONLY."""
    found = ANSWERED.get(type(request))
    if found is None:
        raise BrokerError(ErrorCode.READ_ONLY, WHY_NOT.rstrip("."))
    return found(request, seen, shares)


def _named(views: Iterable[Any], name: str, code: ErrorCode) -> Any:
    for view in views:
        if view.name == name:
            return view
    raise BrokerError(code, name)


ANSWERED: Final[Mapping[type[Any], Callable[[Any, Snapshot, _Shares], Any]]] = {
    ListLogs: lambda _request, seen, _shares: [
        LogName(name=topic.name, partitions=len(topic.partitions)) for topic in seen.topics
    ],
    ListTopics: lambda _request, seen, _shares: list(seen.topics),
    DescribeTopic: lambda request, seen, _shares: _named(
        seen.topics, request.topic, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    ),
    ListGroups: lambda _request, seen, _shares: list(seen.groups),
    DescribeGroup: lambda request, seen, _shares: _named(seen.groups, request.group, ErrorCode.GROUP_ID_NOT_FOUND),
    ListShareGroups: lambda _request, _seen, shares: [shares[name] for name in sorted(shares)],
    DescribeShareGroup: lambda request, _seen, shares: _named(
        shares.values(), request.group, ErrorCode.GROUP_ID_NOT_FOUND
    ),
}


class KafkaPeer:
    """Looks at a cluster every `every_s`, or less often where looking takes more than a tenth of the time.

    `topics` and `groups` are patterns with *. It sends nothing that changes anything.
    """

    def __init__(
        self,
        config: ConnectionConfig,
        *,
        every_s: float = 1.0,
        topics: Sequence[str] = (),
        groups: Sequence[str] = (),
    ) -> None:
        self.address = ",".join(f"{host}:{port}" for host, port in config.bootstrap)
        self._closing = threading.Event()
        self._cluster = Cluster(config, self._closing.wait)
        self._reader = Reader(self._cluster, topics, groups)
        self._logs = ClusterLogs(Cluster(config, self._closing.wait))
        self._arrivals = Arrivals()
        self._changes = Changes(self._arrivals)
        self._every_s = every_s
        self._look_s = 0.0
        self._zero_s = self._due_s = self._clock_due_s = 0.0
        self.epoch_ms = 0
        self._away_since_s: float | None = None
        self._dated: set[tuple[TopicPartition, int]] = set()
        self._shown = Snapshot(0, 0)
        self._share_groups: dict[str, ShareGroupView] = {}
        self._clock_said = False

    # -- in the observer's thread

    def open(self) -> Snapshot:
        """The state at time 0: what a first sweep has found. Nothing of it counts as published."""
        began_s = self._zero_s = time.monotonic()
        self.epoch_ms = time.time_ns() // NS_PER_MS
        sweep = self._reader.sweep()
        first = self._changes.first(sweep, self._now_ns())
        self._date(_ROUNDS, time.monotonic() + _ROUNDS_S)
        self._shown = self._folded(first, (), 0)
        self._took(sweep, began_s)
        return self._shown

    def look(self) -> Look | None:
        """Raises `BrokerError` where no broker of the cluster answers."""
        if self._closing.wait(min(_MOST_WAIT_S, max(0.0, self._due_s - time.monotonic()))):
            return None
        began_s = time.monotonic()
        if began_s < self._due_s:
            return None
        try:
            sweep = self._reader.sweep()
        except BrokerError:
            if self._away_since_s is None:
                self._away_since_s = began_s
            raise
        gap = ""
        if self._away_since_s is not None:
            gap = f"no broker of {self.address} answered for {began_s - self._away_since_s:.0f} s"
            self._away_since_s = None
        now_ns = self._now_ns()
        events = self._changes.events(sweep, now_ns)
        self._date(_ROUNDS_LATER, began_s + _ROUNDS_S)
        self._check_clock(events, now_ns)
        self._shown = self._folded(self._shown, events, now_ns)
        self._took(sweep, began_s)
        return Look(events, self._shown, gap)

    def _now_ns(self) -> int:
        return int((time.monotonic() - self._zero_s) * NS_PER_S)

    def _took(self, sweep: Sweep, began_s: float) -> None:
        self._share_groups.update(sweep.share_groups)
        for name in [name for name in self._share_groups if sweep.all_groups and name not in sweep.listed]:
            del self._share_groups[name]
        read: dict[TopicPartition, int] = {}
        for committed in self._changes.committed.values():
            for place, at in committed.items():
                read[place] = min(at, read.get(place, at))
        for place, at in read.items():
            self._arrivals.forget(place, at)
        self._look_s = time.monotonic() - began_s
        # A group that rebalances is looked at more often: the next rebalance may follow at once.
        every_s = min(self._every_s, _SOON_S) if self._changes.rebalancing else self._every_s
        self._due_s = began_s + max(every_s, self._look_s / MOST_SHARE)

    def _folded(self, before: Snapshot, events: Sequence[Event], now_ns: int) -> Snapshot:
        """As everybody folds who has the recording: so the next keyframe never differs from what was told."""
        fold = Fold(before, published_before=self._published_ns)
        for event in events:
            fold.add(event)
        return fold.snapshot(now_ns)

    def _published_ns(self, place: TopicPartition, offset: int, time_ns: int) -> int | None:
        earliest, latest = self._arrivals.bracket(place, offset)
        if (
            earliest is None
            or latest is None
            or (earliest < 0 and latest - earliest > _tolerance_ns(earliest, time_ns))
        ):
            return None
        return self._arrivals.of(place, offset)

    def _date(self, rounds: int, until_s: float) -> None:
        """When was the first message published that a group has not read, where that was before we came? Offsets by
        time, bisected for all partitions at once.
        """
        for _ in range(rounds):
            wanted: dict[TopicPartition, tuple[int, int]] = {}
            for committed in self._changes.committed.values():
                for place, at in committed.items():
                    if place in wanted or at >= self._changes.ends.get(place, 0) or (place, at) in self._dated:
                        continue
                    earliest, latest = self._arrivals.bracket(place, at)
                    if earliest is None or latest is None:
                        wanted[place] = at, 0
                    elif earliest < 0 and latest - earliest > _tolerance_ns(earliest, self._now_ns()):
                        wanted[place] = at, max(1, self.epoch_ms + (earliest + latest) // 2 // NS_PER_MS)
                    else:
                        self._dated.add((place, at))
                if len(wanted) >= _MOST_DATED:
                    break
            if not wanted or time.monotonic() >= until_s:
                return
            found = self._reader.offsets((place, at_ms) for place, (_, at_ms) in wanted.items())
            for place, (at, at_ms) in wanted.items():
                offset, time_ms = found.get(place, (-1, -1))
                before = self._arrivals.bracket(place, at)
                if place in found:
                    self._arrivals.found(place, self._session_ns(at_ms), offset, self._session_ns(time_ms))
                if self._arrivals.bracket(place, at) == before:
                    self._dated.add((place, at))  # times that are in no order, or denied: it is not asked again

    def _session_ns(self, unix_ms: int) -> int:
        return (unix_ms - self.epoch_ms) * NS_PER_MS

    def _check_clock(self, events: list[Event], now_ns: int) -> None:
        """Say once where what was published just now bears another time than ours."""
        if self._clock_said or time.monotonic() < self._clock_due_s:
            return
        new = next(
            (each for each in events if each.kind is EventKind.PUBLISHED and each.published_ns is not None), None
        )
        if new is None or not any(
            self._cluster.has(node, "ListOffsets", _MAX_TIMESTAMP_FROM) for node in self._cluster.nodes
        ):
            return
        self._clock_due_s = time.monotonic() + _CLOCK_EVERY_S
        place = (new.topic, new.partition or 0)
        _, time_ms = self._reader.offsets([(place, _MAX_TIMESTAMP)]).get(place, (-1, -1))
        if time_ms < 0:
            return
        newest_ns = self._session_ns(time_ms)
        late_ns, early_ns = (new.published_ns or 0) - newest_ns, newest_ns - self._now_ns()
        if max(late_ns, early_ns) > _CLOCK_OFF_NS:
            off_s = max(late_ns, early_ns) / NS_PER_S
            which = "behind" if late_ns > early_ns else "ahead of"
            self._clock_said = True
            cause = (
                f"new records of {new.topic} are {off_s:.1f} s {which} our clock; older lags in seconds are off by as "
                "much"
            )
            events.append(Event(0, now_ns, EventKind.GAP, cause=cause, topic=new.topic))

    # -- in any thread

    @property
    def hosts(self) -> Sequence[str]:
        return self._cluster.hosts

    def ask(self, request: Request[T]) -> T:
        """As of the last sweep; messages as they are now.

        Raises UNKNOWN_TOPIC_OR_PARTITION, GROUP_ID_NOT_FOUND, READ_ONLY, and for messages as a connection does.
        """
        if type(request) in BROWSED:
            read: Any = self._logs.answer(request, self.epoch_ms)
            return cast(T, read)
        found: Any = answer(request, self._shown, self._share_groups)
        return cast(T, found)

    def why_not(self, request: type[Request[Any]]) -> str:
        return "" if request in ANSWERED or request in BROWSED else WHY_NOT

    def knows(self, word: str) -> bool:
        """Beside topics, groups and offsets, messages can be read."""
        return word == "messages"

    @property
    def facts(self) -> Facts:
        return Facts(self._cluster.name or self.address, max(self._every_s, self._look_s / MOST_SHARE), self._look_s)

    @property
    def cost(self) -> tuple[int, int]:
        """Requests, and bytes of their answers, so far."""
        return self._cluster.cost

    def close(self) -> None:
        """A second call does nothing."""
        self._closing.set()
        self._cluster.close()
        self._logs.close()


def _tolerance_ns(earliest_ns: int, now_ns: int) -> int:
    """How exactly a time is wanted: to 2 % of its age, and not below what records tell."""
    return max(2 * NS_PER_MS, (now_ns - earliest_ns) // 50)
