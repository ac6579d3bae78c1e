from __future__ import annotations

from collections.abc import Iterator

from spark_reports.findings.evidence import HOT_KEY, Evidence, hottest, is_hot
from spark_reports.findings.finding import INFO, WARN, Finding, Harm
from spark_reports.page import text
from spark_reports.rows import grouped

BLOCKED_SHARE = 0.01  # of the session
FAR_BELOW = 0.5  # of a limit, at the highest
FEW_KEYS = 0.5  # of a topic with its ten most frequent keys


def blocked(told: Evidence) -> Iterator[Finding]:
    waits = grouped(told.rows["backpressure"], "client", "topic")
    if not waits:
        return
    sums = {place: sum(row["blocked_ns"] for row in rows) for place, rows in waits.items()}
    (client, topic), blocked_ns = max(sums.items(), key=lambda item: item[1])
    share = blocked_ns / told.scale.duration_ns
    longest = max(waits[client, topic], key=lambda row: row["blocked_ns"])
    detail = f"The longest wait was {text.duration(longest['blocked_ns'])} at {text.clock(longest['from_ns'])}."
    others = len({name for name, _ in waits}) - 1
    if others:
        detail += f" {text.plural(others, 'other producer')} also waited."
    blockers = told.rows["blockers"]
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
        _remedy(told, topic),
        why.strip(),
        harm=Harm(waiting=others + 1, waiting_s=sum(sums.values()) / 1e9),
    )


def _remedy(told: Evidence, topic: str) -> str:
    """A rate limit is raised if its readers have time left; a full topic needs quicker ones if they have none."""
    groups = told.groups_of(topic)
    if not all(map(told.knows, groups)):
        return ""
    idle = not any(map(told.no_reserve, groups))
    if any(row["topic"] == topic and row["reason"] == "rate limit" for row in told.rows["blockers"]):
        return "rate-limit" if idle else ""
    return "" if idle else "blocked"


def unreached(told: Evidence) -> Iterator[Finding]:
    limits = [row for row in told.rows["blockers"] if "rate" in row["reason"]]
    limited = {row[name] for row in limits for name in ("topic", "client")}
    series = grouped(told.rows["throughput_series"], "dimension", "name")
    for dimension, name, per_s in told.settings.rate_limits():
        peaks = [row["peak_messages_per_s"] or 0.0 for row in series.get((dimension, name), ())]
        if peaks and name not in limited and max(peaks) < FAR_BELOW * per_s:
            yield Finding(
                INFO,
                f"The rate limit of {name} was never reached",
                f"It allows {text.per_second(per_s)}; at most {text.per_second(max(peaks))} came.",
                "backpressure",
            )


def uneven(told: Evidence) -> Iterator[Finding]:
    queues, keys = {row["queue"] for row in told.rows["queues"]}, told.rows["hot_keys"]
    found = hottest([row for row in told.rows["partitions"] if row["topic"] not in queues], keys)
    if found is None:
        return
    row, key = found
    headline = f"Partition {row['partition']} of {row['topic']} carried {text.share(row['share'])} of its messages"
    detail = f"That is {row['times_even']:.1f} times its fair share."
    hot = key is not None and is_hot(key)
    why = ""
    if key is not None:
        headline += f": key {key['key']}" if hot else ""
        least = "at least " if row["keys_not_read"] else ""
        why = f"The key {key['key']} alone is {least}{text.share(key['share_of_partition'])} of the partition."
    elif row["keys_not_read"]:
        why = f"The keys of {text.plural(row['keys_not_read'], 'message')} there were not read."
    # Of a few keys that make up most of a topic more would spread it; without keys it is not known what would.
    few = sum(one["share_of_topic"] or 0 for one in keys if one["topic"] == row["topic"]) >= FEW_KEYS
    yield Finding(INFO, headline, detail, "keys", kind=HOT_KEY if hot else "skew" if key and few else "", why=why)
