"""The active faults of clients' requests. Their beginning and end are events."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from broker_core.clock import ns_from_s
from broker_core.errors import BrokerError, ErrorCode, must
from broker_core.events import EventKind, EventStream
from broker_core.faults.client_fault import ClientFault, ClientRequest
from broker_core.jitter import Jitter
from broker_core.names import check_name
from broker_core.replies import Reply
from broker_core.snapshots import FaultView
from broker_core.timers import Timer, Timers

MAX_OVER = 1_000
# What a request that is due meets in place of the fault; None for nothing.
Chosen = Callable[[ClientRequest, ClientFault], ClientFault | None]


class _Running(msgspec.Struct):
    fault: ClientFault
    what: str
    since_ns: int
    until_ns: int | None
    timer: Timer | None
    over: Reply[int]
    draw: Callable[[], float]
    chosen: Chosen | None = None
    matched: int = 0
    met: int = 0


class ClientFaults:
    """The active faults. Requests are counted in order, so that the same requests are affected in each run."""

    def __init__(self, events: EventStream, timers: Timers) -> None:
        self._events = events
        self._timers = timers
        self._running: dict[str, _Running] = {}
        self._over: dict[str, int] = {}  # how often a fault that has ended was met, by its name

    def named(self, fault: ClientFault) -> ClientFault:
        """`fault` with a name. Raises INVALID_REQUEST if the name is taken, INVALID_TOPIC if it is invalid."""
        if not fault.name:
            number = 1
            while f"fault-{number}" in self._running:
                number += 1
            return msgspec.structs.replace(fault, name=f"fault-{number}")
        check_name(fault.name, "fault")
        if fault.name in self._running:
            raise BrokerError(ErrorCode.INVALID_REQUEST, f"there is a fault {fault.name} already; end that first")
        return fault

    def begin(self, now_ns: int, fault: ClientFault, *, chosen: Chosen | None = None, what: str = "") -> ClientFault:
        """Activate `fault`. Returns it with its name. Raises as `named`.

        With `chosen`, that says what each request that is due meets in place of the fault; `what` describes it.
        """
        fault = self.named(fault)
        until_ns, timer = None, None
        if fault.for_s is not None:
            until_ns = now_ns + ns_from_s(fault.for_s)
            timer = self._timers.at(until_ns, lambda at_ns: self.end(at_ns, fault.name))
        self._running[fault.name] = _Running(
            fault, what or fault.what, now_ns, until_ns, timer, Reply(), Jitter(fault.seed), chosen
        )
        detail = {"fault": f"fault {fault.name}", "until_ns": until_ns, "client_fault": msgspec.to_builtins(fault)}
        self._emit(now_ns, fault, what or fault.what, detail)
        return fault

    def end(self, now_ns: int, name: str) -> None:
        """End a fault; requests that it held are served. Raises INVALID_REQUEST if there is none."""
        ended = self._find(name)
        del self._running[name]
        self._over[name] = ended.met
        while len(self._over) > MAX_OVER:
            del self._over[next(iter(self._over))]
        if ended.timer is not None:
            ended.timer.cancel()
        met = f" after {ended.met} requests" if ended.met != 1 else " after one request"
        self._emit(now_ns, ended.fault, f"fault {name} is over{met}", {"ended": f"fault {name}"})
        ended.over.resolve(now_ns)

    def fault(self, name: str) -> ClientFault:
        """The active fault `name`. Raises INVALID_REQUEST if there is none."""
        return self._find(name).fault

    def over(self, name: str) -> Reply[int]:
        """A reply that is settled with the time when the fault ends. Raises INVALID_REQUEST if there is none."""
        return self._find(name).over

    def met(self, name: str) -> int:
        """How many requests the fault `name` has affected; also of the last thousand that are over. 0 for none."""
        return self._running[name].met if name in self._running else self._over.get(name, 0)

    @property
    def any(self) -> bool:
        return bool(self._running)

    def judge(self, now_ns: int, request: ClientRequest) -> ClientFault | None:
        """The first fault that affects `request`. Every matching fault counts the request."""
        found: ClientFault | None = None
        for running in list(self._running.values()):
            fault = running.fault
            if not fault.matches(request):
                continue
            running.matched += 1
            due = running.matched > fault.skip and (running.matched - fault.skip) % fault.every == 0
            if due and found is None and running.draw() < fault.probability:
                found = fault if running.chosen is None else running.chosen(request, fault)
                if found is None:
                    continue
                if found.jitter_ms:
                    # A delay of 0 is none.
                    delay_ms = max(0.001, found.delay_ms + found.jitter_ms * (2 * running.draw() - 1))
                    found = msgspec.structs.replace(found, delay_ms=delay_ms)
                running.met += 1
                if fault.times is not None and running.met >= fault.times and fault.effect != "hold":
                    self.end(now_ns, fault.name)
        return found

    def views(self) -> dict[str, FaultView]:
        """The active faults by name, in the order of their beginning."""
        return {
            name: FaultView(_plain(each.fault.client), f"fault {name}", each.what, each.since_ns, each.until_ns)
            for name, each in self._running.items()
        }

    def _emit(self, now_ns: int, fault: ClientFault, cause: str, detail: dict[str, object]) -> None:
        self._events.emit(
            now_ns,
            EventKind.FAULT,
            client=_plain(fault.client),
            topic=_plain(fault.topic),
            cause=cause,
            detail=detail,
        )

    def _find(self, name: str) -> _Running:
        return must(self._running.get(name), ErrorCode.INVALID_REQUEST, f"there is no fault {name!r}")


def _plain(pattern: str) -> str:
    """`pattern` where it is a plain name, "" for one with wildcards."""
    return "" if "*" in pattern else pattern
