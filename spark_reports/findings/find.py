"""The few sentences that matter, each computed from the tables, each pointing to its section and its moment."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping

import pyarrow as pa

from spark_reports.findings import delivery, flow
from spark_reports.findings.finding import ORDER, Finding, Rows
from spark_reports.parts import EVERY
from spark_reports.scale import Scale

_SCHEMA = pa.schema(
    [(name, pa.string()) for name in ("level", "headline", "detail", "section")] + [("time_ns", pa.int64())]
)


def find(
    made: Mapping[str, Rows], scale: Scale, *, whole: bool = True, parts: Collection[str] = EVERY
) -> list[Finding]:
    """The findings of `parts` of the report, worst first, from the tables that were made for them. `whole` is False
    where only some time of a session is looked at, which has no totals to compare with.

    Where events are missing nobody can say who did nothing; where no time passes, nobody is busy or idle.
    """
    tables = defaultdict[str, Rows](tuple, made)
    missing = any(row["missing"] for row in tables["recording"])
    found = [
        *(delivery.reconciled(tables["reconciliation"]) if whole else ()),
        *delivery.recorded(tables["recording"]),
        *delivery.audited(tables["audit"], tables["audit_list"]),
        *delivery.dead(tables["dead_letters"], tables["dead_letter_keys"]),
        *delivery.refused_by_schema(tables["refusals"]),
        *(() if scale.is_moment else flow.rebalanced(tables["rebalances"], tables["unserved"])),
        *flow.grew(tables["queues"], tables["lag"], scale),
        *flow.behind(tables["lag_series"], scale),
        *flow.blocked(tables["backpressure"], tables["blockers"], scale),
        *delivery.turned_away(tables["backpressure_series"], tables["blockers"]),
        *flow.uneven(tables["partitions"], tables["hot_keys"]),
        *(() if missing or scale.is_moment else flow.did_nothing(tables["consumers"], scale)),
        *(() if scale.is_moment else flow.overloaded(tables["consumers"])),
        *flow.disturbed(tables["effects"]),
        *delivery.repeated(tables["redeliveries"]),
        *flow.late(tables["latency"], tables["latency_by_group"]),
        *flow.replayed(tables["latency"], tables["latency_by_group"], tables["latency_over_time"]),
    ]
    told = [finding for finding in found if finding.section in parts]
    return sorted(told, key=lambda finding: ORDER.index(finding.level))


def findings_table(found: list[Finding]) -> pa.Table:
    """The findings as a table of the report, with the columns of `Finding`."""
    return pa.Table.from_pylist([finding._asdict() for finding in found], _SCHEMA)
