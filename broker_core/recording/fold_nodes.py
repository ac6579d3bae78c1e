from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

from broker_core.events import Event, EventKind
from broker_core.snapshots import NodeView


class FoldedNodes:
    """Nodes of a cluster."""

    def __init__(self, nodes: Iterable[NodeView]) -> None:
        self._nodes = {each.node: each for each in nodes}
        self.handlers: dict[EventKind, Callable[[Event], object]] = {
            EventKind.NODE_SEEN: self._seen,
            EventKind.NODE_GONE: self._gone,
            EventKind.CONTROLLER_MOVED: self._controller,
        }

    def views(self) -> tuple[NodeView, ...]:
        return tuple(view for _, view in sorted(self._nodes.items()))

    def _seen(self, event: Event) -> None:
        node, where = int(event.told["node"]), (str(event.told["address"]), str(event.told["rack"]))
        old = self._nodes.get(node) or NodeView(node, *where)
        self._nodes[node] = NodeView(node, *where, is_controller=old.is_controller, disk=old.disk)

    def _gone(self, event: Event) -> None:
        if (old := self._nodes.get(int(event.told["node"]))) is not None:
            self._nodes[old.node] = msgspec.structs.replace(old, gone_ns=event.time_ns, why=event.cause)

    def _controller(self, event: Event) -> None:
        now = int(event.told["node"])
        self._nodes.setdefault(now, NodeView(now, ""))
        for node, view in self._nodes.items():
            if view.is_controller is not (node == now):
                self._nodes[node] = msgspec.structs.replace(view, is_controller=node == now)
