"""A Kafka cluster as what an observed session observes."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final, TypeVar, cast

import msgspec

from broker_core.clock import NS_PER_MS, NS_PER_S
from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import Event, EventKind
from broker_core.groups.states import GroupState
from broker_core.guarded.deeds import Deed
from broker_core.guarded.redrive import readers_of
from broker_core.messages import TopicPartition
from broker_core.observation.deed_journal import DeedJournal
from broker_core.observation.guard import Guard
from broker_core.observation.kafka.arrivals import Arrivals
from broker_core.observation.kafka.cluster import Cluster
from broker_core.observation.kafka.cluster_diff import ClusterDiff
from broker_core.observation.kafka.config import ConnectionConfig
from broker_core.observation.kafka.guarded import ANSWERED as GUARDED
from broker_core.observation.kafka.guarded import VERBS, Guarded
from broker_core.observation.kafka.logs import BROWSED, ClusterLogs
from broker_core.observation.kafka.pace import Pace, Silence
from broker_core.observation.kafka.seen import GroupSeen, MemberSeen
from broker_core.observation.kafka.sweep import Sweep, SweepReader
from broker_core.observation.peer import Look, PeerFacts
from broker_core.operations.browse import ListLogs, LogName
from broker_core.operations.groups import DescribeGroup, DescribeShareGroup, ListGroups, ListShareGroups
from broker_core.operations.request import Request
from broker_core.operations.topics import DescribeTopic, ListTopics
from broker_core.recording.fold import Fold
from broker_core.snapshots import SHARE, ShareGroupView, Snapshot

T = TypeVar("T")
_MOST_WAIT_S: Final = 1.0  # of one `look`
_SOON_S: Final = 0.25
_PATIENCE: Final = 1.0  # periods, for what a broker tells in one look
_FIRST_PATIENCE_S: Final = 7.0
_ROUNDS, _ROUNDS_S = 24, 3.0  # of dating what groups have not read, before the first snapshot
_ROUNDS_LATER: Final = 4  # in each look, of what has moved among older messages
_FORGET_EVERY_S: Final = 30.0
_CLOCK_EVERY_S, _WAITED_S, _CLOCK_OFF_NS = 30.0, 15.0, 2 * NS_PER_S
_MAX_TIMESTAMP, _MAX_TIMESTAMP_FROM = -3, 7  # of ListOffsets, and the version that has it
_MOST_DATED: Final = 1_000  # partitions in one round
WHY_NOT: Final = "A Kafka cluster is only observed: nothing is changed, and not everything can be known from outside."
_STATES: Final = {str(state): state for state in GroupState}
LOCKED: Final = "The cluster is locked: Unlock (in the menu Session) opens it for a while."
_Shares = Mapping[str, ShareGroupView]


def answer(request: Any, seen: Snapshot, shares: _Shares) -> Any:
    """The answer to `request` from `seen`. Raises UNKNOWN_TOPIC_OR_PARTITION, GROUP_ID_NOT_FOUND, READ_ONLY."""
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
    """Looks at a cluster every `every_s`, or less often where looking costs more than a tenth of the time: see `Pace`.

    `topics` and `groups` are patterns with *. It sends nothing that changes anything.
    """

    SHARE_GROUPS_ARE_GROUPS = True

    def __init__(
        self,
        config: ConnectionConfig,
        *,
        every_s: float = 1.0,
        topics: Sequence[str] = (),
        groups: Sequence[str] = (),
        allow: Collection[str] = (),
        journal: DeedJournal | None = None,
    ) -> None:
        """`allow` has what may be done to it, "redrive" and "offsets"; that is written down in `journal`."""
        self.address = ",".join(f"{host}:{port}" for host, port in config.bootstrap)
        self._closing = threading.Event()
        self._cluster = Cluster(config, self._closing.wait)
        # Without a period, as tests look, nobody is late.
        self._reader = SweepReader(self._cluster, topics, groups, _PATIENCE * every_s or _FIRST_PATIENCE_S)
        self._logs = ClusterLogs(Cluster(config, self._closing.wait))
        self._deeds: deque[Deed] = deque()
        self.guarded = Guarded(
            config,
            Guard(allow),
            journal,
            lambda topic: readers_of(self._shown.groups, topic),
            self._deeds.append,
            wait=self._closing.wait,
            name=lambda: self._cluster.name,
        )
        self._arrivals = Arrivals()
        self._diff = ClusterDiff(self._arrivals)
        self._every_s = every_s
        self._look_s = 0.0
        self._cost = 0.0, 0  # of looking so far: seconds of computing, and requests
        self._zero_s = self._clock_due_s = self._forget_due_s = 0.0
        self._pace = Pace(every_s, 0.0)
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
        sweep = self._take_sweep(_FIRST_PATIENCE_S)
        self._pace = Pace(self._every_s, time.monotonic())
        for node in sweep.nodes:
            self._pace.heard(node, time.monotonic())
        first = self._diff.first(sweep, self._now_ns())
        self._date_unread(_ROUNDS, time.monotonic() + _ROUNDS_S)
        # As everybody folds who has the recording: so the next keyframe never differs from what was told.
        self._fold = Fold(first, published_before=self._published_ns)
        self._shown = self._with_disks(self._fold.snapshot(0))
        self._end_look(sweep, began_s)
        return self._shown

    def look(self) -> Look | None:
        """Raises `BrokerError` where no broker of the cluster answers."""
        due_s = self._pace.due_s
        if self._closing.wait(min(_MOST_WAIT_S, max(0.0, due_s - time.monotonic()))) or time.monotonic() < due_s:
            return None
        began_s = time.monotonic()
        try:
            sweep = self._take_sweep()
        except BrokerError:
            if self._away_since_s is None:
                self._away_since_s = began_s
            raise
        now_ns = self._now_ns()
        gaps = self._note_heard(sweep)
        whole = [self._why(each) for each in gaps if each.node is None and each.is_over]
        gap = whole[0] if whole else ""
        if self._away_since_s is not None:
            gap = f"no broker of {self.address} answered for {began_s - self._away_since_s:.0f} s"
            self._away_since_s = None
        events = [*self.take_deeds(now_ns), *self._diff.events(sweep, now_ns)]
        self._date_unread(_ROUNDS_LATER, began_s + _ROUNDS_S)
        if gaps or sweep.silent or sweep.refused:  # what producers hand over then has waited
            self._clock_due_s = max(self._clock_due_s, began_s + _WAITED_S)
        self._check_clock(events, now_ns)
        events += [self._gap(each) for each in gaps if each.node is not None]
        for event in events:
            self._fold.add(event)
        self._shown = self._with_disks(self._fold.snapshot(now_ns))
        self._end_look(sweep, began_s)
        return Look(events, self._shown, gap)

    def _take_sweep(self, patience_s: float | None = None) -> Sweep:
        sweep = self._reader.sweep(patience_s)
        return _with_share_groups(sweep) if self.SHARE_GROUPS_ARE_GROUPS else sweep

    def _note_heard(self, sweep: Sweep) -> list[Silence]:
        now_s = time.monotonic()
        found = self._pace.heard(None, now_s)
        for node in sorted(sweep.heard):
            found += self._pace.heard(node, now_s)
        return found + self._pace.silences(now_s)

    def _why(self, silence: Silence) -> str:
        lasted = f"{silence.to_s - silence.from_s:.1f} s"
        if silence.node is None:
            return f"nothing was asked for {lasted}: brokers, or this machine, were too slow"
        if silence.node not in self._cluster.nodes:
            why = "the cluster no longer names it"
        else:
            place = self._cluster.nodes[silence.node]
            line = self._cluster.line(place)
            why = line.refused or f"{place[0]}:{place[1]} did not answer {line.asking} in time"
        return f"node {silence.node} has told nothing for {lasted}: {why}"

    def _gap(self, silence: Silence) -> Event:
        from_ns, to_ns = (int((at_s - self._zero_s) * NS_PER_S) for at_s in (silence.from_s, silence.to_s))
        detail = {"node": silence.node, "from_ns": from_ns, "is_over": silence.is_over}
        if silence.is_over:
            cause = f"node {silence.node} told nothing for {silence.to_s - silence.from_s:.1f} s, and tells again"
        else:
            cause = self._why(silence)
        return Event(0, to_ns, EventKind.GAP, cause=cause, detail=detail)

    def take_deeds(self, now_ns: int) -> list[Event]:
        """Events of what this program has done to the cluster since the last call."""
        found = [self._deeds.popleft() for _ in range(len(self._deeds))]
        return [Event(0, now_ns, EventKind.USER_ACTION, cause=deed.sentence, detail=deed.detail()) for deed in found]

    def _now_ns(self) -> int:
        return int((time.monotonic() - self._zero_s) * NS_PER_S)

    def _end_look(self, sweep: Sweep, began_s: float) -> None:
        self._share_groups.update(sweep.share_groups)
        for name in [name for name in self._share_groups if sweep.all_groups and name not in self._diff.groups]:
            del self._share_groups[name]
        now_s = time.monotonic()
        if now_s >= self._forget_due_s:
            self._forget_due_s = now_s + _FORGET_EVERY_S
            self._forget_read()
        self._look_s = now_s - began_s
        # A group that rebalances is looked at more often: the next rebalance may follow at once.
        soon_s = _SOON_S if self._diff.rebalancing and not self._diff.has_unlisted_groups else None
        cpu_s, requests = time.thread_time() + self._cluster.cpu_s, self._cluster.cost[0]
        spent_s = max(0.0, cpu_s - self._cost[0])  # the first look may have had another thread
        spent_s *= bool(self._cost[1])  # the first also loads what it needs
        self._pace.looked(began_s, now_s, spent_s, requests - self._cost[1], soon_s)
        self._cost = cpu_s, requests

    def _forget_read(self) -> None:
        """Forget when messages arrived that every group has committed: nobody asks for it."""
        read: dict[TopicPartition, int] = {}
        for committed in self._diff.committed.values():
            for place, at in committed.items():
                read[place] = min(at, read.get(place, at))
        for place, at in read.items():
            self._arrivals.forget(place, at)

    def _with_disks(self, shown: Snapshot) -> Snapshot:
        return msgspec.structs.replace(shown, nodes=self._diff.cluster.with_disks(shown.nodes))

    def _published_ns(self, place: TopicPartition, offset: int, time_ns: int) -> int | None:
        earliest, latest = self._arrivals.bracket(place, offset)
        if (
            earliest is None
            or latest is None
            or (earliest < 0 and latest - earliest > _tolerance_ns(earliest, time_ns))
        ):
            return None
        return self._arrivals.of(place, offset)

    def _date_unread(self, rounds: int, until_s: float) -> None:
        """When was the first message published that a group has not read, where that was before we came? Offsets by
        time, bisected for all partitions at once.
        """
        for _ in range(rounds):
            wanted: dict[TopicPartition, tuple[int, int]] = {}
            for committed in self._diff.committed.values():
                for place, at in committed.items():
                    if at >= self._diff.ends.get(place, 0) or place in wanted or (place, at) in self._dated:
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
                    self._arrivals.note_offset_at(place, self._session_ns(at_ms), offset, self._session_ns(time_ms))
                is_told = place in found or self._reader.is_denied("ListOffsets", place[0])
                if is_told and self._arrivals.bracket(place, at) == before:
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
            self._cluster.is_known_to_have(node, "ListOffsets", _MAX_TIMESTAMP_FROM) for node in self._cluster.nodes
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
        """The answer to `request` as of the last sweep; messages are read now.

        Raises UNKNOWN_TOPIC_OR_PARTITION, GROUP_ID_NOT_FOUND, READ_ONLY, and for messages as a connection does.
        """
        if type(request) in BROWSED:
            read: Any = self._logs.answer(request, self.epoch_ms)
            return cast(T, read)
        if type(request) in GUARDED:
            done: Any = self.guarded.answer(request)
            return cast(T, done)
        found: Any = answer(request, self._shown, self._share_groups)
        return cast(T, found)

    def why_not(self, request: type[Request[Any]]) -> str:
        if (verb := VERBS.get(request)) is not None:
            return "" if verb in self.guarded.guard.verbs else LOCKED
        return "" if request in ANSWERED or request in BROWSED or request in GUARDED else WHY_NOT

    def knows(self, word: str) -> bool:
        """Beside topics, groups and offsets, messages can be read."""
        return word == "messages"

    @property
    def facts(self) -> PeerFacts:
        return PeerFacts(self._cluster.name or self.address, self._pace.period_s, self._look_s)

    @property
    def cost(self) -> tuple[int, int]:
        """Requests, and bytes of their answers, so far."""
        return self._cluster.cost

    def rest(self) -> Look | None:
        """Nothing: each look tells all."""
        return None

    def close(self) -> None:
        """A second call does nothing."""
        self.guarded.close()
        self._closing.set()
        self._cluster.close()
        self._logs.close()


def _with_share_groups(sweep: Sweep) -> Sweep:
    """Share groups among the other groups: what a lag does not count is "committed"."""
    for name, view in sweep.share_groups.items():
        members = (MemberSeen(each.member_id, each.client, "", each.topics, ()) for each in view.members)
        state = _STATES.get(view.state, GroupState.STABLE)
        sweep.groups[name] = GroupSeen(state, view.epoch, "", tuple(sorted(members)), SHARE)
        sweep.committed[name] = {(at.topic, at.partition): at.end_offset - at.lag for at in view.offsets}
    return sweep


def _tolerance_ns(earliest_ns: int, now_ns: int) -> int:
    """How exactly an arrival time has to be known: to 2 % of its age, but not below the precision of records."""
    return max(2 * NS_PER_MS, (now_ns - earliest_ns) // 50)
