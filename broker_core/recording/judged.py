"""A history is judged: its events are read into the account, the order of keys and the checker.

Window, command line and test kit show what is found here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from broker_core.clock import ns_from_s, s_from_ns
from broker_core.errors import BrokerError, ErrorCode
from broker_core.events import Event
from broker_core.recording.account import Account
from broker_core.recording.checker import Checker
from broker_core.recording.keyframes import Keyframes
from broker_core.recording.reader import open_session
from broker_core.recording.verdicts import Order, as_json
from broker_core.recording.violation import Violation
from broker_core.snapshots import Snapshot

LOOK_EVERY = 5_000  # events


@dataclass
class Judged:
    account: Account
    order: Order
    problems: tuple[str, ...] = ()  # of the recording: then nothing is judged
    violations: list[Violation] = field(default_factory=list)  # of a place the first: it may cause others
    miscounted: list[str] = field(default_factory=list)  # what the broker counts otherwise
    checked: bool = True  # to the last event

    @property
    def broken(self) -> str:
        """The first guarantee that the broker has broken, "" if none: the account tells of what readers passed over."""
        return next((str(each).splitlines()[0] for each in self.violations if not each.is_loss), "")


def judge(
    events: Iterable[Event],
    sink: Account | Checker,
    order: Order | None = None,
    *,
    problems: Iterable[str] = (),
    most_checked: int | None = None,
    look: Callable[[int], object] = lambda _done: None,
) -> Judged:
    """Give all `events` to an account, or to a checker with its account, and to `order`.

    The memory of a checker grows: it gets `most_checked` events, and its account those behind them. `look(done)` is
    called now and then.
    """
    account = sink if isinstance(sink, Account) else sink.account
    found = Judged(account, order or Order(), tuple(problems))
    places = set()
    for event in events:
        if account.events % LOOK_EVERY == 0:
            look(account.events)
        if account.events == most_checked and sink is not account:
            sink, found.checked = account, False
        found.order(event)
        try:
            sink(event)
        except Violation as violation:
            place = (event.group, event.topic, event.partition)
            if place not in places:
                places.add(place)
                found.violations.append(violation)
    return found


def miscounted(account: Account, snapshot: Snapshot) -> list[str]:
    """A sentence for each queue of which the broker has counted other messages than its events tell."""
    queues = {queue.name: queue.messages_count for queue in snapshot.queues}
    return [
        f"{row.reader} has {queues[row.reader]:,} messages, and its events tell of {row.open:,}"
        for row in account.rows()
        if row.reader in queues and queues[row.reader] != row.open
    ]


def check_moment(option: str, at_s: float | None, end_ns: int | None) -> None:
    """Raises INVALID_REQUEST if a session that ended at `end_ns` had ended before the moment that `option` names."""
    if at_s is not None and end_ns is not None and ns_from_s(at_s) > end_ns:
        about = f"{option} {at_s:g} is after the end of the session, which lasts {s_from_ns(end_ns):.1f} s"
        raise BrokerError(ErrorCode.INVALID_REQUEST, about)


def audited(folder: Path, at_s: float | None = None) -> tuple[dict[str, Any], bool]:
    """The account of a session as JSON, and whether anything is judged of it. Raises as `open_session`, and
    INVALID_REQUEST if the session had ended before `at_s`.
    """
    session = open_session(folder)
    to_ns = None if at_s is None else ns_from_s(at_s)
    check_moment("--at", at_s, session.metadata.duration_ns)
    unknown, before = list(session.problems), None
    if not session.metadata.knows("beginning"):
        before = Keyframes(folder).before_event(0)
        unknown.append("The recording began while the broker was at work: what was done before is not known.")
    found = judge(session.index.events(0, to_ns=to_ns), Account(before))
    is_judged = not session.lacks_events
    return as_json(found.account, found.order, unknown, judged=is_judged), is_judged
