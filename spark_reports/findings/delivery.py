"""Findings about messages: whether all of them are there, and what became of them."""

from __future__ import annotations

from collections.abc import Iterator

from spark_reports.findings.finding import BAD, GOOD, INFO, WARN, Finding, Row, Rows
from spark_reports.page import text


def reconciled(rows: Rows) -> Iterator[Finding]:
    """Do the totals of the recording equal the broker's?"""
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
            "The run left no summary, so nobody can say whether the recording is whole.",
            "totals",
        )


def recorded(rows: Rows) -> Iterator[Finding]:
    """Are there events that nobody wrote down, or that were written twice?"""
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


def audited(rows: Rows, messages: Rows) -> Iterator[Finding]:
    """Which rules did messages break? The first of them is named."""
    for row in rows:
        if row["ok"]:
            continue
        named = next((one for one in messages if one["check"] == row["check"] and not one["explained"]), None)
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


def dead(causes: Rows, keys: Rows) -> Iterator[Finding]:
    """What did messages die of, and did sending them back help?"""
    total = sum(row["dead_lettered"] for row in causes)
    if not total:
        return
    worst = causes[0]
    share = text.share(worst["dead_lettered"] / total)
    sentence = f"Most often: {worst['cause'] or 'no cause given'} ({share}, in {worst['group']})."
    hot = next((row for row in keys if row["key"] is not None), None)
    if hot is not None and hot["dead_lettered"] > max(1, total * 0.2):
        sentence += f" {text.share(hot['dead_lettered'] / total)} have the key {hot['key']}."
    redriven = sum(row["redriven"] for row in causes)
    if redriven:
        results = {name: sum(row[name] for row in causes) for name in ("recovered", "died_again", "waiting")}
        words = {"recovered": "acknowledged", "died_again": "dead again", "waiting": "still waiting"}
        parts = [f"{count:,} {words[name]}" for name, count in results.items() if count]
        sentence += f" {text.plural(redriven, 'was', 'were')} redriven: {text.listed(parts)}."
    headline = f"{text.plural(total, 'message')} ended in the dead letters"
    yield Finding(WARN, headline, sentence, "dead-letters", worst["first_ns"])


def refused_by_schema(rows: Rows) -> Iterator[Finding]:
    """What did the schemas refuse?"""
    total = sum(row["messages"] for row in rows)
    if total:
        worst = rows[0]
        place = "the value as a whole" if worst["place"] == "the value" else worst["place"]
        yield Finding(
            WARN,
            f"The schema {worst['subject']} refused {text.plural(total, 'message')}"
            if len({row["subject"] for row in rows}) == 1
            else f"Schemas refused {text.plural(total, 'message')}",
            f"Most often because of {place} ({text.share(worst['messages'] / total)}, on {worst['topic']}), "
            f"from {text.clock(worst['first_ns'])} to {text.clock(worst['last_ns'])}.",
            "schemas",
            worst["first_ns"],
        )


def turned_away(rows: Rows, blockers: Rows) -> Iterator[Finding]:
    """What was refused or discarded, and for want of what?"""
    kinds = {"rejected": "refused", "dropped": "dropped", "evicted": "evicted", "expired": "expired"}
    by_schema = sum(row["rejected"] for row in blockers if row["reason"] == "schema")
    losses = {word: sum(row[kind] for row in rows) for kind, word in kinds.items()}
    losses["refused"] -= by_schema  # a finding of its own
    total = sum(losses.values())
    if total > 0:
        topics = sorted({row["topic"] for row in rows if any(row[kind] for kind in kinds)})
        parts = [f"{lost:,} {word}" for word, lost in losses.items() if lost]
        yield Finding(
            WARN,
            f"{text.plural(total, 'message was', 'messages were')} turned away or discarded",
            f"{text.listed(parts, 4)}, on {text.listed(topics)}.{_for_want(blockers)}",
            "backpressure",
        )


def _for_want(blockers: Rows) -> str:
    def lost(row: Row) -> int:
        return int(row["rejected"] + row["dropped"] + row["evicted"])

    worst = max((row for row in blockers if row["reason"] != "schema"), key=lost, default=None)
    if worst is None or not lost(worst):
        return ""
    reader = f", with {worst['blocker']} furthest behind" if worst["blocker"] else ""
    return f" Most because {worst['topic']} was {worst['reason']}{reader}." if "full" in worst["reason"] else ""


def repeated(rows: Rows) -> Iterator[Finding]:
    """How much was delivered again?"""
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
            "queues",
        )
