"""The few sentences that matter, each computed from the tables, each pointing to its section and "
"its moment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from spark_reports.page import text

Row = Mapping[str, Any]
Rows = Sequence[Row]

BAD, WARN, INFO, GOOD = "bad", "warn", "info", "good"
_ORDER = (BAD, WARN, INFO, GOOD)

UNEVEN = 1.5  # a partition with this many times its fair share is worth a sentence
BLOCKED_SHARE = 0.01  # of the session


class Finding(NamedTuple):
    """`level` is bad, warn, info or good; `section` the id of the section that shows it; `time_ns` "
    "its moment, if it has one."""

    level: str
    headline: str
    detail: str
    section: str
    time_ns: int | None = None


_SCHEMA = pa.schema(
    [(name, pa.string()) for name in ("level", "headline", "detail", "section")] + [("time_ns", pa.int64())]
)


def find(tables: Mapping[str, Rows], duration_ns: int) -> list[Finding]:
    """The findings, worst first."""
    found = [
        *_reconciliation(tables["reconciliation"]),
        *_audit(tables["audit"]),
        *_dead_letters(tables["dead_letters"]),
        *_rebalance(tables["rebalances"]),
        *_lag(tables["lag_series"]),
        *_blocked(tables["backpressure"], duration_ns),
        *_refused(tables["backpressure_series"]),
        *_skew(tables["partitions"], tables["hot_keys"]),
        *_redelivered(tables["redeliveries"]),
        *_latency(tables["latency"], tables["latency_by_group"]),
    ]
    return sorted(found, key=lambda finding: _ORDER.index(finding.level))


def findings_table(tables: Mapping[str, pa.Table], duration_ns: int) -> pa.Table:
    """The findings as a table of the report, with the columns of `Finding`."""
    found = find({name: table.to_pylist() for name, table in tables.items()}, duration_ns)
    return pa.Table.from_pylist([finding._asdict() for finding in found], _SCHEMA)


def _reconciliation(rows: Rows) -> Iterator[Finding]:
    wrong = [row for row in rows if not row["equal"]]
    if wrong:
        parts = [f"{row['name']} {row['recorded']:,} instead of {row['summary']:,}" for row in wrong]
        yield Finding(
            BAD,
            f"{len(wrong)} of {len(rows)} totals differ from what the broker counted",
            f"The recording has {text.listed(parts)}.",
            "reconciliation",
        )
    elif rows:
        yield Finding(
            GOOD,
            "Everything adds up",
            f"All {len(rows)} totals of the recording equal the broker's own, to the message.",
            "reconciliation",
        )
    else:
        yield Finding(
            WARN,
            "Nothing to compare the totals with",
            "The run left no summary, so nobody can say whether the recording is whole.",
            "reconciliation",
        )


def _audit(rows: Rows) -> Iterator[Finding]:
    for row in rows:
        if not row["ok"]:
            where = f"{row['topic']}/{row['partition']} near offset {row['near_offset']}"
            group = f" in {row['group']}" if row["group"] else ""
            messages = text.plural(row["messages"] - row["explained"], "message")
            yield Finding(BAD, f"{messages} {row['check']}", f"The first is {where}{group}.", "audit")


def _dead_letters(rows: Rows) -> Iterator[Finding]:
    total = sum(row["dead_lettered"] for row in rows)
    if not total:
        return
    worst = rows[0]
    redriven = sum(row["redriven"] for row in rows)
    share = text.share(worst["dead_lettered"] / total)
    sentence = f"Most often: {worst['cause'] or 'no cause given'} ({share}, in {worst['group']})."
    if redriven:
        sentence += f" {text.plural(redriven, 'was', 'were')} redriven."
    headline = f"{text.plural(total, 'message')} ended in the dead letters"
    yield Finding(WARN, headline, sentence, "dead-letters", worst["first_ns"])


def _rebalance(rows: Rows) -> Iterator[Finding]:
    disturbing = [row for row in rows if row["stopped"] or not row["finished"]]
    if not disturbing:
        return
    longest = max(disturbing, key=lambda row: row["pause_ns"])
    pause = text.duration(longest["pause_ns"])
    who = f"{longest['stopped']} of {longest['partitions']} partitions of {longest['group']}"
    if longest["finished"]:
        headline = f"A rebalance stopped {who} for {pause}"
        outcome = f"{longest['moved']} moved, {longest['kept']} stayed with their owner."
    else:
        headline = f"A rebalance of {longest['group']} was still going on at the end, after {pause}"
        outcome = "It never completed."
    detail = (
        f"At {text.clock(longest['started_ns'])}, because {longest['cause'] or 'of a cause nobody gave'}. {outcome}"
    )
    yield Finding(WARN, headline, detail, "rebalances", longest["started_ns"])


def _lag(rows: Rows) -> Iterator[Finding]:
    behind = [row for row in rows if row["max_lag"]]
    if not behind:
        return
    worst = max(behind, key=lambda row: row["max_lag"])
    headline = (
        f"{worst['group']} fell {text.plural(worst['max_lag'], 'message')} behind on "
        f"{worst['topic']}/{worst['partition']}"
    )
    left = sum(row["last_lag"] or 0 for row in rows if row["group"] == worst["group"])
    end = f"At the end the group was {text.plural(left, 'message')} behind." if left else "It had caught up by the end."
    detail = f"The worst was at {text.clock(worst['max_lag_ns'])}. {end}"
    yield Finding(INFO, headline, detail, "lag", worst["max_lag_ns"])


def _blocked(rows: Rows, duration_ns: int) -> Iterator[Finding]:
    waits: dict[tuple[str, str], int] = {}
    for row in rows:
        waits[row["client"], row["topic"]] = waits.get((row["client"], row["topic"]), 0) + row["blocked_ns"]
    if not waits:
        return
    (client, topic), blocked_ns = max(waits.items(), key=lambda item: item[1])
    share = blocked_ns / max(duration_ns, 1)
    longest = max(
        (row for row in rows if (row["client"], row["topic"]) == (client, topic)), key=lambda row: row["blocked_ns"]
    )
    detail = f"The longest wait was {text.duration(longest['blocked_ns'])} at {text.clock(longest['from_ns'])}"
    detail += f": {longest['cause']}." if longest["cause"] else "."
    yield Finding(
        WARN if share >= BLOCKED_SHARE else INFO,
        f"{client} was blocked for {text.duration(blocked_ns)} on {topic}, {text.share(share)} of the session",
        detail,
        "backpressure",
        longest["from_ns"],
    )


def _refused(rows: Rows) -> Iterator[Finding]:
    kinds = {"rejected": "refused", "dropped": "dropped", "evicted": "evicted", "expired": "expired"}
    losses = {word: sum(row[kind] for row in rows) for kind, word in kinds.items()}
    total = sum(losses.values())
    if total:
        topics = sorted({row["topic"] for row in rows if any(row[kind] for kind in kinds)})
        parts = [f"{lost:,} {word}" for word, lost in losses.items() if lost]
        yield Finding(
            WARN,
            f"{text.plural(total, 'message was', 'messages were')} turned away or discarded",
            f"{text.listed(parts, 4)}, on {text.listed(topics)}.",
            "backpressure",
        )


def _skew(partitions: Rows, keys: Rows) -> Iterator[Finding]:
    if not partitions:
        return
    hottest = max(partitions, key=lambda row: row["times_even"])
    if hottest["times_even"] < UNEVEN:
        return
    headline = (
        f"Partition {hottest['partition']} of {hottest['topic']} carried {text.share(hottest['share'])} of its messages"
    )
    detail = f"That is {hottest['times_even']:.1f} times its fair share."
    here = [row for row in keys if (row["topic"], row["partition"]) == (hottest["topic"], hottest["partition"])]
    if here:
        detail += f" The key {here[0]['key']} alone is {text.share(here[0]['share_of_partition'])} of the partition."
    yield Finding(INFO, headline, detail, "keys")


def _redelivered(rows: Rows) -> Iterator[Finding]:
    delivered = sum(row["delivered"] for row in rows)
    again = sum(row["delivered"] for row in rows if row["attempt"] > 1)
    if again:
        repeats = text.plural(again, "delivery was a repeat", "deliveries were repeats")
        most = max(row["attempt"] for row in rows if row["delivered"])
        groups = sorted({row["group"] for row in rows if row["attempt"] > 1 and row["delivered"]})
        yield Finding(
            INFO,
            f"{repeats}, {text.share(again / delivered)} of all",
            f"Up to attempt {most}, in {text.listed(groups)}.",
            "redeliveries",
        )


def _latency(rows: Rows, groups: Rows) -> Iterator[Finding]:
    whole = next((row for row in rows if row["measure"] == "delivered"), None)
    if whole is None:
        return
    half = f"within {text.duration(whole['p50_ns'])}" if whole["p50_ns"] else "at once"
    headline = f"Half of the messages were delivered {half}, 99{text.NBSP}% within {text.duration(whole['p99_ns'])}"
    slowest = max((row for row in groups if row["measure"] == "delivered"), key=lambda row: row["p99_ns"])
    detail = f"Slowest is {slowest['group']} on {slowest['topic']}: p99 {text.duration(slowest['p99_ns'])}."
    yield Finding(INFO, headline, detail, "latency")
