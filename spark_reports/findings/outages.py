"""Findings about partitions without a reader."""

from __future__ import annotations

from collections.abc import Iterator

from spark_reports.findings.finding import WARN, Finding, Harm, Row, Rows
from spark_reports.page import text

_STRUCK = {"crash": "{owner} had crashed", "pause": "{owner} stood still", "silence": "{owner} was not heard of"}


def unread(rebalances: Rows, unserved: Rows) -> Iterator[Finding]:
    """The outage with the most waiting: its partitions, their time without a reader, and the messages of that time.

    It is no measure of the rebalance: a long one may stop no reader, a short one may begin late.
    """
    outages: dict[tuple[str, int], list[Row]] = {}
    for row in unserved:
        outages.setdefault((row["group"], row["started_ns"]), []).append(row)
    if outages:
        yield _outage(max(outages.values(), key=_waited), rebalances)
    for row in rebalances:
        if not row["finished"]:
            yield Finding(
                WARN,
                f"A rebalance of {row['group']} was still going on at the end, after {text.duration(row['pause_ns'])}",
                f"It began at {text.clock(row['started_ns'])}{_because(row)}. It never completed.",
                "rebalances",
                row["started_ns"],
                "rebalance",
            )
            return


def _waited(rows: list[Row]) -> tuple[float, int]:
    """Message-seconds, each half of the outage on average; then the time of the partitions."""
    waited = sum(row["published"] * row["pause_ns"] / 2e9 for row in rows)
    return waited, sum(row["pause_ns"] for row in rows)


def _outage(rows: list[Row], rebalances: Rows) -> Finding:
    longest = max(rows, key=lambda row: row["pause_ns"])
    group, started_ns = longest["group"], longest["started_ns"]
    of = next((row for row in rebalances if (row["group"], row["started_ns"]) == (group, started_ns)), None)
    arrived = sum(row["published"] for row in rows)
    # The headline is true of each partition that it counts: those that went unread for about as long.
    long = [row for row in rows if row["pause_ns"] * 2 >= longest["pause_ns"]]
    short = [row for row in rows if row["pause_ns"] * 2 < longest["pause_ns"]]
    many = f"{len(long)} of {of['partitions']}" if of else f"{len(long)}"
    least, most = (text.duration(pick(row["pause_ns"] for row in long)) for pick in (min, max))
    headline = f"Nobody read {many} partitions of {group} for {most if least == most else f'{least} to {most}'}"
    if all(row["owner_after"] is None for row in long):
        headline += ", until the end"
    begins = "From" if least == most else "The longest from"
    detail = f"{begins} {text.clock(longest['from_ns'])} to {text.clock(longest['to_ns'])}."
    if short:
        shorter = text.duration(max(row["pause_ns"] for row in short))
        detail += f" {len(short)} more went unread for {shorter} at most."
    if arrived:
        detail += f" {text.plural(arrived, 'message')} arrived meanwhile and waited."
    if of is not None:
        detail += f" {of['moved']} moved, {of['kept']} stayed with their owner."
    cause = longest["cause"] or ""
    why = f"The group rebalanced at {text.clock(started_ns)}{_because(of) if of else ''}."
    if cause in _STRUCK:
        before = _STRUCK[cause].format(owner=longest["owner_before"])
        noticed_ns = max(0, started_ns - longest["from_ns"])
        why = f"{before}, and the group noticed {text.duration(noticed_ns)} later. {why}"
    waited_s, _ = _waited(rows)
    return Finding(
        WARN,
        headline,
        detail,
        "rebalances",
        longest["from_ns"],
        "outage" if cause in _STRUCK else "rebalance",
        why,
        harm=Harm(delayed=arrived, delayed_s=waited_s / arrived if arrived else 0.0),
    )


def _because(row: Row) -> str:
    return f", because {row['cause']}" if row["cause"] else ""
