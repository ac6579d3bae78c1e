"""Was anything lost? The account of a session as a table, with what its history breaks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from app.sessions.jobs import Work
from broker_core.events import Event
from broker_core.recording.account import Account, Row
from broker_core.recording.checker import Checker
from broker_core.recording.judged import Judged, judge, miscounted
from broker_core.recording.verdicts import Finding, answer, findings, is_judged, not_known
from broker_core.simulation.scenario import Scenario
from broker_core.snapshots import Snapshot
from resources.account import STATES, VerdictName
from widgets.dialogs.facts_table import FactsTable
from widgets.formats import sentence
from widgets.i18n import localized, tr

CHECKED_EVENTS = 2_000_000  # beyond, the checker's memory would outgrow the machine's
MOST_TOLD = 4  # of what makes a verdict false
ALWAYS = ("waiting", "in_hand", "acknowledged", "dead_lettered")


def audit(
    events: Iterable[Event],
    snapshot: Snapshot,
    scenario: Scenario,
    work: Work,
    *,
    unseen_seeks: bool = False,
    problems: Sequence[str] = (),
) -> Judged:
    """The audit of `events`, which are the first `snapshot.events` of the session.

    With `unseen_seeks`, clients of other programs took part. `problems` say what is missing of the recording.
    """

    def look(done: int) -> None:
        words = tr("{done:,} of {whole:,} events", done=done, whole=snapshot.events)
        work.report(done / max(1, snapshot.events), words)

    sink = Account() if problems else Checker.of(scenario, unseen_seeks=unseen_seeks)
    found = judge(events, sink, problems=problems, most_checked=CHECKED_EVENTS, look=look)
    found.miscounted = miscounted(found.account, snapshot)
    return found


def table_of(found: Judged) -> FactsTable:
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
    titles = [tr("Published"), *([tr("Redriven")] if any(row.redriven for row in rows) else [])]
    headers = (tr("Topic or queue"), tr("Reader"), *titles, *(tr(STATES[name].title) for name in shown))
    return FactsTable(
        told,
        (*headers, tr("Lost")),
        tuple(_cells(row, shown, len(titles)) for row in rows),
        strong=frozenset(number for number, row in enumerate(rows) if row.lost),
        numeric=frozenset(range(2, len(headers) + 1)),
        note="\n".join(_notes(found, {} if found.problems else verdicts)),
        state="failure" if found.problems or broken or verdicts["nothing_lost"] else "stable",
    )


def _cells(row: Row, shown: Iterable[str], came: int) -> tuple[str, ...]:
    figures = (*(row.published, row.redriven)[:came], *(row.counts[name] for name in shown), row.lost)
    return (row.source, row.reader or tr("nobody"), *(localized(f"{figure:,}") for figure in figures))


def _notes(found: Judged, verdicts: dict[VerdictName, list[Finding]]) -> Iterator[str]:
    for name, because in verdicts.items():
        if is_judged(name, found.order):
            yield sentence(answer(name, because).translated(tr))
        yield from (f"- {each.sentence.translated(tr)}" for each in because[:MOST_TOLD])
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
