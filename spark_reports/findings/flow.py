"""Findings about the flow: who stood still, fell behind, was blocked or did nothing, and what changed it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from spark_reports.findings.finding import INFO, WARN, Finding, Row, Rows
from spark_reports.page import text
from spark_reports.scale import Scale

UNEVEN = 1.5  # a partition with this many times its fair share is worth a sentence
BLOCKED_SHARE = 0.01  # of the session
GROWING_TAILS = (0.5, 0.25, 0.1)  # of the session: what grew all the way through one is still growing
BUSY = 0.95  # of the time with messages in hand
WORTH_TELLING = 2.0  # times as late as before, or half as many


def rebalanced(rows: Rows, unserved: Rows) -> Iterator[Finding]:
    """The rebalance that cost most: its pause, times the partitions that stood still."""
    disturbing = [row for row in rows if row["stopped"] or not row["finished"]]
    if not disturbing:
        return
    longest = max(disturbing, key=lambda row: (row["pause_ns"] * max(row["stopped"], 1), row["pause_ns"]))
    pause = text.duration(longest["pause_ns"])
    who = f"{longest['stopped']} of {longest['partitions']} partitions of {longest['group']}"
    if longest["finished"]:
        headline = f"A rebalance stopped {who} for {pause}"
        outcome = f"{longest['moved']} moved, {longest['kept']} stayed with their owner."
    else:
        headline = f"A rebalance of {longest['group']} was still going on at the end, after {pause}"
        outcome = "It never completed."
    waited = sum(
        row["published"]
        for row in unserved
        if (row["group"], row["started_ns"]) == (longest["group"], longest["started_ns"])
    )
    if waited:
        outcome += f" {text.plural(waited, 'message')} arrived meanwhile and waited."
    detail = (
        f"At {text.clock(longest['started_ns'])}, because {longest['cause'] or 'of a cause nobody gave'}. {outcome}"
    )
    yield Finding(WARN, headline, detail, "rebalances", longest["started_ns"])


def grew(queues: Rows, lag: Rows, scale: Scale) -> Iterator[Finding]:
    """What was still growing when the session ended? A queue, or what a group is behind on a topic in all."""
    found = []
    partitions: dict[tuple[Any, ...], set[int | None]] = {}
    for kind, rows, names, value in (
        ("queue", queues, ("queue",), "waiting"),
        ("group", lag, ("group", "topic"), "lag"),
    ):
        totals: dict[tuple[Any, ...], dict[int, int]] = {}
        for row in rows:
            place = tuple(row[name] for name in names)
            partitions.setdefault(place, set()).add(row.get("partition"))
            series = totals.setdefault(place, {})
            series[row["start_ns"]] = series.get(row["start_ns"], 0) + (row[value] or 0)
        for place, series in totals.items():
            growth = _growth([series[start] for start in sorted(series)])
            if growth is not None:
                found.append((growth, kind, place))
    for (before, after, tail), kind, place in sorted(found, key=lambda one: one[0][0] - one[0][1])[:2]:
        seconds = scale.duration_ns * tail / 1e9
        since = scale.to_ns - int(scale.duration_ns * tail)
        stood = "waited" if kind == "queue" else "behind"
        what = f"{place[0]} was" if kind == "queue" else f"The lag of {place[0]} on {place[1]} was"
        many = len(partitions[place])
        among = f", in its {many} partitions together" if many > 1 else ""
        yield Finding(
            WARN,
            f"{what} still growing at the end: {text.plural(after, 'message')} {stood}{among}",
            f"In the last {text.duration(seconds * 1e9)} it went from {before:,} to {after:,}, "
            f"{text.rate((after - before) / seconds)} more a second: who reads it is too slow for what comes in.",
            "queues" if kind == "queue" else "lag",
            since,
        )


def _growth(values: list[int]) -> tuple[int, int, float] | None:
    """The numbers at the beginning and the end of the longest tail that grew through each of its four parts, and
    which share of the session that is.
    """
    for share in GROWING_TAILS:
        tail = values[-max(int(len(values) * share), 4) :]
        size = len(tail) // 4
        if size == 0:
            return None
        means = [sum(tail[at : at + size]) / size for at in range(len(tail) - 4 * size, len(tail) - size + 1, size)]
        grows = all(one < other for one, other in pairwise(means))
        if grows and tail[-1] >= max(20, tail[0] * 1.2, max(values) * 0.8):
            return tail[0], tail[-1], share
    return None


def behind(rows: Rows, scale: Scale) -> Iterator[Finding]:
    """On which partition did a group fall furthest behind? Lag is looked at when a bucket ends, and may have been more
    in between.
    """
    late = [row for row in rows if row["max_lag"]]
    if not late:
        return
    worst = max(late, key=lambda row: row["max_lag"])
    theirs = [row for row in rows if row["group"] == worst["group"]]
    headline = (
        f"{worst['group']} fell {text.plural(worst['max_lag'], 'message')} behind on "
        f"{'one partition, ' if len(theirs) > 1 else ''}{text.place(worst['topic'], worst['partition'])}"
    )
    left = sum(row["last_lag"] or 0 for row in theirs)
    end = "It had caught up by the end."
    if left:
        among = f", in its {len(theirs)} partitions together" if len(theirs) > 1 else ""
        end = f"At the end the group was {text.plural(left, 'message')} behind{among}."
    often = text.duration(scale.width_ns)
    detail = f"Looked at every {often}, it was worst at {text.clock(worst['max_lag_ns'])}. {end}"
    yield Finding(INFO, headline, detail, "lag", worst["max_lag_ns"])


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
    detail = f"The longest wait was {text.duration(longest['blocked_ns'])} at {text.clock(longest['from_ns'])}"
    detail += f": {longest['cause']}." if longest["cause"] else "."
    mine = [row for row in blockers if (row["client"], row["topic"]) == (client, topic) and row["blocker"]]
    if mine and mine[0]["blocker"] not in longest["cause"]:
        detail += f" It waited for {mine[0]['blocker']}."
    yield Finding(
        WARN if share >= BLOCKED_SHARE else INFO,
        f"{client} was blocked for {text.duration(blocked_ns)} on {topic}, {text.share(share)} of the session",
        detail,
        "backpressure",
        longest["from_ns"],
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
    if here:
        headline += f": key {here[0]['key']}" if here[0]["share_of_partition"] >= 1 / 3 else ""
        detail += f" The key {here[0]['key']} alone is {text.share(here[0]['share_of_partition'])} of the partition."
    yield Finding(INFO, headline, detail, "keys")


def did_nothing(rows: Rows, scale: Scale) -> Iterator[Finding]:
    """Who was there for most of the time and read nothing?"""
    there = [row for row in rows if row["to_ns"] - row["from_ns"] >= scale.duration_ns / 4]
    idle = [row for row in there if not row["delivered"]]
    if not idle:
        return
    reasons = []
    for row in idle:
        if not row["group"]:
            why = "was in no group"
        elif row["with_partitions_ns"] == 0:
            why = f"had no partition in {row['group']}"
        else:
            why = f"got nothing from {row['group']}"
        reasons.append(f"{row['client']} {why}")
    names = text.listed([row["client"] for row in idle])
    yield Finding(INFO, f"{names} did nothing", f"{text.listed(reasons)}.", "consumers")


def overloaded(rows: Rows) -> Iterator[Finding]:
    """Who never had a moment without a message in hand?"""
    busy = [row for row in rows if row["utilisation"] >= BUSY and row["delivered"]]
    if busy:
        worst = max(busy, key=lambda row: (row["in_hand"], row["utilisation"]))
        several = len(busy) > 1
        headline = (
            f"{len(busy)} consumers were" if several else f"{worst['client']} was"
        ) + f" busy at least {text.share(BUSY)} of the time"
        names = text.listed([row["client"] for row in busy])
        detail = (
            f"{names}. " if several else ""
        ) + f"{worst['client']} had {worst['in_hand']:.1f} messages in hand on average."
        yield Finding(INFO, headline, detail, "consumers")


def disturbed(rows: Rows) -> Iterator[Finding]:
    """Which fault or action changed most?"""

    def change(row: Row) -> float:
        before, after = row["delivered_before"], row["delivered_after"]
        slower = before / max(after, before / 100) if before else 0.0
        late_before, late_after = row["p99_before_ns"], row["p99_after_ns"]
        later = late_after / max(late_before, 1_000_000) if late_before is not None and late_after is not None else 0.0
        return float(max(slower, later))

    worst = max(rows, key=change, default=None)
    if worst is None or change(worst) < WORTH_TELLING:
        return
    who = worst["client"] or worst["scope"]
    what = worst["cause"] or worst["kind"].replace("_", " ")
    parts = []
    if worst["delivered_before"]:
        rates = [text.rate(worst[name]) for name in ("delivered_before", "delivered_after")]
        parts.append(f"deliveries went from {rates[0]} to {rates[1]} a second")
    if worst["p99_before_ns"] is not None and worst["p99_after_ns"] is not None:
        parts.append(f"p99 from {text.duration(worst['p99_before_ns'])} to {text.duration(worst['p99_after_ns'])}")
    if worst["behind_after"] is not None and worst["behind_after"] > (worst["behind_before"] or 0):
        parts.append(
            f"the backlog from {text.count(worst['behind_before'] or 0)} to {text.count(worst['behind_after'])}"
        )
    scope = f" in {worst['scope']}" if worst["scope"] else ""
    sentence = f"Within {text.duration(worst['window_ns'])}{scope}, {text.listed(parts)}."
    headline = f"{worst['kind'].replace('_', ' ').capitalize()} at {text.clock(worst['time_ns'])}: {what}"
    yield Finding(
        INFO, headline + (f" ({who})" if who and who not in what else ""), sentence, "events", worst["time_ns"]
    )


def late(rows: Rows, groups: Rows) -> Iterator[Finding]:
    """How long did messages take?"""
    whole = next((row for row in rows if row["measure"] == "delivered"), None)
    if whole is None:
        return
    half = f"within {text.duration(whole['p50_ns'])}" if whole["p50_ns"] else "at once"
    headline = f"Half of the messages were delivered {half}, 99{text.NBSP}% within {text.duration(whole['p99_ns'])}"
    if not whole["p99_ns"]:
        headline = f"99{text.NBSP}% of the messages were delivered at once"
    slowest = max((row for row in groups if row["measure"] == "delivered"), key=lambda row: row["p99_ns"])
    detail = f"Slowest is {slowest['group']} on {slowest['topic']}: p99 {text.duration(slowest['p99_ns'])}."
    yield Finding(INFO, headline, detail, "latency")


def replayed(rows: Rows, groups: Rows, over_time: Rows) -> Iterator[Finding]:
    """Which groups read what was published before they were there? Their wait is nobody's delay."""
    whole = next((row for row in rows if row["measure"] == "replayed"), None)
    if whole is None:
        return
    theirs = sorted((row for row in groups if row["measure"] == "replayed"), key=lambda row: -row["messages"])
    names = text.listed(sorted({row["group"] for row in theirs}))
    first = min((row["start_ns"] for row in over_time if row["measure"] == "replayed"), default=None)
    yield Finding(
        INFO,
        f"{names} read {text.plural(whole['messages'], 'message')} from before its time"
        if len({row["group"] for row in theirs}) == 1
        else f"{names} read {text.plural(whole['messages'], 'message')} from before their time",
        f"They were up to {text.duration(whole['max_ns'])} old when they were read. They are left out of the latency "
        "above and have lines of their own.",
        "latency",
        first,
    )
