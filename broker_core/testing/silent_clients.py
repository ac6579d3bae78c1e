"""Clients of a broker under test that ask for nothing, and what others were refused, for the report of a test."""

from __future__ import annotations

from collections.abc import Iterable

from broker_core.clock import s_from_ns
from broker_core.listeners.connections import RequestView
from broker_core.snapshots import ConnectionView

SILENT_S = 3.0
MAX_REFUSED = 10
_KAFKA_PYTHON_3 = "kafka-python 3"
_KNOWN = (
    "; kafka-python 3 forgets a rebalance that outlasts the time-out of its poll: poll(timeout_ms=5_000), or iterate"
    " over the consumer"
)


def silent_clients(views: Iterable[ConnectionView], now_ns: int) -> list[str]:
    """A sentence for each client of a group that has sent no request for three seconds, over all its connections."""
    heard_ns: dict[str, int] = {}
    software: dict[str, str] = {}
    in_group: set[str] = set()
    for view in views:
        heard_ns[view.client] = max(heard_ns.get(view.client, 0), view.heard_ns)
        software[view.client] = view.software or software.get(view.client, "")
        if view.group:
            in_group.add(view.client)
    return [
        f"{client or 'A client'} is connected, and has not asked for anything for {s_from_ns(now_ns - at_ns):.1f} s"
        f"{_KNOWN if software[client].startswith(_KAFKA_PYTHON_3) else ''}."
        for client, at_ns in heard_ns.items()
        if client in in_group and s_from_ns(now_ns - at_ns) >= SILENT_S
    ]


def refused(requests: Iterable[RequestView]) -> list[tuple[int, str]]:
    """The last errors that clients were answered, each with the time (ns) at which it came first."""
    first_ns: dict[str, int] = {}
    for each in requests:
        if each.error:
            first_ns.setdefault(f"{each.client or 'A client'}: {each.api}: {each.error}", each.time_ns)
    return [(at_ns, told) for told, at_ns in first_ns.items()][-MAX_REFUSED:]
