"""Derives events of nodes, leaders and replicas from the difference between two polls of a cluster."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, Final

from msgspec.structs import replace

from broker_core.events import Event, EventKind
from broker_core.messages import TopicPartition
from broker_core.observation.kafka.seen import NodeSeen, PlaceSeen
from broker_core.observation.kafka.sweep import Sweep
from broker_core.snapshots import NodeView, TopicView

LEFT: Final = "it has left the cluster"
_SILENT: Final = "it does not answer, and the cluster counts on it no longer"
_NOBODY: Final = -1
_IN_ORDER: Final = (EventKind.LEADERS_MOVED, EventKind.IN_SYNC_SHRUNK, EventKind.IN_SYNC_GROWN)
_Row = list[Any]


class ClusterChanges:
    """Nodes, leaders and replicas as they were seen last. What a sweep has not found stays as it was."""

    def __init__(self) -> None:
        self._nodes: dict[int, NodeSeen] = {}
        self._is_first = True
        self._gone: dict[int, str] = {}
        self._heard: set[int] = set()  # that have ever answered here
        self._controller: int | None = None
        self._places: dict[TopicPartition, PlaceSeen] = {}
        self._told: Mapping[TopicPartition, PlaceSeen] = {}
        self._min_in_sync: dict[str, int] = {}

    def first(self, sweep: Sweep) -> tuple[NodeView, ...]:
        """The nodes at time 0."""
        self.events(sweep, 0)
        self._is_first = False
        views = {
            node: NodeView(node, seen.address, seen.rack, is_controller=node == self._controller)
            for node, seen in self._nodes.items()
        }
        if self._controller is not None and self._controller not in views:
            views[self._controller] = NodeView(self._controller, "", is_controller=True)
        return self.with_disks(view for _, view in sorted(views.items()))

    def placed(self, topic: TopicView) -> TopicView:
        """The topic with leaders, replicas and in-sync replicas filled in."""
        places = [(part, self._places.get((topic.name, part.partition))) for part in topic.partitions]
        parts = tuple(
            part if seen is None else replace(part, leader=seen.leader, replicas=seen.replicas, in_sync=seen.in_sync)
            for part, seen in places
        )
        return replace(topic, partitions=parts, min_in_sync=self._min_in_sync.get(topic.name, 0))

    def with_disks(self, views: Iterable[NodeView]) -> tuple[NodeView, ...]:
        """`views` with the disk usage of each node, which no event tells."""
        return tuple(
            view if (seen := self._nodes.get(view.node)) is None else replace(view, disk=seen.disk) for view in views
        )

    def forget(self, topic: str) -> None:
        self._told = {}
        for place in [place for place in self._places if place[0] == topic]:
            del self._places[place]

    def events(self, sweep: Sweep, now_ns: int) -> list[Event]:
        out: list[Event] = []

        def emit(kind: EventKind, cause: str = "", count: int = 0, **detail: Any) -> None:
            out.append(Event(0, now_ns, kind, cause=cause, count=count, detail=detail))

        self._take_nodes(sweep, emit)
        if sweep.controller is not None and sweep.controller != self._controller:
            if not self._is_first:
                why = self._of_gone({self._controller}) if self._controller is not None else "first told now"
                emit(EventKind.CONTROLLER_MOVED, why, before=self._controller, node=sweep.controller)
            self._controller = sweep.controller
        self._take_places(sweep, emit)
        return out

    def _take_nodes(self, sweep: Sweep, emit: Any) -> None:
        self._heard |= sweep.heard
        for node, seen in sweep.nodes.items():
            refused = sweep.refused.get(node)
            is_known, where = node in self._nodes, {"node": node, "address": seen.address}
            self._nodes[node] = seen
            if not is_known:
                emit(EventKind.NODE_SEEN, "new in the cluster", **where, rack=seen.rack)
            elif node in self._gone and refused is None:
                emit(EventKind.NODE_SEEN, "back", **where, rack=seen.rack)
                del self._gone[node]
            elif node not in self._gone and refused is not None and node in self._heard:
                self._gone[node] = refused
                emit(EventKind.NODE_GONE, refused, **where)
        for node in self._nodes.keys() - sweep.nodes.keys() - self._gone.keys():
            self._gone[node] = why = _SILENT if node in sweep.silent else LEFT
            emit(EventKind.NODE_GONE, why, node=node, address=self._nodes[node].address)

    def _take_places(self, sweep: Sweep, emit: Any) -> None:
        told: dict[tuple[EventKind, str], list[_Row]] = defaultdict(list)  # by kind, and why
        placed: list[_Row] = []
        is_new, self._told = sweep.places is not self._told, sweep.places
        for place, seen in sweep.places.items() if is_new else ():
            old = self._places.get(place)
            if old == seen:
                continue
            self._places[place] = seen
            if old is None or old.replicas != seen.replicas:
                placed.append([*place, seen.leader, [*seen.replicas], [*seen.in_sync]])
            if old is None:
                continue
            if old.leader != seen.leader:
                why = self._why_moved(old, seen)
                told[EventKind.LEADERS_MOVED, why].append([*place, old.leader, seen.leader])
            lost, back = {*old.in_sync} - {*seen.in_sync}, {*seen.in_sync} - {*old.in_sync}
            if lost:
                why = self._of_gone(lost) or f"{_nodes(lost)} fell behind, or shuts down"
                told[EventKind.IN_SYNC_SHRUNK, why].append([*place, [*seen.in_sync]])
            if back:
                told[EventKind.IN_SYNC_GROWN, f"{_nodes(back)} caught up"].append([*place, [*seen.in_sync]])
        least = {name: at for name, at in sweep.min_in_sync.items() if at != self._min_in_sync.get(name, 0)}
        self._min_in_sync |= least
        if placed or least:
            more = {"min_in_sync": least} if least else {}
            emit(EventKind.PARTITIONS_PLACED, count=len(placed), changes=placed, **more)
        for (kind, why), rows in sorted(told.items(), key=lambda each: _IN_ORDER.index(each[0][0])):
            emit(kind, why, len(rows), changes=rows)

    def _why_moved(self, old: PlaceSeen, seen: PlaceSeen) -> str:
        if old.leader == _NOBODY:
            return f"{_nodes({seen.leader})} is in sync, and leads again"
        if why := self._of_gone({old.leader}):
            return why
        if seen.leader == _NOBODY:
            return "no replica that is in sync is left"
        if old.leader not in seen.replicas:
            return "its replicas were reassigned"
        return "back to the preferred leader" if seen.leader == seen.replicas[0] else ""

    def _of_gone(self, nodes: set[int]) -> str:
        gone = nodes & self._gone.keys()
        return f"{_nodes(gone)} {'is' if len(gone) == 1 else 'are'} gone" if gone else ""


def _nodes(nodes: Iterable[int]) -> str:
    numbers = [str(node) for node in sorted(nodes)]
    return f"node {numbers[0]}" if len(numbers) == 1 else f"nodes {', '.join(numbers[:-1])} and {numbers[-1]}"
