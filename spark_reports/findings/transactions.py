from __future__ import annotations

from collections.abc import Iterator

from spark_reports.findings.finding import INFO, WARN, Finding, Harm, Row, Rows
from spark_reports.page import text
from spark_reports.tables.transactions import COMMITTED, OPEN

KIND = "open-transaction"
FEWEST_NS = 1_000_000_000  # a wait that is worth a sentence


def held_up(waits: Rows) -> Iterator[Finding]:
    """The transaction for which the most messages waited longest at the last stable offset."""
    together: dict[tuple[str, int], list[Row]] = {}
    for row in waits:
        together.setdefault((row["transactional_id"], row["to_ns"]), []).append(row)
    worst = max(together.values(), key=_waited_s, default=None)
    if worst is None or max(row["waited_ns"] for row in worst) < FEWEST_NS:
        return
    longest = max(worst, key=lambda row: row["waited_ns"])
    groups = text.listed(sorted({row["group"] for row in worst}))
    places = text.listed(sorted({text.place(row["topic"], row["partition"]) for row in worst}))
    messages = max(
        sum(row["messages"] for row in worst if row["group"] == group) for group in {row["group"] for row in worst}
    )
    ended = {OPEN: "It was open to the end.", COMMITTED: "It was committed then."}
    yield Finding(
        INFO if longest["outcome"] == COMMITTED else WARN,
        f"The transaction {longest['transactional_id']} held up {groups} for {text.duration(longest['waited_ns'])}",
        f"From {text.clock(longest['from_ns'])} on the last stable offset of {places} stood still, with "
        f"{text.plural(messages, 'message')} behind it in the end. "
        + ended.get(longest["outcome"], f"It ended at {text.clock(longest['to_ns'])}: {longest['outcome']}."),
        "transactions",
        longest["from_ns"],
        KIND,
        f"Its producer {longest['client']} left it open. Who reads committed messages sees nothing behind it.",
        harm=Harm(delayed=messages, delayed_s=_waited_s(worst) / messages if messages else 0.0),
    )


def _waited_s(rows: list[Row]) -> float:
    """Message-seconds, each half of the wait on average."""
    return float(sum(row["messages"] * row["waited_ns"] for row in rows) / 2e9)


def cause(waits: Rows, group: str, topic: str, at_ns: int, soon_ns: int) -> str:
    """Why `group` was behind on `topic` then, where it waited for a transaction in the time before; "" if not."""
    mine = [
        row
        for row in waits
        if (row["group"], row["topic"]) == (group, topic)
        and row["from_ns"] < at_ns <= row["to_ns"] + soon_ns
        and row["waited_ns"] >= FEWEST_NS
    ]
    if not mine:
        return ""
    longest = max(mine, key=lambda row: row["waited_ns"])
    return (
        f"It waited {text.duration(longest['waited_ns'])} for the transaction {longest['transactional_id']} of "
        f"{longest['client']} ({longest['outcome']}), behind which it is given nothing: its readers are not the reason."
    )
