from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from PySide6.QtCore import QObject

from app.commands.context import CommandContext, Handlers
from app.commands.jobs import Job
from app.sessions.queries import Work
from broker_core.events import Event
from broker_core.recording.account import Account, Row
from broker_core.recording.checker import Checker
from broker_core.recording.event_index import EventIndex
from broker_core.recording.verdicts import Finding, Order, findings, not_known
from broker_core.recording.violation import Violation
from broker_core.simulation.scenario import Scenario
from broker_core.snapshots import Snapshot
from resources.account import STATES, VERDICTS, VerdictName
from widgets.dialogs.facts_table import FactsTable, FactsTableDialog
from widgets.formats import sentence
from widgets.i18n import localized, tr


class AuditHandlers(Handlers):
    def __init__(self, context: CommandContext) -> None:
        super().__init__(context)
        context.registry.bind("audit", self._ask, self._why_not)

    def _why_not(self) -> str:
        if self._controller.source.scenario is None:
            return tr("No session is open.")
        if not self._controller.source.knows("beginning"):
            return tr("This session began in the middle: what was published before is not known.")
        if self._controller.source.folder is None and self._controller.collectors.events.first_seq > 0:
            return tr("This session is not recorded, and its first events are no longer in memory.")
        return ""

    def _ask(self) -> None:
        snapshot, scenario = self._controller.snapshot, self._controller.source.scenario
        assert scenario is not None
        events, source = self._events(snapshot.events), self._controller.source
        more: dict[str, Any] = {"unseen_seeks": source.outside_clients, "problems": source.missing_events}
        work_out(
            self._context,
            tr("Was anything lost?"),
            tr("Checking every message..."),
            lambda work: table_of(audit(events(work), snapshot, scenario, work, **more)),
        )

    def _events(self, count: int) -> Callable[[Work], Iterable[Event]]:
        folder, ring, recorder = (
            self._controller.source.folder,
            self._controller.collectors.events,
            self._controller.recorder,
        )
        if folder is None:
            return lambda _work: ring.between(0, count)

        def read(_work: Work) -> Iterable[Event]:
            if recorder is not None:
                recorder.flush()
            return EventIndex(folder, None if recorder is None else recorder.unsealed).events(0, to_seq=count - 1)

        return read


def work_out(context: CommandContext, title: str, beginning: str, work: Callable[[Work], FactsTable]) -> None:
    """Do `work` as a job, showing its progress in a dialog and then its result. Closing the dialog does not cancel the
    job.
    """
    dialog = FactsTableDialog(title, beginning, context.window)
    job = context.jobs.work(title, work, lambda found: found.sentence)
    job.changed.connect(_Follower(job, dialog).follow)
    dialog.open()


class _Follower(QObject):
    """A child of the dialog: Qt ends the connection with whichever of job and dialog goes first."""

    def __init__(self, job: Job, dialog: FactsTableDialog) -> None:
        super().__init__(dialog)
        self._job, self._dialog = job, dialog

    def follow(self) -> None:
        told = self._job.facts
        if told.progress is not None:
            self._dialog.set_progress(told.progress)
        if told.state == "Done":
            self._dialog.set_facts(self._job.result)
        elif told.state in {"Failed", "Cancelled"}:
            self._dialog.set_facts(FactsTable(told.message, state="failure"))


CHECKED_EVENTS = 2_000_000  # beyond, the checker's memory would outgrow the machine's
REPORT_EVERY = 5_000
MOST_TOLD = 4  # of what makes a verdict false
ALWAYS = ("waiting", "in_hand", "acknowledged", "dead_lettered")


@dataclass
class Audit:
    """`broken` is the guarantee of the broker that the history breaks, "" if it breaks none."""

    account: Account
    order: Order = field(default_factory=Order)
    miscounted: list[str] = field(default_factory=list)
    broken: str = ""
    checked: bool = True
    problems: tuple[str, ...] = ()  # of the recording: then nothing is judged


def audit(
    events: Iterable[Event],
    snapshot: Snapshot,
    scenario: Scenario,
    work: Work,
    *,
    unseen_seeks: bool = False,
    problems: Iterable[str] = (),
) -> Audit:
    """The account of `events`, the first `snapshot.events` of the session; the history is checked.

    With `unseen_seeks`, clients of other programs took part. `problems` say what is missing of the recording.
    """
    checker = Checker.of(scenario, unseen_seeks=unseen_seeks)
    found = Audit(checker.account, problems=tuple(problems))
    judging = not found.problems
    for event in events:
        found.order(event)
        done = found.account.events
        if done % REPORT_EVERY == 0:
            words = tr("{done:,} of {whole:,} events", done=done, whole=snapshot.events)
            work.report(done / max(1, snapshot.events), words)
        if judging and done >= CHECKED_EVENTS:
            judging = found.checked = False
        try:
            (checker if judging else checker.account)(event)
        except Violation as violation:
            if not violation.is_loss:  # the account tells what was skipped
                found.broken, judging = str(violation).splitlines()[0], False
    found.miscounted = list(_miscounted(found.account, snapshot))
    return found


def _miscounted(account: Account, snapshot: Snapshot) -> Iterator[str]:
    queues = {queue.name: queue.ready + queue.delayed + queue.in_flight for queue in snapshot.queues}
    for row in account.rows():
        if row.reader in queues and queues[row.reader] != row.open:
            yield f"{row.reader} has {queues[row.reader]:,} messages, and its events tell of {row.open:,}"


def table_of(found: Audit) -> FactsTable:
    rows, verdicts = found.account.rows(), findings(found.account, found.order)
    broken = found.broken or next(iter(found.miscounted), "")
    if found.problems:
        told = tr("The recording is incomplete, so nothing is judged: {problem}", problem=found.problems[0])
    elif verdicts["nothing_lost"]:
        told = tr("{count} messages were lost.", count=f"{found.account.lost(rows):,}")
    elif broken:
        told = tr("Every message is accounted for, but a guarantee was broken: {promise}", promise=broken)
    else:
        told = tr(
            "Nothing was lost: all {count} messages are accounted for, for every reader.",
            count=f"{found.account.published:,}",
        )
    shown = [name for name in STATES if name in ALWAYS or any(row.counts[name] for row in rows)]
    headers = (tr("Topic or queue"), tr("Reader"), tr("Published"), *(tr(STATES[name].title) for name in shown))
    return FactsTable(
        told,
        (*headers, tr("Lost")),
        tuple(_cells(row, shown) for row in rows),
        strong=frozenset(number for number, row in enumerate(rows) if row.lost),
        numeric=frozenset(range(2, len(headers) + 1)),
        note="\n".join(_notes(found, {} if found.problems else verdicts)),
        state="failure" if found.problems or broken or verdicts["nothing_lost"] else "stable",
    )


def _cells(row: Row, shown: Iterable[str]) -> tuple[str, ...]:
    figures = (row.published, *(row.counts[name] for name in shown), row.lost)
    return (row.source, row.reader or tr("nobody"), *(localized(f"{figure:,}") for figure in figures))


def _notes(found: Audit, verdicts: dict[VerdictName, list[Finding]]) -> Iterator[str]:
    for name, because in verdicts.items():
        answer = tr("no") if because else tr("yes")
        told = ", ".join(["", *(each.sentence.translated(tr) for each in because[:MOST_TOLD])])
        yield sentence(f"{tr(VERDICTS[name].words)}: {answer}{told}")
    if not found.checked:
        yield tr(
            "The history checker stopped after {count} events; the totals include all of them.",
            count=f"{CHECKED_EVENTS:,}",
        )
    yield from found.problems[1:]
    yield from (each.translated(tr) for each in not_known(found.account, found.order))
    yield tr(
        "If a consumer acknowledges a message before it has finished with it, the broker counts the message as done."
    )
