from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from app.sessions.work import Work
from broker_core.events import Event
from broker_core.recording.accounts import Account, Accounts
from broker_core.recording.checker import Checker
from broker_core.recording.violation import Violation
from broker_core.simulation.scenario import Scenario
from broker_core.snapshots import Snapshot
from widgets.dialogs.facts_table import FactsTable
from widgets.i18n import localized, tr

CHECKED_EVENTS = 2_000_000  # beyond, the checker's memory would outgrow the machine's
REPORT_EVERY = 5_000


@dataclass
class Audit:
    """`sums` by topic or queue and reader; `broken` the promise that the history breaks, "" if it breaks none."""

    accounts: list[Account] = field(default_factory=list)
    broken: str = ""
    events: int = 0
    checked: bool = True

    @property
    def missing(self) -> int:
        return sum(abs(account.missing) for account in self.accounts)


def audit(
    events: Iterable[Event], snapshot: Snapshot, scenario: Scenario, work: Work, *, unseen_seeks: bool = False
) -> Audit:
    """Count `events`, the first `snapshot.events` of the session, and compare with `snapshot`; check the history.

    With `unseen_seeks`, clients of other programs took part: what they have committed unread they have skipped.
    """
    found = Audit()
    checker: Checker | None = Checker.of(scenario, unseen_seeks=unseen_seeks)
    accounts = Accounts(unseen_seeks=unseen_seeks)
    for event in events:
        found.events += 1
        if found.events % REPORT_EVERY == 0:
            work.report(
                found.events / max(1, snapshot.events),
                tr("{done:,} of {whole:,} events", done=found.events, whole=snapshot.events),
            )
        if checker is not None and not found.broken:
            try:
                checker(event)
            except Violation as violation:
                if not (unseen_seeks and violation.is_loss):  # the accounts tell what was skipped
                    found.broken = str(violation).splitlines()[0]
                    checker = None
        if found.events > CHECKED_EVENTS and checker is not None:
            checker, found.checked = None, False
        accounts(event)
    compacted = {topic.name for topic in scenario.topics if topic.log and "compact" in str(topic.log.cleanup)}
    found.accounts = accounts.compared(snapshot, compacted)
    return found


def table_of(found: Audit) -> FactsTable:
    published = sum({account.source: account.published for account in found.accounts}.values())
    if found.missing:
        sentence = tr(
            "{count} messages are missing: nothing in the recording explains where they are.",
            count=f"{found.missing:,}",
        )
    elif found.broken:
        sentence = tr("Every message is accounted for, but a guarantee was broken: {promise}", promise=found.broken)
    else:
        sentence = tr(
            "Nothing was lost: all {count} messages are accounted for, for every reader.",
            count=f"{published:,}",
        )
    history = (
        tr("The history checker found no broken guarantee in {count} events.", count=f"{found.events:,}")
        if found.checked and not found.broken
        else tr(
            "The history checker stopped after {count} events; the totals include all of them.",
            count=f"{CHECKED_EVENTS:,}",
        )
        if not found.checked
        else ""
    )
    note = tr(
        "If a consumer acknowledges a message before it has finished with it, the broker counts the message as done."
    )
    return FactsTable(
        sentence,
        (
            tr("Topic or queue"),
            tr("Reader"),
            tr("Published"),
            tr("Redriven"),
            tr("Read or acknowledged"),
            tr("Waiting"),
            tr("In flight"),
            tr("Dead-lettered"),
            tr("Taken out or deleted"),
            tr("Skipped by reset or seek"),
            tr("Aborted"),
            tr("Missing"),
        ),
        tuple(
            (
                account.source,
                account.reader or tr("queue"),
                *(localized(f"{figure:,}") for figure in (*account[2:], account.missing)),
            )
            for account in found.accounts
        ),
        strong=frozenset(row for row, account in enumerate(found.accounts) if account.missing),
        numeric=frozenset(range(2, 12)),
        note=f"{history} {note}".strip(),
        state="failure" if found.missing or found.broken else "stable",
    )
