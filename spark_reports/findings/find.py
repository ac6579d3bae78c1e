"""The few sentences that matter, each computed from the tables, each pointing to its section and its moment."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import pyarrow as pa

from spark_reports.findings import behind, changes, load, messages, recording, waits
from spark_reports.findings.evidence import Evidence
from spark_reports.findings.finding import LOST, Finding, by_harm
from spark_reports.findings.remedies import remedy_of
from spark_reports.findings.scenario import ScenarioSettings
from spark_reports.request.parts import EVERY
from spark_reports.rows import Tables
from spark_reports.scale import Scale
from spark_reports.text import bare

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
    recording.reconciled,
    recording.recorded,
    recording.audited,
    messages.deleted,
    messages.dead,
    messages.retried,
    messages.expired,
    messages.refused_by_schema,
    messages.turned_away,
    messages.repeated,
    load.blocked,
)
#: What takes time to be seen.
_OVER_TIME = (behind.behind, behind.did_nothing, waits.unfinished, waits.held_up)
_CHANGES = (changes.broken_cluster, changes.alerted, changes.stopped, waits.late, waits.replayed)


def find(
    made: Tables, scale: Scale, *, whole: bool = True, parts: Collection[str] = EVERY, scenario: str = ""
) -> list[Finding]:
    """The findings of `parts` by harm, from their tables and the text of the `scenario`. `whole` is False for a part of
    a session, which has no totals to compare with. If events are missing, or no time passes, nobody is called idle.
    """
    evidence = Evidence(made, scale, ScenarioSettings(scenario), whole=whole)
    finders = (*_FINDERS, *(() if scale.is_moment else _OVER_TIME), *_CHANGES)
    found = [finding for finder in finders for finding in finder(evidence) if finding.section in parts]
    # What others name with its cause is not told once more.
    named = sum(one.harm.lost for one in found if one.kind != LOST)
    return by_harm([one for one in found if one.kind != LOST or one.harm.lost > named])


def findings_table(found: Sequence[Finding]) -> pa.Table:
    """The findings as a table of the report, each with its remedy."""
    rows = []
    for one in found:
        row = one._asdict() | {"harm": one.harm.words(), "harm_s": one.harm.weight_s}
        if remedy := remedy_of(one):
            row |= remedy._asdict() | {"setting": remedy.here}
        rows.append({name: bare(value) if isinstance(value, str) else value for name, value in row.items()})
    return pa.Table.from_pylist(rows, _SCHEMA)
