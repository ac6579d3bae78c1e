from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spark_reports.findings.finding import INFO, WARN, Finding, Harm, Row, Rows
from spark_reports.findings.hot_key import HotKey
from spark_reports.findings.transactions import KIND, cause
from spark_reports.findings.use import FULL, MORE_READERS, NOTHING, PARTITIONS, SHARING, Use
from spark_reports.page import text
from spark_reports.scale import Scale

TAILS = (0.5, 0.25, 0.1)  # of the session: what rises all along one is still growing
FEWEST_BUCKETS = 8
STRAIGHT = 0.6  # of its variation that a line explains
FEWEST_MORE = 20  # messages
MORE_SHARE = 0.2  # of where it began
BUSY = 0.95
SOON_BUCKETS = 12
FEWEST_BEHIND = 20  # messages, that it is worth a sentence
_KINDS = {MORE_READERS: "", PARTITIONS: "partition-limit", SHARING: "sharing", NOTHING: ""}
Series = NDArray[np.float64]
Place = tuple[str, str]  # queue and "", or group and topic


class Growth(NamedTuple):
    """A tail of a session, `share` of it: where its line begins and ends, and how many messages a bucket it rises."""

    share: float
    first: float
    last: float
    slope: float


def growth(values: Series) -> Growth | None:
    """The longest tail along which `values`, one a bucket, rise like a line in both halves up to their end, if any."""
    for share in TAILS:
        size = int(len(values) * share)
        if size < FEWEST_BUCKETS:
            return None
        tail = values[-size:]
        slope, first, explained = _line(tail)
        last = first + slope * (size - 1)
        halves = (_line(tail[: size // 2])[0], _line(tail[size // 2 :])[0])
        rises = slope > 0 and explained >= STRAIGHT and min(halves) > 0
        much = last - first >= max(FEWEST_MORE, MORE_SHARE * max(first, 0.0))
        before = values[:-size]
        highest = tail[-1] >= 0.8 * values.max() and not (before.size and before.max() > last)  # else it is a wave
        if rises and much and highest:
            return Growth(share, max(first, 0.0), last, slope)
    return None


def _line(values: Series) -> tuple[float, float, float]:
    """Slope, beginning, and the share of the variation that a straight line explains, by least squares."""
    at = np.arange(len(values)) - (len(values) - 1) / 2
    slope = float((at * values).sum() / (at * at).sum())
    middle = float(values.mean())
    whole = float(((values - middle) ** 2).sum())
    explained = slope * slope * float((at * at).sum()) / whole if whole else 0.0
    return slope, middle - slope * (len(values) - 1) / 2, explained


def totals(queues: Rows, lag: Rows, scale: Scale) -> dict[Place, Series]:
    """What waits in each queue, and what each group is behind on a topic in all, one number a bucket."""
    found: dict[Place, Series] = {}
    for rows, names, value in ((queues, ("queue", ""), "waiting"), (lag, ("group", "topic"), "lag")):
        for row in rows:
            place = (row[names[0]], row[names[1]] if names[1] else "")
            series = found.setdefault(place, np.zeros(scale.buckets))
            series[scale.bucket(row["start_ns"])] += row[value] or 0
    return found


def behind(
    waiting: Mapping[Place, Series], lag_series: Rows, use: Use,
    throughput: Rows, markers: Rows, unserved: Rows, stable_waits: Rows, hot: HotKey | None, scale: Scale,
) -> Iterator[Finding]:  # fmt: skip
    """Backlogs that were still growing at the end, and the group with the most lag."""
    told = []
    grown = {place: found for place, series in waiting.items() if (found := growth(series)) is not None}
    for place, one in sorted(grown.items(), key=lambda item: item[1].first - item[1].last)[:2]:
        told.append(place[0])
        yield _growing(place, one, waiting[place], lag_series, use, throughput, stable_waits, hot, scale)
    rest = [row for row in lag_series if row["group"] not in told]
    yield from _furthest(rest, waiting, use, markers, unserved, stable_waits, hot, scale)


def _messages(lag: int, partitions: Rows) -> str:
    """A lag in words: what compaction has removed counts, for no event tells of it."""
    at_most = any(row.get("at_most") for row in partitions)
    return ("at most " if at_most else "") + text.plural(lag, "message")


def _growing(
    place: Place, one: Growth, series: Series, lag_series: Rows, use: Use,
    throughput: Rows, stable_waits: Rows, hot: HotKey | None, scale: Scale,
) -> Finding:  # fmt: skip
    name, topic = place
    since_ns = scale.to_ns - int(scale.duration_ns * one.share)
    tail_s = (scale.to_ns - since_ns) / 1e9
    per_s = one.slope / (scale.width_ns / 1e9)
    partitions = [row for row in lag_series if (row["group"], row["topic"]) == place]
    among = f", in its {len(partitions)} partitions together" if len(partitions) > 1 else ""
    stood = _messages(round(series[-1]), partitions) + (" behind" if topic else " waited")
    came = [
        row["messages_per_s"] or 0.0
        for row in throughput
        if row["dimension"] == "topic" and row["name"] == (topic or name) and row["start_ns"] >= since_ns
    ]
    buckets = max(1, -(-(scale.to_ns - since_ns) // scale.width_ns))
    rate = sum(came) / buckets
    detail = f"Over the last {text.duration(tail_s * 1e9)} it rose by {text.rate(per_s)} a second"
    detail += f", while {text.rate(rate)} a second came in." if rate else "."
    helps = use.helps(name, since_ns, scale.to_ns)
    waited = cause(stable_waits, name, topic, scale.to_ns, 0)
    finding = Finding(
        WARN,
        (f"The lag of {name} on {topic}" if topic else name) + f" was still growing at the end: {stood}{among}",
        detail,
        "lag" if topic else "queues",
        since_ns,
        KIND if waited else "growing" if helps == MORE_READERS else _KINDS[helps],
        waited or _readers(name, use, since_ns, scale),
        harm=_harm(series, scale),
    )
    return hot.explain(finding) if topic and hot and hot.explains(name, topic) else finding


def _readers(group: str, use: Use, since_ns: int, scale: Scale) -> str:
    """How busy those were who read it, meanwhile: it tells more readers from other readers."""
    if not use.told:
        return ""
    if not use.readers(group):
        return "Nobody read it."
    shares = use.between(group, since_ns, scale.to_ns)
    busy = [client for client, one in shares.items() if one >= FULL]
    if not shares:
        return "Nobody read it then."
    if not use.knows(group):
        return "How busy its readers were is not known: they are programs of their own, which fetch ahead."
    if len(busy) == len(shares):
        who = "Its reader was" if len(shares) == 1 else f"All {len(shares)} of its readers were"
        return f"{who} busy at least {text.share(FULL)} of that time, and had no reserve."
    least = min(shares, key=lambda client: shares[client])
    if busy:
        had = f"{text.listed(busy)} had no reserve then"
        return f"{had}; {least} was busy {text.share(shares[least])} of that time."
    ends = " to ".join(dict.fromkeys(text.share(pick(shares.values())) for pick in (min, max)))
    return f"Its {text.plural(len(shares), 'reader')} had something in hand {ends} of that time."


def _harm(series: Series, scale: Scale) -> Harm:
    """The area under the curve is message-seconds of waiting, and its highest point the number of waiting messages."""
    return Harm(at_once=round(float(series.max())), message_s=float(series.sum()) * scale.width_ns / 1e9)


def _furthest(
    rows: Rows, waiting: Mapping[Place, Series], use: Use,
    markers: Rows, unserved: Rows, stable_waits: Rows, hot: HotKey | None, scale: Scale,
) -> Iterator[Finding]:  # fmt: skip
    """On which partition a group fell furthest behind, as seen at the ends of time buckets."""
    worst = max((row for row in rows if row["max_lag"]), key=lambda row: row["max_lag"], default=None)
    if worst is None or worst["max_lag"] < FEWEST_BEHIND:
        return
    group, at_ns = worst["group"], worst["max_lag_ns"]
    theirs = [row for row in rows if row["group"] == group]
    headline = (
        f"{group} fell {_messages(worst['max_lag'], [worst])} behind on "
        f"{'one partition, ' if len(theirs) > 1 else ''}{text.place(worst['topic'], worst['partition'])}"
    )
    left = sum(row["last_lag"] or 0 for row in theirs)
    end = "It had caught up by the end."
    if left:
        among = f", in its {len(theirs)} partitions together" if len(theirs) > 1 else ""
        end = f"At the end the group was {_messages(left, theirs)} behind{among}."
    often = text.duration(scale.width_ns)
    detail = f"Looked at every {often}, it was worst at {text.clock(at_ns)}. {end}"
    soon_ns = SOON_BUCKETS * scale.width_ns
    resets = [
        row["time_ns"]
        for row in markers
        if (row["kind"], row["group"]) == ("offsets_reset", group) and 0 <= at_ns - row["time_ns"] <= soon_ns
    ]
    place = (group, worst["topic"], worst["partition"])
    unread = [
        row
        for row in unserved
        if (row["group"], row["topic"], row["partition"]) == place
        and at_ns - soon_ns <= row["to_ns"] <= at_ns + soon_ns
    ]
    waited = cause(stable_waits, group, worst["topic"], at_ns, soon_ns)
    series = waiting.get((group, worst["topic"]))
    # A reader that goes back reads messages again: they have not waited.
    harm = Harm() if series is None or resets else _harm(series, scale)
    helps = use.helps(group, at_ns - soon_ns, at_ns)
    kind, why = "behind" if helps == MORE_READERS else _KINDS[helps], _readers_then(group, use, at_ns - soon_ns, at_ns)
    if resets:
        kind, why = "", f"Its offsets were reset at {text.clock(resets[-1])}."
    elif waited:
        kind, why = KIND, waited
    elif unread:
        longest = max(unread, key=lambda row: row["pause_ns"])
        kind, why = "", f"Nobody read the partition for {text.duration(longest['pause_ns'])} before."
    finding = Finding(INFO, headline, detail, "lag", at_ns, kind, why, harm=harm)
    explained = hot is not None and not resets and hot.explains(group, worst["topic"])
    yield hot.explain(finding) if hot and explained else finding


def _readers_then(group: str, use: Use, from_ns: int, to_ns: int) -> str:
    shares = use.between(group, from_ns, to_ns).values()
    ends = " to ".join(dict.fromkeys(text.share(pick(shares)) for pick in (min, max))) if shares else ""
    return (
        f"Just before, its {text.plural(len(shares), 'reader')} had something in hand {ends} of the time."
        if ends
        else ""
    )


def of_partitions(lag_series: Rows, group: str) -> dict[tuple[str, int], Row]:
    """The lag of each partition of a group."""
    return {(row["topic"], row["partition"]): row for row in lag_series if row["group"] == group}
