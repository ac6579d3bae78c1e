from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from broker_core.clock import s_from_ns
from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import Event
from broker_core.messages import StoredMessage
from broker_core.operations.observe import VerdictAnswer
from broker_core.snapshots import Snapshot, Totals

if TYPE_CHECKING:
    from broker_core.broker.broker import Broker
    from broker_core.engine.broker_host import BrokerHost
    from broker_core.log.partition_log import PartitionLog
    from broker_core.recording.audit import Audit, Verdict  # loads what few tests need
    from broker_core.recording.fold import Fold  # it and the recorder load pyarrow, which few tests need
    from broker_core.recording.verdicts import Keys


MAX_RING_EVENTS = 20_000  # about 5 MB
LEAST_S = 0.001  # of a scenario


class KeptEvents:
    """A sink of the event stream. It keeps the last `max_events` events, and the state before the first of them."""

    def __init__(self, before: Snapshot, max_events: int = MAX_RING_EVENTS) -> None:
        self._kept: list[Event] = []
        self._max_events = max_events
        self._before = before
        self._fold: Fold | None = None  # of what has left
        # Held while events leave; an append is atomic.
        self._leaving = threading.Lock()

    def __call__(self, event: Event) -> None:
        self._kept.append(event)
        if len(self._kept) > self._max_events:
            self._drop(len(self._kept) - self._max_events * 3 // 4)

    def _drop(self, count: int) -> None:
        from broker_core.recording.fold import Fold

        with self._leaving:
            self._fold = self._fold or Fold(self._before)
            for event in self._kept[:count]:
                self._fold.add(event)
            del self._kept[:count]

    @property
    def events(self) -> list[Event]:
        return self._kept[:]

    def save(self, folder: Path, *, title: str, about: str, started_s: float, totals: Totals, end_ns: int) -> Path:
        """Write a session. `started_s` is the Unix time of session time 0, `end_ns` the session time of its end.

        Raises FOLDER_NOT_EMPTY, STORAGE_ERROR.
        """
        from broker_core.recording.metadata import utc
        from broker_core.recording.recorder import Recorder
        from broker_core.simulation.scenario import Scenario
        from broker_core.simulation.scenario_text import scenario_text

        with self._leaving:
            before = self._before if self._fold is None else self._fold.snapshot()
            events = self._kept[:]
        scenario = Scenario(title=title, about=about, until_s=max(LEAST_S, s_from_ns(end_ns)))
        recorder = Recorder(
            folder,
            scenario_name=title,
            scenario_text=scenario_text(scenario),
            clock="wall",
            started_at=utc(started_s),
            before=before if before.events else None,
        )
        try:
            for event in events:
                recorder(event)
        finally:
            recorder.close(totals=msgspec.to_builtins(totals), time_ns=end_ns)
        return folder


MAX_EVENTS = 1_000_000  # about 400 MB
_READ_AT_ONCE = 10_000


class AuditedHistory:
    """A sink of the event stream of a host and of those that follow after its crash."""

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._why_not = ""
        self.denied: list[Verdict] = []  # those that a test has found to be false

    def attach(self, host: BrokerHost) -> None:
        """Keep the events of `host`, from its beginning on, and answer AuditBroker."""
        if list(host.broker.logs):
            self._why_not = (
                "the directory of this broker was not empty; an audit must cover a broker from its beginning"
            )
        host.events.attach(self)
        self.answer_for(host)

    def answer_for(self, host: BrokerHost) -> None:
        """Answer AuditBroker on a host whose events come here already."""
        broker = host.broker

        def answer(_now_ns: int) -> list[VerdictAnswer]:
            return [
                VerdictAnswer(name=name, holds=verdict.holds, explanation=verdict.explanation)
                for name, verdict in self.audit(broker).verdicts.items()
            ]

        broker.auditor = answer

    @property
    def decisive(self) -> Iterator[Event]:
        """The events that show what was found to be false, finding by finding."""
        return (event for verdict in self.denied for finding in verdict.findings for event in finding.life)

    def __call__(self, event: Event) -> None:
        if len(self._events) < MAX_EVENTS:
            self._events.append(event)
        else:
            self._why_not = f"there were more than {MAX_EVENTS} events, which are not kept; audit earlier"

    def audit(self, broker: Broker, compacting: frozenset[str] = frozenset()) -> Audit:
        """The audit up to now, where topics were `compacting` before the first event. Called under the broker's lock.

        Raises INVALID_REQUEST if events are missing.
        """
        from broker_core.recording.audit import Audit

        if self._why_not:
            raise BrokerError(ErrorCode.INVALID_REQUEST, self._why_not)
        configs = {name: broker.queues.queue(name).config for name in broker.queues.names()}
        return Audit(
            tuple(self._events),
            max_attempts={name: config.max_attempts for name, config in configs.items() if config.max_attempts},
            keys=_keys(broker),
            denied=self._deny,
            compacting=compacting,
        )

    def _deny(self, verdict: Verdict) -> None:
        """Remember a denied promise, once however often the test asks: the last verdict knows most."""
        self.denied = [each for each in self.denied if each.promise != verdict.promise] + [verdict]


def stored_in(log: PartitionLog, committed: bool = False) -> Iterator[StoredMessage]:
    """All messages of a partition; only those that readers of `committed` ones get."""
    offset, end = log.start_offset, log.last_stable_offset if committed else log.end_offset
    aborted = log.segments.aborted_ranges(offset, end) if committed else ()
    while offset < end and (part := log.read(offset, max_messages=_READ_AT_ONCE, end_offset=end)):
        yield from (each for each in part if not any(each.offset in span for span in aborted))
        offset = part[-1].offset + 1


def _keys(broker: Broker) -> Keys:
    return {
        (topic.name, log.partition): {each.offset: each.key for each in stored_in(log) if each.key is not None}
        for topic in broker.logs
        for log in topic.log.partitions
    }
