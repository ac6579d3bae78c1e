from __future__ import annotations

from collections.abc import Iterator

from spark_reports import text
from spark_reports.findings.behind import overloads
from spark_reports.findings.evidence import Evidence
from spark_reports.findings.finding import INFO, WARN, Finding, Harm
from spark_reports.rows import grouped

BLOCKED_SHARE = 0.01  # of the session


def blocked(evidence: Evidence) -> Iterator[Finding]:
    """For each topic whose producers were blocked the one that waited most. If its readers can do less than what comes,
    that is told here.
    """
    for (topic,), rows in grouped(evidence.rows["backpressure"], "topic").items():
        sums = {client: sum(row["blocked_ns"] for row in mine) for (client,), mine in grouped(rows, "client").items()}
        client = max(sums, key=lambda name: sums[name])
        blocked_ns = sums[client]
        share = blocked_ns / evidence.scale.duration_ns
        longest = max((row for row in rows if row["client"] == client), key=lambda row: row["blocked_ns"])
        detail = f"The longest wait was {text.duration(longest['blocked_ns'])} at {text.clock(longest['from_ns'])}."
        if len(sums) > 1:
            detail += f" {text.plural(len(sums) - 1, 'other producer')} also waited."
        of_topic = [row for row in evidence.rows["blockers"] if row["topic"] == topic]
        mine = [row for row in of_topic if row["client"] == client and row["blocker"]]
        why = f"It was told: {longest['cause']}." if longest["cause"] else ""
        if mine and mine[0]["blocker"] not in longest["cause"]:
            why += f" It waited for {mine[0]['blocker']}."
        filled = [one for reader in evidence.readers.values() for one in overloads(reader, topic)]
        kind, advice = "", filled[0][0].advice if filled else ""
        if any(row["reason"] == "rate limit" for row in of_topic):
            groups = evidence.groups_of(topic)
            if all(map(evidence.is_work_known, groups)) and not any(map(evidence.has_no_reserve, groups)):
                kind = "rate-limit"
        elif filled:
            kind = "blocked"
            why = f"{why} {filled[0][0].headline}. {filled[0][0].why}"
        elif any(map(evidence.has_no_reserve, evidence.groups_of(topic))):
            kind = "blocked"
        yield Finding(
            WARN if share >= BLOCKED_SHARE else INFO,
            f"{client} was blocked for {text.duration(blocked_ns)} on {topic}, {text.share(share)} of the session",
            detail,
            "backpressure",
            longest["from_ns"],
            kind,
            why.strip(),
            advice,
            Harm(
                waiting=len(sums),
                waiting_s=sum(sums.values()) / 1e9,
                message_s=sum(one.delayed_s for _, one in filled),
                delayed=round(sum(one.delayed for _, one in filled)),
            ),
        )
