"""The few sentences that matter, each computed from the tables, each pointing to its section and its moment."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

import pyarrow as pa

from spark_reports.findings import backlog, changes, latency, load, messages, outages, readers, recording, transactions
from spark_reports.findings.finding import Finding, Rows, by_harm
from spark_reports.findings.hot_key import hot_key
from spark_reports.findings.remedies import remedy_of
from spark_reports.findings.settings import Settings
from spark_reports.findings.use import Use
from spark_reports.page.text import bare
from spark_reports.parts import EVERY
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


def find(
    made: Mapping[str, Rows],
    scale: Scale,
    *,
    whole: bool = True,
    parts: Collection[str] = EVERY,
    settings: Settings | None = None,
) -> list[Finding]:
    """The findings of `parts` by harm, from their tables. `whole` is False for a part of a session, which has no totals
    to compare with. If events are missing, or no time passes, nobody is called idle.
    """
    tables = defaultdict[str, Rows](tuple, made)
    known = settings or Settings()
    busy = (tables["consumers"], tables["consumers_over_time"])
    use = Use(*busy, tables["ownership"], tables["redeliveries"], scale, told="consumers" in made)
    queues = {row["queue"] for row in tables["queues"]}
    found = [
        *(recording.reconciled(tables["reconciliation"]) if whole else ()),
        *recording.recorded(tables["recording"]),
        *recording.audited(tables["audit"], tables["audit_list"]),
        *messages.deleted(tables["deleted_unread"]),
        *messages.dead(tables["dead_letters"], tables["dead_letter_keys"], tables["redeliveries"]),
        *messages.retried(tables["redeliveries"], tables["leases"], known),
        *messages.expired(tables["leases"], tables["effects"], known),
        *messages.refused_by_schema(tables["refusals"]),
        *messages.turned_away(tables["backpressure_series"], tables["blockers"], use),
        *messages.repeated(tables["redeliveries"]),
        *load.blocked(tables["backpressure"], tables["blockers"], use, scale),
        *load.uneven([row for row in tables["partitions"] if row["topic"] not in queues], tables["hot_keys"]),
        *load.unreached(tables["throughput_series"], tables["blockers"], known),
        *(() if scale.is_moment else _over_time(tables, scale, known, use)),
        *changes.alerted(tables["markers"]),
        *changes.disturbed(tables["effects"], tables["throughput"], tables["redeliveries"], scale),
        *changes.stopped(tables["effects"], tables["throughput"], scale),
        *latency.late(tables["latency"], tables["latency_by_group"]),
        *latency.replayed(tables["latency"], tables["latency_by_group"], tables["latency_over_time"]),
    ]
    return by_harm([finding for finding in found if finding.section in parts])


def _over_time(tables: Mapping[str, Rows], scale: Scale, settings: Settings, use: Use) -> list[Finding]:
    """What takes time to be seen."""
    consumers, lag_series, ownership = tables["consumers"], tables["lag_series"], tables["ownership"]
    hot = hot_key(tables["partitions"], tables["hot_keys"], lag_series, ownership)
    missing = any(row["missing"] for row in tables["recording"])
    waiting = backlog.totals(tables["queues"], tables["lag"], scale)
    crowded = list(readers.too_many(consumers, lag_series, use, hot, scale))
    told = frozenset(row["client"] for row in consumers if crowded and row["group"] and row["with_partitions_ns"] == 0)
    return [
        *outages.unread(tables["rebalances"], tables["unserved"], tables["markers"]),
        *backlog.behind(
            waiting,
            lag_series,
            use,
            tables["throughput"],
            tables["markers"],
            tables["unserved"],
            tables["stable_waits"],
            hot,
            scale,
        ),
        *transactions.held_up(tables["stable_waits"]),
        *readers.held_back(consumers, use, ownership, lag_series, tables["partitions"], scale),
        *crowded,
        *(() if missing else readers.did_nothing(consumers, told, hot, scale)),
        *readers.overloaded(consumers, use, hot, scale),
        *readers.hands_free(consumers, tables["redeliveries"], waiting, settings, scale),
    ]


def findings_table(found: Sequence[Finding]) -> pa.Table:
    """The findings as a table of the report, each with its remedy."""
    rows = (
        {name: bare(value) if isinstance(value, str) else value for name, value in _row(one).items()} for one in found
    )
    return pa.Table.from_pylist(list(rows), _SCHEMA)


def _row(finding: Finding) -> dict[str, object]:
    remedy = remedy_of(finding)
    told = finding._asdict() | {"harm": finding.harm.words(), "harm_s": finding.harm.weight_s}
    if remedy is None:
        return told
    return told | {
        "advice": remedy.advice,
        "setting": remedy.here,
        **{name: getattr(remedy, name) for name in ("kafka", "rabbitmq", "sqs", "scenario")},
    }
