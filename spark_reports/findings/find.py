"""The few sentences that matter, each computed from the tables, each pointing to its section and its moment."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import pyarrow as pa

from spark_reports.findings import backlog, changes, load, messages, readers, recording, waits
from spark_reports.findings.evidence import Evidence
from spark_reports.findings.finding import Finding, by_harm
from spark_reports.findings.remedies import remedy_of
from spark_reports.findings.settings import Settings
from spark_reports.page.text import bare
from spark_reports.parts import EVERY
from spark_reports.rows import Tables
from spark_reports.scale import Scale

_SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in ("level", "headline", "detail", "section")),
        ("time_ns", pa.int64()),
        *((name, pa.string()) for name in ("kind", "why", "harm")),
        ("harm_s", pa.float64()),
        *((name, pa.string()) for name in ("advice", "setting", "kafka", "rabbitmq", "sqs", "scenario")),
    ]
)


_FINDERS = (
    recording.reconciled, recording.recorded, recording.audited,
    messages.deleted, messages.dead, messages.retried, messages.expired, messages.refused_by_schema,
    messages.turned_away, messages.repeated,
    load.blocked, load.uneven, load.unreached,
)  # fmt: skip
#: What takes time to be seen.
_OVER_TIME = (
    waits.unread, backlog.behind, waits.held_up,
    readers.held_back, readers.too_many, readers.did_nothing, readers.overloaded, readers.hands_free,
)  # fmt: skip
_CHANGES = (changes.alerted, changes.disturbed, changes.stopped, waits.late, waits.replayed)


def find(
    made: Tables,
    scale: Scale,
    *,
    whole: bool = True,
    parts: Collection[str] = EVERY,
    settings: Settings | None = None,
) -> list[Finding]:
    """The findings of `parts` by harm, from their tables. `whole` is False for a part of a session, which has no totals
    to compare with. If events are missing, or no time passes, nobody is called idle.
    """
    evidence = Evidence(made, scale, settings or Settings(), whole=whole)
    finders = (*_FINDERS, *(() if scale.is_moment else _OVER_TIME), *_CHANGES)
    found = [finding for finder in finders for finding in finder(evidence)]
    return by_harm([finding for finding in found if finding.section in parts])


def findings_table(found: Sequence[Finding]) -> pa.Table:
    """The findings as a table of the report, each with its remedy."""
    rows = []
    for one in found:
        row = one._asdict() | {"harm": one.harm.words(), "harm_s": one.harm.weight_s}
        if remedy := remedy_of(one):
            row |= remedy._asdict() | {"setting": remedy.here}
        rows.append({name: bare(value) if isinstance(value, str) else value for name, value in row.items()})
    return pa.Table.from_pylist(rows, _SCHEMA)
