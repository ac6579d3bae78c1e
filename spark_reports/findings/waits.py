from __future__ import annotations

from collections.abc import Iterator

from spark_reports.findings.evidence import Evidence
from spark_reports.findings.finding import INFO, WARN, Finding, Harm
from spark_reports.page import text
from spark_reports.rows import Row, Rows, grouped
from spark_reports.tables.transactions import COMMITTED, OPEN

OPEN_TRANSACTION = "open-transaction"
FEWEST_NS = 1_000_000_000  # a wait for a transaction that is worth a sentence
BACK = ("restarted", "pause is over")
_STRUCK = {"crash": "{owner} had crashed", "pause": "{owner} stood still", "silence": "{owner} did not respond"}


def unread(told: Evidence) -> Iterator[Finding]:
    """The outage with the most waiting: its partitions, time without a reader, and messages. A long rebalance may stop
    no reader, a short one may begin late. Members that leave at the end are no outage.
    """
    rebalances = told.rows["rebalances"]
    ended = [row for row in told.rows["unserved"] if row["cause"] or row["owner_after"] is not None]
    if ended:
        worst = max(grouped(ended, "group", "started_ns").values(), key=_waited)
        yield _outage(worst, rebalances, told.rows["markers"])
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


def _outage(rows: list[Row], rebalances: Rows, markers: Rows) -> Finding:
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
    noticed_ns = _noticed_ns(longest, markers)
    if cause in _STRUCK:
        before = _STRUCK[cause].format(owner=longest["owner_before"])
        why = f"{before}, and the group noticed {text.duration(noticed_ns)} later. {why}"
    waited_s, _ = _waited(rows)
    kind, advice = _remedy(longest, noticed_ns, of, markers)
    return Finding(
        WARN,
        headline,
        detail,
        "rebalances",
        longest["from_ns"],
        kind,
        why,
        advice,
        harm=Harm(delayed=arrived, delayed_s=waited_s / arrived if arrived else 0.0),
    )


def _noticed_ns(longest: Row, markers: Rows) -> int:
    gone = [
        row["time_ns"]
        for row in markers
        if (row["kind"], row["group"], row["client"]) == ("member_left", longest["group"], longest["owner_before"])
        and longest["from_ns"] <= row["time_ns"] <= longest["to_ns"]
    ]
    at_ns = min(gone, default=longest["revoked_ns"] or longest["started_ns"])
    return max(0, int(at_ns) - int(longest["from_ns"]))


def _remedy(longest: Row, noticed_ns: int, of: Row | None, markers: Rows) -> tuple[str, str]:
    if longest["cause"] not in _STRUCK:
        return ("rebalance" if of is not None and (of["stopped"] or 0) > (of["moved"] or 0) else ""), ""
    parts = []
    if of is not None and noticed_ns * 2 >= longest["pause_ns"]:
        parts.append("detect a missing member sooner")
    came_back = any(
        row["kind"] == "fault" and row["client"] == longest["owner_before"] and row["cause"] in BACK
        and longest["from_ns"] < row["time_ns"] <= longest["to_ns"]
        for row in markers
    )  # fmt: skip
    if came_back and longest["cause"] == "crash":
        parts.append("let a member that comes back keep its place")
    return ("outage" if parts else ""), f"{text.listed(parts).capitalize()}." if parts else ""


def _because(row: Row) -> str:
    return f", because {row['cause']}" if row["cause"] else ""


def held_up(told: Evidence) -> Iterator[Finding]:
    """The transaction for which the most messages waited longest at the last stable offset."""
    together = grouped(told.rows["stable_waits"], "transactional_id", "to_ns")
    worst = max(together.values(), key=_waited_s, default=None)
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
        harm=Harm(delayed=messages, delayed_s=_waited_s(worst) / messages if messages else 0.0),
    )


def _waited_s(rows: list[Row]) -> float:
    """Message-seconds, each half of the wait on average."""
    return float(sum(row["messages"] * row["waited_ns"] for row in rows) / 2e9)


def transaction_of(told: Evidence, group: str, topic: str, at_ns: int, soon_ns: int) -> str:
    """Why `group` was behind on `topic` then, where it waited for a transaction in the time before; "" if not."""
    mine = [
        row
        for row in told.rows["stable_waits"]
        if (row["group"], row["topic"]) == (group, topic)
        and row["from_ns"] < at_ns <= row["to_ns"] + soon_ns
        and row["waited_ns"] >= FEWEST_NS
    ]
    if not mine:
        return ""
    longest = max(mine, key=lambda row: row["waited_ns"])
    return (
        f"It waited {text.duration(longest['waited_ns'])} for the transaction {longest['transactional_id']} of "
        f"{longest['client']} ({longest['outcome']}), beyond which it gets nothing: its readers are not the cause."
    )


def late(told: Evidence) -> Iterator[Finding]:
    whole = next((row for row in told.rows["latency"] if row["measure"] == "delivered"), None)
    if whole is None:
        return
    half = f"within {text.duration(whole['p50_ns'])}" if whole["p50_ns"] else "at once"
    headline = f"Half of the messages were delivered {half}, 99{text.NBSP}% within {text.duration(whole['p99_ns'])}"
    if not whole["p99_ns"]:
        headline = f"99{text.NBSP}% of the messages were delivered at once"
    groups = [row for row in told.rows["latency_by_group"] if row["measure"] == "delivered"]
    slowest = max(groups, key=lambda row: row["p99_ns"])
    detail = f"Slowest is {slowest['group']} on {slowest['topic']}: p99 {text.duration(slowest['p99_ns'])}."
    yield Finding(INFO, headline, detail, "latency")


def replayed(told: Evidence) -> Iterator[Finding]:
    """Groups that read messages from before their first member joined. That wait is no delay of a reader."""
    whole, groups, over_time = (
        [row for row in told.rows[name] if row["measure"] == "replayed"]
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
