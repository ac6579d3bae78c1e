from __future__ import annotations

from collections.abc import Iterator

from spark_reports import text
from spark_reports.findings.evidence import Evidence
from spark_reports.findings.finding import BAD, GOOD, LOST, WARN, Finding, Harm
from spark_reports.tables.audit import CHECKS


def reconciled(evidence: Evidence) -> Iterator[Finding]:
    if not evidence.whole:  # a part has no totals to compare with
        return
    rows = evidence.rows["reconciliation"]
    wrong = [row for row in rows if not row["equal"]]
    if wrong:
        parts = [f"{row['name'].replace('_', ' ')} {row['recorded']:,} instead of {row['summary']:,}" for row in wrong]
        yield Finding(
            BAD,
            f"{len(wrong)} of {len(rows)} totals differ from what the broker counted",
            f"The recording has {text.listed(parts)}.",
            "totals",
        )
    elif rows:
        yield Finding(
            GOOD,
            "The recording is whole: its totals are the broker's own",
            f"All {len(rows)} of them are equal, to the message. That says nothing of what happened to the messages.",
            "totals",
        )
    else:
        yield Finding(
            WARN,
            "Nothing to compare the totals with",
            "The run left no summary, so it is not known whether the recording is complete.",
            "totals",
        )


def recorded(evidence: Evidence) -> Iterator[Finding]:
    rows = evidence.rows["recording"]
    missing, doubled = (sum(row[name] for row in rows) for name in ("missing", "doubled"))
    if missing:
        first = next(row for row in rows if row["missing"])
        yield Finding(
            BAD,
            f"{text.plural(missing, 'event is', 'events are')} missing from the recording",
            f"{text.plural(len([row for row in rows if row['missing']]), 'gap', 'gaps')}; the first has "
            f"{text.plural(first['missing'], 'event')}, between {text.clock(first['from_ns'])} and "
            f"{text.clock(first['to_ns'])}.",
            "recording",
            first["from_ns"],
        )
    if doubled:
        first = next(row for row in rows if row["doubled"])
        yield Finding(
            BAD,
            f"{text.plural(doubled, 'event is', 'events are')} recorded twice",
            f"The first near number {first['first_seq']:,}, at {text.clock(first['from_ns'])}.",
            "recording",
            first["from_ns"],
        )


def audited(evidence: Evidence) -> Iterator[Finding]:
    for row in evidence.rows["audit"]:
        if not row["ok"]:
            yield Finding(
                BAD,
                f"{text.plural(row['messages'], 'message')} {row['check']}",
                f"{row['because']}.",
                "audit",
                kind=LOST if row["check"] == CHECKS["nothing_lost"] else "",
                harm=Harm(lost=row["messages"]) if row["check"] == CHECKS["nothing_lost"] else Harm(),
            )
