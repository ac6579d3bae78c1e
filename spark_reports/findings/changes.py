from __future__ import annotations

from collections.abc import Iterator

from spark_reports import text
from spark_reports.findings.evidence import Evidence
from spark_reports.findings.finding import INCIDENT, WARN, Finding, Harm
from spark_reports.rows import grouped

STOPPED = 10.0  # times less published than before
NEAR = 12  # buckets before and after, a twentieth of a session
FULL_DISK = "disk full"  # what the fault is called
_ALERT = ("alert_raised", "alert_over")


def alerted(evidence: Evidence) -> Iterator[Finding]:
    times_of = grouped(evidence.rows["markers"], "kind", "cause")
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


def broken_cluster(evidence: Evidence) -> Iterator[Finding]:
    """Each incident of a cluster, in the words in which the window tells it."""
    for row in evidence.rows["cluster"]:
        if row["kind"] == "incident":
            first, _, rest = row["cause"].partition("; ")
            first, rest = (f"{part[:1].upper()}{part[1:]}" for part in (first, rest))
            yield Finding(WARN, first, f"{rest}." if rest else "", "cluster", row["began_ns"], INCIDENT)


def stopped(evidence: Evidence) -> Iterator[Finding]:
    """Faults of the whole broker, such as a full disk, with which publishing all but stopped: its producers waited."""
    scale = evidence.scale
    markers = evidence.rows["markers"]
    faults = [row for row in markers if row["kind"] == "fault" and not row["client"] and not row["group"]]
    published = [one for one in evidence.rows["throughput"] if one["dimension"] == "producer" and one["messages"]]
    per_s = evidence.series(published, "messages") / scale.width_ns * 1e9
    for row in faults:
        at = scale.bucket(row["time_ns"])
        before, after = (
            float(per_s[part].mean()) if per_s[part].size else 0.0
            for part in (slice(max(0, at - NEAR), at), slice(at, at + NEAR))
        )
        if not before or after * STOPPED > before:
            continue
        ends = [one["time_ns"] for one in faults if one["cause"] == f"{row['cause']} is over"]
        over_ns = min((end_ns for end_ns in ends if end_ns >= row["time_ns"]), default=None)
        until_ns = scale.to_ns if over_ns is None else over_ns
        before_ns = range(row["time_ns"] - NEAR * scale.width_ns, row["time_ns"])
        waiting = {one["name"] for one in published if one["start_ns"] in before_ns}
        waiting -= {one["name"] for one in published if row["time_ns"] < one["start_ns"] < until_ns - scale.width_ns}
        little = "Hardly anything" if after else "Nothing"
        yield Finding(
            WARN,
            f"{little} was published after {text.clock(row['time_ns'])}: {row['cause']}",
            f"At the same time, within {text.duration(NEAR * scale.width_ns)}, what was published went from "
            f"{text.rate(before)} to {text.rate(after)} a second. "
            + (f"It was over at {text.clock(over_ns)}." if over_ns is not None else "It was not over at the end."),
            "events",
            row["time_ns"],
            kind="full-disk" if row["cause"] == FULL_DISK else "",
            harm=Harm(waiting=len(waiting), waiting_s=len(waiting) * (until_ns - row["time_ns"]) / 1e9),
        )
