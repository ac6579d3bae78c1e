from __future__ import annotations

from collections.abc import Iterator

from spark_reports import text
from spark_reports.findings.evidence import Evidence
from spark_reports.findings.finding import INFO, WARN, Finding, Harm
from spark_reports.rows import Row, grouped
from spark_reports.tables.transactions import COMMITTED, OPEN

OPEN_TRANSACTION = "open-transaction"
FEWEST_NS = 1_000_000_000  # a wait for a transaction that is worth a sentence


def unfinished(evidence: Evidence) -> Iterator[Finding]:
    """A rebalance that never ended."""
    for row in evidence.rows["rebalances"]:
        if not row["finished"]:
            because = f", because {row['cause']}" if row["cause"] else ""
            yield Finding(
                WARN,
                f"A rebalance of {row['group']} was still going on at the end, after {text.duration(row['pause_ns'])}",
                f"It began at {text.clock(row['started_ns'])}{because}. It never completed.",
                "rebalances",
                row["started_ns"],
                "rebalance",
            )
            return


def held_up(evidence: Evidence) -> Iterator[Finding]:
    """The transaction for which the most messages waited longest at the last stable offset."""
    together = grouped(evidence.rows["stable_waits"], "transactional_id", "to_ns")
    worst = max(together.values(), key=_message_s, default=None)
    if worst is None or max(row["waited_ns"] for row in worst) < FEWEST_NS:
        return
    longest = max(worst, key=lambda row: row["waited_ns"])
    groups = text.listed(sorted({row["group"] for row in worst}))
    places = text.listed(sorted({text.place(row["topic"], row["partition"]) for row in worst}))
    messages = max(sum(row["messages"] for row in theirs) for theirs in grouped(worst, "group").values())
    ended = {OPEN: "It was open to the end.", COMMITTED: "It was committed then."}
    yield Finding(
        INFO if longest["outcome"] == COMMITTED else WARN,
        f"The transaction {longest['transactional_id']} held up {groups} for {text.duration(longest['waited_ns'])}",
        f"From {text.clock(longest['from_ns'])} on the last stable offset of {places} stood still, with "
        f"{text.plural(messages, 'message')} behind it in the end. "
        + ended.get(longest["outcome"], f"It ended at {text.clock(longest['to_ns'])}: {longest['outcome']}."),
        "transactions",
        longest["from_ns"],
        OPEN_TRANSACTION,
        f"Its producer {longest['client']} left it open. read_committed readers see nothing beyond it.",
        harm=Harm(delayed=messages, message_s=_message_s(worst)),
    )


def _message_s(rows: list[Row]) -> float:
    """Message-seconds, each half of the wait on average."""
    return float(sum(row["messages"] * row["waited_ns"] for row in rows) / 2e9)


def late(evidence: Evidence) -> Iterator[Finding]:
    whole = next((row for row in evidence.rows["latency"] if row["measure"] == "delivered"), None)
    if whole is None:
        return
    half = f"within {text.duration(whole['p50_ns'])}" if whole["p50_ns"] else "at once"
    headline = f"Half of the messages were delivered {half}, 99{text.NBSP}% within {text.duration(whole['p99_ns'])}"
    if not whole["p99_ns"]:
        headline = f"99{text.NBSP}% of the messages were delivered at once"
    groups = [row for row in evidence.rows["latency_by_group"] if row["measure"] == "delivered"]
    slowest = max(groups, key=lambda row: row["p99_ns"])
    detail = f"Slowest is {slowest['group']} on {slowest['topic']}: p99 {text.duration(slowest['p99_ns'])}."
    yield Finding(INFO, headline, detail, "latency")


def replayed(evidence: Evidence) -> Iterator[Finding]:
    """Groups that read messages from before their first member joined. That wait is no delay of a reader."""
    whole, groups, over_time = (
        [row for row in evidence.rows[name] if row["measure"] == "replayed"]
        for name in ("latency", "latency_by_group", "latency_over_time")
    )
    if not whole:
        return
    names = sorted({row["group"] for row in groups})
    their = "its" if len(names) == 1 else "their"
    yield Finding(
        INFO,
        f"{text.listed(names)} read {text.plural(whole[0]['messages'], 'message')} from before {their} time",
        f"They were up to {text.duration(whole[0]['max_ns'])} old when they were read. They are left out of the "
        "latency above and have separate lines.",
        "latency",
        min((row["start_ns"] for row in over_time), default=None),
    )
