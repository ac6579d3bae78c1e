"""Another broker of Brokerscope, over HTTP: all of its events are seen, and all of its operations can be asked for."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

import msgspec

from broker_core.clients.http_broker import HttpBroker
from broker_core.clock import NS_PER_MS
from broker_core.observation.moments import moved
from broker_core.observation.peer import Look, PeerFacts
from broker_core.operations.catalogue import entry_of
from broker_core.operations.observe import ObserveBroker, Observed
from broker_core.operations.request import Request
from broker_core.snapshots import Snapshot, Totals

T = TypeVar("T")

OFTEN_S: Final = 0.1  # at most so often
_SHARE: Final = 0.1  # of the time, which looks may take
_BLOCKS_S: Final = 1.0
_UNKNOWN: Final = frozenset({"requests", "schemas"})  # those from before it was opened are not told
_OPEN_S: Final = 8.0
_LOOK_S: Final = 30.0


class ServePeer:
    """The HTTP listener at `url`, which `brokerscope serve` or a window opens. Arguments as of `HttpBroker`."""

    def __init__(self, url: str, *, token: str | None = None, ca_file: Path | str | None = None) -> None:
        kafka = f"give {url.partition('://')[2]} without http://"
        self._broker = HttpBroker(url, token=token, ca_file=ca_file, timeout_s=_LOOK_S, if_kafka=kafka)
        self.address = self._broker.url
        self.facts = PeerFacts("Brokerscope", OFTEN_S, 0.0)
        self._due_s = 0.0
        self._closing = threading.Event()
        self._seen = 0
        self.epoch_ms = self._opened_ms = 0
        self._later_ns = 0  # session time is that of the broker and this
        self._before = Totals()
        self._refused: dict[str, str] = {}
        self._last = Snapshot(0, 0)

    def open(self) -> Snapshot:
        found = self._observe(None, _OPEN_S)
        self._opened_ms = found.epoch_ms
        self.epoch_ms = found.epoch_ms + found.snapshot.time_ns // NS_PER_MS
        self._later_ns, self._before = -found.snapshot.time_ns, found.snapshot.totals
        return self._taken(found).snapshot

    def look(self) -> Look | None:
        is_closing = self._closing.wait(min(_BLOCKS_S, max(0.0, self._due_s - time.monotonic())))
        if is_closing or time.monotonic() < self._due_s:
            return None
        return self._taken(self._observe(self._seen, _LOOK_S))

    def _observe(self, seen: int | None, timeout_s: float) -> Observed:
        began_s = time.monotonic()
        found = self._broker.ask(ObserveBroker(seen=seen), timeout_s)
        look_s = time.monotonic() - began_s
        period_s = max(OFTEN_S, look_s / _SHARE)
        self._due_s = began_s + period_s
        self.facts = self.facts._replace(period_s=period_s, look_s=look_s)
        return found

    def _taken(self, found: Observed) -> Look:
        gap, events = "", found.events
        if found.epoch_ms != self._opened_ms:
            # Another broker at this address: its time and its counts begin anew.
            gap, events = "the broker was restarted; what it did in the meantime is not known", []
            self._opened_ms = found.epoch_ms
            at_ns = (found.epoch_ms - self.epoch_ms) * NS_PER_MS + found.snapshot.time_ns
            self._later_ns = max(at_ns, self._last.time_ns) - found.snapshot.time_ns
            self._before = found.snapshot.totals.minus(self._last.totals)
        elif found.missed:
            gap = f"{found.missed:,} more events happened than the broker keeps"
        self._seen, self._refused = found.snapshot.events, found.refused
        snapshot = moved(found.snapshot, self._later_ns)
        self._last = snapshot = msgspec.structs.replace(snapshot, events=0, totals=snapshot.totals.minus(self._before))
        connections = [moved(each, self._later_ns) for each in found.connections]
        return Look([moved(event, self._later_ns) for event in events], snapshot, gap, connections)

    @property
    def hosts(self) -> Sequence[str]:
        return (urlsplit(self.address).hostname or "",)

    def ask(self, request: Request[T]) -> T:
        return moved(self._broker.ask(moved(request, -self._later_ns)), self._later_ns)

    def why_not(self, request: type[Request[Any]]) -> str:
        return self._refused.get(entry_of(request).name, "")

    def knows(self, word: str) -> bool:
        return word not in _UNKNOWN

    def rest(self) -> None:
        """Nothing: each look tells all."""

    def close(self) -> None:
        self._closing.set()
        self._broker.close()
