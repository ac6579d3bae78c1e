from __future__ import annotations

from collections.abc import Iterator

from spark_reports.findings.finding import INFO, WARN, Finding, Harm, Rows
from spark_reports.findings.hot_key import KIND, hottest, is_hot
from spark_reports.findings.settings import Settings
from spark_reports.findings.use import Use
from spark_reports.page import text
from spark_reports.scale import Scale

BLOCKED_SHARE = 0.01  # of the session
FAR_BELOW = 0.5  # of a limit, at the highest
FEW_KEYS = 0.5  # of a topic with its ten most frequent keys


def blocked(rows: Rows, blockers: Rows, use: Use, scale: Scale) -> Iterator[Finding]:
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
        _remedy(topic, blockers, use),
        why.strip(),
        harm=Harm(waiting=others + 1, waiting_s=sum(waits.values()) / 1e9),
    )


def _remedy(topic: str, blockers: Rows, use: Use) -> str:
    """A rate limit is raised where its readers have time left; a full topic needs quicker ones if they have none."""
    if not all(map(use.knows, use.groups_of(topic))):
        return ""
    idle = [group for group in use.groups_of(topic) if not use.no_reserve(group)]
    if any(row["topic"] == topic and row["reason"] == "rate limit" for row in blockers):
        return "rate-limit" if idle == use.groups_of(topic) else ""
    return "" if idle == use.groups_of(topic) else "blocked"


def unreached(series: Rows, blockers: Rows, settings: Settings) -> Iterator[Finding]:
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
            )


def uneven(partitions: Rows, keys: Rows) -> Iterator[Finding]:
    found = hottest(partitions, keys)
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
    yield Finding(INFO, headline, detail, "keys", kind=KIND if hot else "skew" if key and few else "", why=why)
