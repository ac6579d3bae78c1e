"""What happened to a cluster, counted from its events: silences, absent nodes, partitions without a leader, and the
story of each incident.
"""

from __future__ import annotations

from collections import deque
from typing import Any, Final

from broker_core.clock import NS_PER_S
from broker_core.events import Event, EventKind
from broker_core.messages import TopicPartition
from broker_core.plurals import counted
from broker_core.snapshots import Snapshot

_CALM_NS: Final = 10 * NS_PER_S  # after which an incident is over though a node is not back, or a client does nothing
_BUSY_NS: Final = 10 * NS_PER_S  # who was active this shortly before an incident is expected to go on
_PAUSE_NS: Final = 2 * NS_PER_S  # a shorter pause is never long
_SPANS_KEPT: Final = 500  # the last ones
_USUAL: Final = 4  # a pause is long from this many times the usual one of its place
_Where = TopicPartition | str  # a partition that is written to, or a group that commits


class _Pauses:
    """When something last happened at each place, how long its pauses usually are, and the longest of an incident."""

    def __init__(self) -> None:
        self._last_ns: dict[_Where, int] = {}
        self._usual_ns: dict[_Where, float] = {}
        self._watched: set[_Where] = set()
        self.longest_ns: dict[_Where, int] = {}

    def happened(self, where: _Where, now_ns: int) -> None:
        last = self._last_ns.get(where)
        self._last_ns[where] = now_ns
        self._watched.discard(where)
        if last is None or last == now_ns:
            return
        pause, usual = now_ns - last, self._usual_ns.get(where, 0.0)
        if self._is_long(where, pause):
            self.longest_ns[where] = max(pause, self.longest_ns.get(where, 0))
        else:
            self._usual_ns[where] = usual + (pause - usual) / 8

    def watch(self, now_ns: int) -> None:
        """An incident begins: who was busy is missed until it does something again."""
        self.longest_ns.clear()
        self._watched = {where for where, last in self._last_ns.items() if now_ns - last <= _BUSY_NS}

    def missed(self, now_ns: int) -> dict[_Where, int]:
        """The longest pauses so far, those that last among them."""
        lasting = {where: now_ns - self._last_ns[where] for where in self._watched}
        lasting = {where: pause for where, pause in lasting.items() if self._is_long(where, pause)}
        return _merged_max(self.longest_ns, lasting)

    def _is_long(self, where: _Where, pause: int) -> bool:
        return pause >= max(_PAUSE_NS, _USUAL * self._usual_ns.get(where, 0.0))

    @property
    def are_over(self) -> bool:
        return not self._watched


class _Spans:
    """Which things are in a state, since when, and for how long any of them has been."""

    def __init__(self) -> None:
        self.since_ns: dict[TopicPartition, int] = {}
        self.longest_ns: dict[TopicPartition, int] = {}  # in this incident
        self._any_since_ns: int | None = None
        self._most = self._sum_ns = 0
        self._over: deque[list[float]] = deque(maxlen=_SPANS_KEPT)

    def put(self, where: TopicPartition, now_ns: int, *, is_in: bool) -> None:
        if is_in and where not in self.since_ns:
            self.since_ns[where] = now_ns
            if self._any_since_ns is None:
                self._any_since_ns, self._most = now_ns, 0
            self._most = max(self._most, len(self.since_ns))
        elif not is_in and where in self.since_ns:
            self.longest_ns[where] = max(self.longest_ns.get(where, 0), now_ns - self.since_ns.pop(where))
            if not self.since_ns and self._any_since_ns is not None:
                self._sum_ns += now_ns - self._any_since_ns
                self._over.append([*_span([self._any_since_ns, now_ns], now_ns), self._most])
                self._any_since_ns = None

    def sum_ns(self, now_ns: int) -> int:
        return self._sum_ns + (0 if self._any_since_ns is None else now_ns - self._any_since_ns)

    def rows(self, now_ns: int) -> list[list[float]]:
        """From, to, and how many at most at a time."""
        lasts = [] if self._any_since_ns is None else [[*_span([self._any_since_ns, None], now_ns), self._most]]
        return [*self._over, *lasts]

    def told(self, now_ns: int) -> dict[TopicPartition, int]:
        """The longest time in ns that each partition was in this state; those never longer than an instant are left
        out.
        """
        told = _merged_max(self.longest_ns, {where: now_ns - since for where, since in self.since_ns.items()})
        return {where: ns for where, ns in told.items() if ns}


class ClusterTally:
    """A sink of the events after `first`. An incident begins where a node is gone, a partition has no leader or too few
    replicas in sync, and is over when none of that lasts.
    """

    def __init__(self, first: Snapshot) -> None:
        self._racks = {each.node: each.rack for each in first.nodes}
        self._gone: dict[int, list[list[int | None]]] = {
            each.node: [] if each.gone_ns is None else [[each.gone_ns, None]] for each in first.nodes
        }
        self._controller = next((each.node for each in first.nodes if each.is_controller), None)
        self._places: dict[TopicPartition, tuple[int, int, int]] = {}  # leader, replicas, in sync
        self._led: dict[int, set[TopicPartition]] = {}
        self._leaderless, self._under = _Spans(), _Spans()
        self._arrivals, self._commits = _Pauses(), _Pauses()
        # Up to when, None while it lasts, and why; by the node, None for all, and since when.
        self._silences: dict[tuple[int | None, int], tuple[int | None, str]] = {}
        self._looked_ns = self._longest_silence_ns = 0
        self._began_ns: int | None = None
        self._calm_since_ns: int | None = None
        self._was_told = False
        self._moves: list[str] = []  # of the controller in this incident
        self._moved: set[TopicPartition] = set()
        self._leader_changes = 0
        self._stories: list[str] = []
        for topic in first.topics:
            for part in topic.partitions:
                if part.leader is not None:
                    place = topic.name, part.partition
                    self._put(place, 0, part.leader, len(part.replicas), len(part.in_sync))

    def __call__(self, event: Event) -> None:
        match event.kind:
            case EventKind.PUBLISHED:
                self._arrivals.happened(event.place, event.time_ns)
            case EventKind.ACKNOWLEDGED:
                self._commits.happened(event.group, event.time_ns)
            case EventKind.GAP if "from_ns" in event.told:
                told = event.told
                to_ns = event.time_ns if told.get("is_over", True) else None
                self._silences[told.get("node"), int(told["from_ns"])] = to_ns, event.cause
            case EventKind.NODE_GONE | EventKind.NODE_SEEN:
                self._node(event)
            case EventKind.CONTROLLER_MOVED:
                before, self._controller = event.told["before"], int(event.told["node"])
                if before is not None:
                    self._moves.append(f"the controller moved from {before} to {self._controller}")
            case EventKind.TOPIC_DELETED:
                for place in [place for place in self._places if place[0] == event.topic]:
                    self._put(place, event.time_ns, None, 0, 0)
            case (
                EventKind.LEADERS_MOVED
                | EventKind.IN_SYNC_GROWN
                | EventKind.IN_SYNC_SHRUNK
                | EventKind.PARTITIONS_PLACED
            ):
                for topic, part, *row in event.told["changes"]:
                    self._placed(event, (topic, part), row)

    def _placed(self, event: Event, place: TopicPartition, row: list[Any]) -> None:
        leader, replicas, in_sync = self._places.get(place, (0, 0, 0))
        if event.kind is EventKind.LEADERS_MOVED:
            self._leader_changes += 1
            leader = row[1]
        else:
            in_sync = len(row[-1])
        if event.kind is EventKind.PARTITIONS_PLACED:
            leader, replicas = row[0], len(row[1])
        self._put(place, event.time_ns, leader, replicas, in_sync)
        if event.kind is EventKind.LEADERS_MOVED:  # which may have begun the incident
            self._moved.add(place)

    def _node(self, event: Event) -> None:
        node, now_ns = int(event.told["node"]), event.time_ns
        spans = self._gone.setdefault(node, [])
        if event.kind is EventKind.NODE_GONE:
            spans.append([now_ns, None])
            self._begin(now_ns)
        else:
            self._racks[node] = str(event.told.get("rack", ""))
            if spans and spans[-1][1] is None:
                spans[-1][1] = now_ns
        for place in tuple(self._led.get(node, ())):
            self._put(place, now_ns, *self._places[place])

    def _put(self, place: TopicPartition, now_ns: int, leader: int | None, replicas: int, in_sync: int) -> None:
        """A leader of None: there is no such partition any more."""
        old = self._places.pop(place, None)
        if old is not None:
            self._led[old[0]].discard(place)
        if leader is not None:
            self._places[place] = leader, replicas, in_sync
            self._led.setdefault(leader, set()).add(place)
        leaderless = leader is not None and (leader < 0 or leader in self._absent)
        self._leaderless.put(place, now_ns, is_in=leaderless)
        self._under.put(place, now_ns, is_in=in_sync < replicas)
        if leaderless or in_sync < replicas:
            self._begin(now_ns)

    @property
    def _absent(self) -> set[int]:
        return {node for node, spans in self._gone.items() if spans and spans[-1][1] is None}

    def _begin(self, now_ns: int) -> None:
        self._calm_since_ns = None
        if self._began_ns is None:
            self._began_ns, self._was_told = now_ns, False
            self._moves.clear()
            self._moved.clear()
            for spans in (self._leaderless, self._under):
                spans.longest_ns.clear()
            for pauses in (self._arrivals, self._commits):
                pauses.watch(now_ns)

    def looked(self, now_ns: int) -> list[Event]:
        """The incidents to report after the events of a look at the cluster."""
        if self._looked_ns:
            self._longest_silence_ns = max(self._longest_silence_ns, now_ns - self._looked_ns)
        self._looked_ns = now_ns
        if self._began_ns is None:
            return []
        lasts = bool(self._leaderless.since_ns or self._under.since_ns)
        self._calm_since_ns = None if lasts else self._calm_since_ns or now_ns
        is_over = not lasts and self._arrivals.are_over and self._commits.are_over
        began_ns = self._began_ns
        if is_over and all((self._gone[node][-1][0] or 0) < began_ns for node in self._absent):
            return self._end(now_ns)
        if self._calm_since_ns is not None and now_ns - self._calm_since_ns >= _CALM_NS:
            return self._end(now_ns)
        if not self._was_told and now_ns - self._began_ns >= _CALM_NS:
            self._was_told = True
            return [self._told(now_ns, is_over=False)]
        return []

    def _end(self, now_ns: int) -> list[Event]:
        told = self._told(now_ns, is_over=True)
        self._stories.append(told.cause)
        self._began_ns = self._calm_since_ns = None
        return [told]

    def _told(self, now_ns: int, *, is_over: bool) -> Event:
        detail = {"began_ns": self._began_ns, "is_over": is_over}
        return Event(0, now_ns, EventKind.INCIDENT, cause=self.story(now_ns), detail=detail)

    def story(self, now_ns: int) -> str:
        """The incident of now, in a sentence; "" without one."""
        if self._began_ns is None:
            return ""
        parts = []
        for node in sorted(self._gone):
            for from_ns, to_ns in self._gone[node]:
                if (from_ns or 0) >= self._began_ns or to_ns is None:
                    until = "has not been seen since" if to_ns is None else "not seen from"
                    end = "" if to_ns is None else f" to {_s(to_ns)}"
                    parts.append(f"node {node} {until} {_s(from_ns or 0)}{end}")
        parts += self._moves
        if self._moved:
            parts.append(f"{counted(len(self._moved), 'leader')} moved")
        if leaderless := self._leaderless.told(now_ns):
            parts.append(
                f"{counted(len(leaderless), 'partition')} without a leader for {_s(max(leaderless.values()))} s"
            )
            missed = self._arrivals.missed(now_ns)
            if paused := [pause for place, pause in missed.items() if place in leaderless]:
                where = f"{len(paused):,} of them" if len(paused) < len(leaderless) else "them"
                where = "it" if len(leaderless) == 1 else where
                parts.append(f"nothing arrived on {where} for {_s(max(paused))} s")
        if under := self._under.told(now_ns):
            parts.append(f"{counted(len(under), 'partition')} under-replicated for {_s(max(under.values()))} s")
        stood = sorted(((pause, str(name)) for name, pause in self._commits.missed(now_ns).items()), reverse=True)
        parts += [f"group {name} did not commit for {_s(pause)} s" for pause, name in stood[:3]]
        if len(stood) > 3:
            parts.append(f"nor did {counted(len(stood) - 3, 'more group')}")
        return "; ".join(parts)

    def summary(self) -> dict[str, Any]:
        """Up to the last look. Times are seconds of the session."""
        now_ns = self._looked_ns
        silences = [
            (_span([from_ns, to_ns], now_ns), node, why) for (node, from_ns), (to_ns, why) in self._silences.items()
        ]
        longest_s = max([self._longest_silence_ns / NS_PER_S, *(to_s - from_s for (from_s, to_s), _, _ in silences)])
        story = self.story(now_ns)
        return {
            "longest_silence_s": round(longest_s, 3),
            "silences": [[*span, node, why] for span, node, why in silences],
            "nodes": {
                str(node): {
                    "rack": self._racks.get(node, ""),
                    "controller": node == self._controller,
                    "leads": len(self._led.get(node, ())),
                    "gone": [_span(span, now_ns) for span in spans],
                }
                for node, spans in sorted(self._gone.items())
            },
            "leader_changes": self._leader_changes,
            "leaderless_s": round(self._leaderless.sum_ns(now_ns) / NS_PER_S, 3),
            "under_replicated_s": round(self._under.sum_ns(now_ns) / NS_PER_S, 3),
            "leaderless": self._leaderless.rows(now_ns),
            "under_replicated": self._under.rows(now_ns),
            "incidents": [*self._stories, *([story] if story else [])],
        }


def _merged_max(one: dict[Any, int], other: dict[Any, int]) -> dict[Any, int]:
    return {where: max(one.get(where, 0), other.get(where, 0)) for where in one.keys() | other.keys()}


def _span(span: list[int | None], now_ns: int) -> list[float]:
    from_ns, to_ns = span
    return [round((from_ns or 0) / NS_PER_S, 3), round((now_ns if to_ns is None else to_ns) / NS_PER_S, 3)]


def _s(time_ns: int) -> str:
    return f"{time_ns / NS_PER_S:.1f}"
