from __future__ import annotations

from broker_core.clock import ns_from_ms
from broker_core.snapshots import Snapshot, TransactionView
from widgets.formats import duration, session_time
from widgets.i18n import tr
from widgets.navigator import ROWS_MAX, NavRow, NavSection
from widgets.panels.inspector import MOMENT, InspectorFacts

ONGOING = "Ongoing"


def transaction_section(snapshot: Snapshot) -> tuple[NavSection, ...]:
    """The oldest first, with how long each is open; no section if there is none."""
    rows = tuple(_row(each, snapshot.time_ns) for each in snapshot.transactions[:ROWS_MAX])
    more = len(snapshot.transactions) - len(rows)
    return (NavSection("transactions", tr("Transactions"), "clock", rows, "", more),) if rows else ()


def _row(found: TransactionView, now_ns: int) -> NavRow:
    open_for = tr("for {time}", time=duration(max(0, now_ns - found.started_ns)))
    tip = tr("{client}, aborted after {time}", client=found.client, time=duration(ns_from_ms(found.timeout_ms)))
    return NavRow(f"transaction:{found.transactional_id}", found.transactional_id, ONGOING, open_for, tip=tip)


def transaction_facts(snapshot: Snapshot, name: str) -> InspectorFacts | None:
    found = next((each for each in snapshot.transactions if each.transactional_id == name), None)
    if found is None:
        return None
    deadline_ns = found.started_ns + ns_from_ms(found.timeout_ms)
    length, since = duration(max(0, snapshot.time_ns - found.started_ns)), session_time(found.started_ns)
    rows = (
        (tr("Client"), found.client),
        (tr("Open"), tr("{time}, since {since}", time=length, since=since), f"{MOMENT}{found.started_ns}"),
        (tr("Aborted in"), duration(max(0, deadline_ns - snapshot.time_ns))),
        (tr("Producer id"), str(found.producer_id)),
        (tr("Epoch"), str(found.epoch)),
    )
    return InspectorFacts(tr("Transaction"), name, ONGOING, (("", rows),))
