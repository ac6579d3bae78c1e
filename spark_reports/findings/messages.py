from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from resources.outcomes import OUTCOMES
from spark_reports import text
from spark_reports.findings.behind import overloads
from spark_reports.findings.evidence import Evidence
from spark_reports.findings.finding import INFO, WARN, Finding, Harm
from spark_reports.rows import Rows, grouped
from spark_reports.tables.backpressure import DEAD_LETTERED

HELPLESS = 0.05  # of the retries that helped: below it they are useless
FEWEST_RETRIES = 5
OFTEN = 0.01  # of the leases
NEAR_LEASE = 0.5  # of a lease: the work is nearly as long


def dead(evidence: Evidence) -> Iterator[Finding]:
    causes = evidence.rows["dead_letters"]
    total = sum(row["dead_lettered"] for row in causes)
    if not total:
        return
    worst, of = causes[0], text.listed(sorted({row["group"] for row in causes}))
    share = text.share(worst["dead_lettered"] / total)
    sentence = f"Most often: {worst['cause'] or 'no cause given'} ({share}, in {worst['group']})."
    hot = next((row for row in evidence.rows["dead_letter_keys"] if row["key"] is not None), None)
    if hot is not None and hot["dead_lettered"] > max(1, total * 0.2):
        sentence += f" {text.share(hot['dead_lettered'] / total)} have the key {hot['key']}."
    redriven = sum(row["redriven"] for row in causes)
    results = {name: sum(row[name] for row in causes) for name in ("recovered", "died_again", "waiting")}
    if redriven:
        words = {"recovered": "acknowledged", "died_again": "dead again", "waiting": "still waiting"}
        parts = [f"{count:,} {words[name]}" for name, count in results.items() if count]
        sentence += f" {text.plural(redriven, 'was', 'were')} redriven: {text.listed(parts)}."
    tried, helped, _failed = _again([row for row in evidence.rows["redeliveries"] if row["group"] == worst["group"]])
    # Whatever died had failed at every attempt. That it would again is known where no attempt helped anything.
    poison = tried > 0 and helped <= HELPLESS * tried and not worst["recovered"]
    messages, left = total - results["died_again"], total - redriven
    died = f", {total:,} times in all" if results["died_again"] else ""
    yield Finding(
        WARN,
        f"{text.plural(messages, 'message')} of {of} ended in the dead letters{died}",
        sentence,
        "dead-letters",
        worst["first_ns"],
        "poison" if poison else "dead-letters",
        f"Of {text.plural(tried, 'further attempt')} in {worst['group']}, {f'{helped:,}' if helped else 'none'} helped"
        f"{', nor did a redrive' if worst['redriven'] else ''}: the cause is the message, not the moment."
        if poison
        else "",
        harm=Harm(dead=max(0, left)),
    )


def deleted(evidence: Evidence) -> Iterator[Finding]:
    """Messages deleted before a group got them, which are lost to that group."""
    for (group,), mine in grouped(evidence.rows["deleted_unread"], "group").items():
        total, at_most = sum(row["messages"] for row in mine), any(row["at_most"] for row in mine)
        parts = [f"{row['messages']:,} of {text.place(row['topic'], row['partition'])}" for row in mine]
        first, last = min(row["first_ns"] for row in mine), max(row["last_ns"] for row in mine)
        when = f"at {text.clock(first)}" if first == last else f"from {text.clock(first)} to {text.clock(last)}"
        topics = sorted({row["topic"] for row in mine}) if group in evidence.readers else []
        over = [cause for topic in topics for cause, _ in overloads(evidence.readers[group], topic)]
        compacted = " Compaction may have removed some of them before." if at_most else ""
        yield Finding(
            WARN,
            f"{'Up to ' if at_most else ''}{text.plural(total, 'message was', 'messages were')} deleted before {group} "
            "got them",
            f"{text.listed(parts)}, {when}.{compacted}",
            "audit",
            first,
            "deleted-unread",
            f"{text.listed(sorted({row['cause'] for row in mine})).capitalize()}: the log was deleted beyond the "
            "point to which the group had read.",
            # More time is of no use to who never catches up.
            f"{over[0].advice} Keep messages for longer until then." if over else "",
            Harm(lost=total),
        )


def retried(evidence: Evidence) -> Iterator[Finding]:
    later = [row for row in evidence.rows["redeliveries"] if row["attempt"] > 1 and row["delivered"]]
    for (group,), again in grouped(later, "group").items():
        tried, helped, failed = _again(again)
        if failed < FEWEST_RETRIES or helped > HELPLESS * tried:
            continue
        held = [row for row in evidence.rows["leases"] if row["queue"] == group and row["leased"]]
        mean_s = sum(row["held_ns"] for row in held) / max(1, sum(row["leased"] for row in held)) / 1e9
        attempts = evidence.settings.max_attempts(group)
        now = f" It allows {attempts} attempts now." if attempts else ""
        yield Finding(
            INFO,
            f"Retries in {group} helped {f'{helped:,} of {tried:,} times' if helped else 'nobody'}",
            f"{text.plural(tried, 'further attempt')} up to attempt {max(row['attempt'] for row in again)}: "
            f"{failed:,} failed like the first.{now}",
            "queues",
            kind="retries",
            harm=Harm(delayed=tried, message_s=tried * mean_s),
        )


def _again(rows: Rows) -> tuple[int, int, int]:
    """Further attempts: how many there were, how many ended well, and how many did not."""
    later = [row for row in rows if row["attempt"] > 1]
    tried, helped = (sum(row[name] or 0 for row in later) for name in ("delivered", "acknowledged"))
    return tried, helped, sum(row[name] or 0 for row in later for name in ("nacked", "lease_expired"))


def expired(evidence: Evidence) -> Iterator[Finding]:
    faults = {row["client"] for row in evidence.rows["markers"] if row["kind"] == "fault"}
    for (queue,), mine in sorted(grouped(evidence.rows["leases"], "queue").items()):
        gone, all_of_them, longer = (sum(row[name] for row in mine) for name in ("expired", "leased", "extended"))
        if not gone:
            continue
        late = sorted((row for row in mine if row["expired"]), key=lambda row: -row["expired"])
        who = text.listed([f"{row['client']} ({row['expired']:,})" for row in late])
        lease_s = (evidence.settings.lease_ms(queue) or 0.0) / 1e3
        lasts = f" A lease lasts {text.duration(lease_s * 1e9)}." if lease_s else ""
        struck = sorted(faults & {row["client"] for row in late})
        why = f"Faults struck {text.listed(struck)} in the same session. " if struck else ""
        why += "Nobody extended a lease." if not longer else ""
        others_s = (sum(row["held_ns"] for row in mine) / 1e9 - gone * lease_s) / max(1, all_of_them - gone)
        advice = ""
        if lease_s and others_s < NEAR_LEASE * lease_s:
            why += f" The other leases ended after {text.duration(max(0.0, others_s) * 1e9)} on average."
            advice = (
                "Look for workers that stop, hang or forget messages: the others finish well within the lease, so a "
                "longer one would only delay these messages more."
            )
        yield Finding(
            WARN if gone >= OFTEN * all_of_them else INFO,
            f"{text.plural(gone, 'lease')} of {queue} expired, {text.share(gone / all_of_them)} of all",
            f"The messages went to others, or were tried again. Held by {who}.{lasts}",
            "queues",
            kind="expired-leases",
            why=why.strip(),
            advice=advice,
            harm=Harm(delayed=gone, message_s=gone * lease_s),
        )


def refused_by_schema(evidence: Evidence) -> Iterator[Finding]:
    rows = evidence.rows["refusals"]
    total = sum(row["messages"] for row in rows)
    if total:
        worst, dead = rows[0], sum(row["messages"] for row in rows if row["outcome"] == DEAD_LETTERED)
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
            "schema",
            harm=Harm(rejected=total - dead, dead=dead),
        )


def turned_away(evidence: Evidence) -> Iterator[Finding]:
    rows, blockers = evidence.rows["backpressure_series"], evidence.rows["blockers"]
    by_schema = sum(row["rejected"] for row in blockers if row["reason"] == "schema")
    counts = {kind: sum(row[kind] for row in rows) for kind in OUTCOMES}
    counts["rejected"] -= by_schema  # a finding of its own
    total = sum(counts.values())
    if total > 0:
        topics = sorted({row["topic"] for row in rows if any(row[kind] for kind in OUTCOMES)})
        parts = [f"{counts[kind]:,} {word.lower()}" for kind, word in OUTCOMES.items() if counts[kind]]
        yield Finding(
            WARN,
            f"{text.plural(total, 'message was', 'messages were')} turned away or discarded",
            f"{text.listed(parts, 4)}, on {text.listed(topics)}.{_for_want(blockers)}",
            "backpressure",
            kind="turned-away"
            if any(evidence.has_no_reserve(one) for name in topics for one in evidence.groups_of(name))
            else "",
            harm=Harm(rejected=counts["rejected"], lost=total - counts["rejected"]),
        )


def _for_want(blockers: Rows) -> str:
    counts: Counter[tuple[str, str, str]] = Counter()
    for row in blockers:
        counts[row["topic"], row["reason"], row["blocker"]] += row["rejected"] + row["dropped"] + row["evicted"]
    (topic, reason, blocker), most = max(counts.items(), key=lambda item: item[1], default=(("", "", ""), 0))
    if not most or "full" not in reason:
        return ""
    reader = f", with {blocker} furthest behind" if blocker not in {"", topic} else ""
    return f" {most:,} of them because {topic} was {reason}{reader}."


def repeated(evidence: Evidence) -> Iterator[Finding]:
    rows = evidence.rows["redeliveries"]
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
            kind="repeats",
        )
