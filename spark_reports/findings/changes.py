from __future__ import annotations

import re
from collections.abc import Iterator

from spark_reports.findings.evidence import Evidence
from spark_reports.findings.finding import INFO, WARN, Finding, Harm
from spark_reports.page import text
from spark_reports.rows import Row, grouped

WORTH_TELLING = 2.0  # times as late as before, or half as many
STOPPED = 10.0  # times less published than before
FULL_DISK = "disk full"  # what the fault is called
LATE_FROM_NS = 1_000_000  # later than this is late at all
_ALERT = ("alert_raised", "alert_over")
_ENDED = re.compile(r"restarted\b|.* is over$")  # what the end of a fault is called


def alerted(told: Evidence) -> Iterator[Finding]:
    times_of = grouped(told.rows["markers"], "kind", "cause")
    for name in [cause for kind, cause in times_of if kind == "alert_raised"]:
        times, over = ([row["time_ns"] for row in times_of.get((kind, name), ())] for kind in _ALERT)
        lasted = f"It was over at {text.clock(over[-1])}." if len(over) == len(times) else "It lasted to the end."
        yield Finding(
            WARN,
            f"The alert {name} was raised {text.plural(len(times), 'time')}",
            f"The first time was {text.clock(times[0])}. {lasted}",
            "events",
            times[0],
        )


def disturbed(told: Evidence) -> Iterator[Finding]:
    """Faults and actions after which readers got fewer messages, or later. Fewer deliveries count only as far as no
    fewer were published. That one came of the other is not said.
    """
    effects = told.rows["effects"]
    judged = [(_slower(row, _published(told, row)), _later(row), row) for row in effects]
    slower, later, worst = max(judged, key=lambda one: max(one[0], one[1]), default=(0.0, 0.0, {}))
    if max(slower, later) < WORTH_TELLING:
        return
    before, after = _published(told, worst)
    parts = []
    if worst["delivered_before"] and slower > 1:
        rates = [text.rate(worst[name]) for name in ("delivered_before", "delivered_after")]
        came = [text.rate(before), text.rate(after)]
        parts.append(
            f"deliveries went from {rates[0]} to {rates[1]} a second, while "
            + (f"{came[0]} came in" if came[0] == came[1] else f"what came in went from {came[0]} to {came[1]}")
        )
    if later > 1:
        parts.append(f"p99 from {text.duration(worst['p99_before_ns'])} to {text.duration(worst['p99_after_ns'])}")
    if worst["behind_after"] is not None and worst["behind_after"] > (worst["behind_before"] or 0):
        parts.append(
            f"the backlog from {text.count(worst['behind_before'] or 0)} to {text.count(worst['behind_after'])}"
        )
    who = worst["client"] or worst["scope"]
    what = worst["cause"] or worst["kind"].replace("_", " ")
    scope = f" in {worst['scope']}" if worst["scope"] else ""
    others = [
        row for row in effects if not _same(row, worst) and abs(row["time_ns"] - worst["time_ns"]) <= row["window_ns"]
    ]
    also = sorted({row["cause"] or row["kind"].replace("_", " ") for row in others} - {what})
    headline = f"{worst['kind'].replace('_', ' ').capitalize()} at {text.clock(worst['time_ns'])}: {what}"
    yield Finding(
        INFO,
        headline + (f" ({who})" if who and who not in what else ""),
        f"At the same time, within {text.duration(worst['window_ns'])}{scope}: {text.listed(parts)}.",
        "events",
        worst["time_ns"],
        why=f"Other things also happened then: {text.listed(also)}." if also else "",
    )


def stopped(told: Evidence) -> Iterator[Finding]:
    """Faults of the whole broker, such as a full disk, with which publishing all but stopped: its producers waited."""
    effects, scale = told.rows["effects"], told.scale
    for row in effects:
        before, after = row["published_before"] or 0.0, row["published_after"] or 0.0
        if row["kind"] != "fault" or row["client"] or row["scope"] or not before or after * STOPPED > before:
            continue
        ends = [one["time_ns"] for one in effects if one["cause"] == f"{row['cause']} is over"]
        over_ns = min((end_ns for end_ns in ends if end_ns >= row["time_ns"]), default=None)
        until_ns = scale.to_ns if over_ns is None else over_ns
        published = [one for one in told.rows["throughput"] if one["dimension"] == "producer" and one["messages"]]
        before_ns = range(row["time_ns"] - row["window_ns"], row["time_ns"])
        waiting = {one["name"] for one in published if one["start_ns"] in before_ns}
        waiting -= {one["name"] for one in published if row["time_ns"] < one["start_ns"] < until_ns - scale.width_ns}
        little = "Hardly anything" if after else "Nothing"
        yield Finding(
            WARN,
            f"{little} was published after {text.clock(row['time_ns'])}: {row['cause']}",
            f"At the same time, within {text.duration(row['window_ns'])}, what was published went from "
            f"{text.rate(before)} to {text.rate(after)} a second. "
            + (f"It was over at {text.clock(over_ns)}." if over_ns is not None else "It was not over at the end."),
            "events",
            row["time_ns"],
            kind="full-disk" if row["cause"] == FULL_DISK else "",
            harm=Harm(waiting=len(waiting), waiting_s=len(waiting) * (until_ns - row["time_ns"]) / 1e9),
        )


def _same(row: Row, other: Row) -> bool:
    """Whether both tell of one thing: a fault, the action that began it, and its end."""
    if row is other:
        return True
    if not row["client"] or row["client"] != other["client"]:
        return False
    return bool(row["time_ns"] == other["time_ns"] or any(_ENDED.match(one["cause"] or "") for one in (row, other)))


def _published(told: Evidence, row: Row) -> tuple[float, float]:
    """The rate published before and after, per second: on the topics that were read there, or else on all of them."""
    mine = {one["topic"] for one in told.rows["redeliveries"] if one["group"] == row["scope"]}
    if not mine:
        return row["published_before"] or 0.0, row["published_after"] or 0.0
    scale, width_ns = told.scale, told.scale.width_ns
    at_ns = scale.from_ns + scale.bucket(row["time_ns"]) * width_ns
    first_ns = max(at_ns - row["window_ns"], scale.from_ns)
    end_ns = min(at_ns + row["window_ns"] + width_ns, scale.to_ns)

    def rate(begin_ns: int, before_ns: int) -> float:
        came = (
            one["messages_per_s"] or 0.0
            for one in told.rows["throughput"]
            if one["dimension"] == "topic" and one["name"] in mine and begin_ns <= one["start_ns"] < before_ns
        )
        return sum(came) * width_ns / max(before_ns - begin_ns, width_ns)

    return rate(first_ns, at_ns), rate(at_ns, end_ns)


def _slower(row: Row, published: tuple[float, float]) -> float:
    before, after = row["delivered_before"], row["delivered_after"]
    if not before:
        return 0.0
    fewer = before / max(after, before / 100)
    came_before, came_after = published
    return float(fewer / max(1.0, came_before / max(came_after, came_before / 100))) if came_before else 0.0


def _later(row: Row) -> float:
    before, after = row["p99_before_ns"], row["p99_after_ns"]
    return 0.0 if before is None or after is None else float(after / max(before, LATE_FROM_NS))
