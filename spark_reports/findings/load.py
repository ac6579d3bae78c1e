"""Findings about producers: those that wait, limits, and uneven load."""

from __future__ import annotations

from collections.abc import Iterator

from spark_reports.findings.finding import INFO, WARN, Finding, Harm, Rows
from spark_reports.findings.settings import Settings
from spark_reports.page import text
from spark_reports.scale import Scale

UNEVEN = 1.5  # a partition with this many times its fair share is worth a sentence
HOT = 1 / 3  # of a partition's messages with one key
BLOCKED_SHARE = 0.01  # of the session
FAR_BELOW = 0.5  # of a limit, at the highest


def blocked(rows: Rows, blockers: Rows, scale: Scale) -> Iterator[Finding]:
    """Who waited longest, and for whom?"""
    waits: dict[tuple[str, str], int] = {}
    for row in rows:
        waits[row["client"], row["topic"]] = waits.get((row["client"], row["topic"]), 0) + row["blocked_ns"]
    if not waits:
        return
    (client, topic), blocked_ns = max(waits.items(), key=lambda item: item[1])
    share = blocked_ns / scale.duration_ns
    longest = max(
        (row for row in rows if (row["client"], row["topic"]) == (client, topic)), key=lambda row: row["blocked_ns"]
    )
    detail = f"The longest wait was {text.duration(longest['blocked_ns'])} at {text.clock(longest['from_ns'])}."
    others = len({name for name, _ in waits}) - 1
    if others:
        detail += f" {text.plural(others, 'other producer')} waited too."
    mine = [row for row in blockers if (row["client"], row["topic"]) == (client, topic) and row["blocker"]]
    why = f"It was told: {longest['cause']}." if longest["cause"] else ""
    if mine and mine[0]["blocker"] not in longest["cause"]:
        why += f" It waited for {mine[0]['blocker']}."
    yield Finding(
        WARN if share >= BLOCKED_SHARE else INFO,
        f"{client} was blocked for {text.duration(blocked_ns)} on {topic}, {text.share(share)} of the session",
        detail,
        "backpressure",
        longest["from_ns"],
        "blocked",
        why.strip(),
        harm=Harm(waiting=others + 1, waiting_s=sum(waits.values()) / 1e9),
    )


def unreached(series: Rows, blockers: Rows, settings: Settings) -> Iterator[Finding]:
    """Which rate limit was never reached?"""
    limited = {row["topic"] for row in blockers if "rate" in row["reason"]}
    limited |= {row["client"] for row in blockers if "rate" in row["reason"]}
    for kind, name, per_s in settings.rate_limits():
        dimension = "producer" if kind == "producer" else "topic"
        mine = [row for row in series if (row["dimension"], row["name"]) == (dimension, name)]
        peaks = [row["peak_messages_per_s"] or 0.0 for row in mine]
        if peaks and name not in limited and max(peaks) < FAR_BELOW * per_s:
            yield Finding(
                INFO,
                f"The rate limit of {name} was never reached",
                f"It allows {text.per_second(per_s)}; at most {text.per_second(max(peaks))} came.",
                "backpressure",
                kind="rate-limit",
            )


def uneven(partitions: Rows, keys: Rows) -> Iterator[Finding]:
    """Which partition carried more than its share, and because of which key?"""
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
    hot = bool(here) and here[0]["share_of_partition"] >= HOT
    why = ""
    if here:
        headline += f": key {here[0]['key']}" if hot else ""
        why = f"The key {here[0]['key']} alone is {text.share(here[0]['share_of_partition'])} of the partition."
    yield Finding(INFO, headline, detail, "keys", kind="hot-key" if hot else "skew", why=why)
