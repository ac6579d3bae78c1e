from __future__ import annotations

from collections.abc import Iterator

from spark_reports.findings.evidence import Evidence
from spark_reports.findings.finding import BAD, GOOD, WARN, Finding
from spark_reports.page import text


def reconciled(told: Evidence) -> Iterator[Finding]:
    if not told.whole:  # a part has no totals to compare with
        return
    rows = told.rows["reconciliation"]
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
            "Everything adds up",
            f"All {len(rows)} totals of the recording equal the broker's own, to the message.",
            "totals",
        )
    else:
        yield Finding(
            WARN,
            "Nothing to compare the totals with",
            "The run left no summary, so it is not known whether the recording is complete.",
            "totals",
        )


def recorded(told: Evidence) -> Iterator[Finding]:
    rows = told.rows["recording"]
    missing = sum(row["missing"] for row in rows)
    doubled = sum(row["doubled"] for row in rows)
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


def audited(told: Evidence) -> Iterator[Finding]:
    for row in told.rows["audit"]:
        if row["ok"]:
            continue
        named = next(
            (one for one in told.rows["audit_list"] if one["check"] == row["check"] and not one["explained"]), None
        )
        where = f"{text.place(row['topic'], row['partition'])} near offset {row['near_offset']}"
        group = f" in {row['group']}" if row["group"] else ""
        detail = f"The first is {where}{group}."
        if named is not None:
            group = f" in {named['group']}" if named["group"] else ""
            detail = f"The first is {text.place(named['topic'], named['partition'])} @{named['offset']}{group}"
            detail += f": {named['story']}." if named["story"] else "."
        yield Finding(
            BAD,
            f"{text.plural(row['messages'] - row['explained'], 'message')} {row['check']}",
            detail,
            "audit",
            None if named is None else named["happened_ns"],
        )
