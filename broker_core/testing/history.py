from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import Event
from broker_core.operations.observe import AuditAnswer, VerdictAnswer

if TYPE_CHECKING:
    from broker_core.broker.broker import Broker
    from broker_core.engine.host import BrokerHost
    from broker_core.recording.audit import Audit, Keys, Verdict  # loads what few tests need

MAX_EVENTS = 1_000_000  # about 400 MB
_READ_AT_ONCE = 10_000
_MAX_LEASES = 10_000


class History:
    """A sink of the event stream of a host and of those that follow after its crash."""

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._why_not = ""
        self.denied: list[Verdict] = []  # those that a test has found to be false

    def attach(self, host: BrokerHost) -> None:
        """Keep the events of `host`, from its beginning on, and answer AuditBroker."""
        if list(host.broker.logs):
            self._why_not = "the directory of this broker was not empty; an audit covers a broker from its beginning"
        host.events.attach(self)
        self.answer_for(host)

    def answer_for(self, host: BrokerHost) -> None:
        """Answer AuditBroker on a host whose events come here already."""
        broker = host.broker

        def answer(now_ns: int) -> AuditAnswer:
            verdicts = self.audit(broker, now_ns).verdicts.items()
            return AuditAnswer(
                verdicts=[
                    VerdictAnswer(name=name, holds=verdict.holds, explanation=verdict.explanation)
                    for name, verdict in verdicts
                ]
            )

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

    def audit(self, broker: Broker, now_ns: int) -> Audit:
        """What has happened up to now. Called under the broker's lock. Raises INVALID_REQUEST if it is not known."""
        from broker_core.recording.audit import Audit

        if self._why_not:
            raise BrokerError(ErrorCode.INVALID_REQUEST, self._why_not)
        configs = {name: broker.queues.queue(name).config for name in broker.queues.names()}
        return Audit(
            tuple(self._events),
            broker.snapshot(now_ns, max_leases=_MAX_LEASES, max_dead_letters=0),
            max_attempts={name: config.max_attempts for name, config in configs.items() if config.max_attempts},
            compacted={topic.name for topic in broker.logs if topic.log.config.compacts},
            keys=_keys(broker),
            denied=self._deny,
        )

    def _deny(self, verdict: Verdict) -> None:
        """Once a promise, however often the test asks: the last answer knows most."""
        self.denied = [each for each in self.denied if each.promise != verdict.promise] + [verdict]


def _keys(broker: Broker) -> Keys:
    found: dict[tuple[str, int], dict[int, bytes]] = {}
    for topic in broker.logs:
        for log in topic.log.partitions:
            keys = found[topic.name, log.partition] = {}
            offset = log.start_offset
            while part := log.read(offset, max_messages=_READ_AT_ONCE):
                keys.update((message.offset, message.key) for message in part if message.key is not None)
                offset = part[-1].offset + 1
    return found
