from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

import numpy as np

from spark_reports.findings.evidence import FULL, MORE_READERS, NOTHING, PARTITIONS, SHARING, Evidence, Place, Series
from spark_reports.findings.finding import INFO, WARN, Finding, Harm
from spark_reports.findings.waits import OPEN_TRANSACTION, transaction_of
from spark_reports.page import text
from spark_reports.rows import Rows
from spark_reports.scale import Scale

TAILS = (0.5, 0.25, 0.1)  # of the session: what rises all along one is still growing
FEWEST_BUCKETS = 8
STRAIGHT = 0.6  # of its variation that a line explains
FEWEST_MORE = 20  # messages
MORE_SHARE = 0.2  # of where it began
SOON_BUCKETS = 12
FEWEST_BEHIND = 20  # messages, that it is worth a sentence
_KINDS = {MORE_READERS: "", PARTITIONS: "partition-limit", SHARING: "sharing", NOTHING: ""}


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


def behind(told: Evidence) -> Iterator[Finding]:
    """Backlogs that were still growing at the end, and the group with the most lag."""
    named = []
    grown = {place: found for place, series in told.waiting.items() if (found := growth(series)) is not None}
    for place, one in sorted(grown.items(), key=lambda item: item[1].first - item[1].last)[:2]:
        named.append(place[0])
        yield _growing(told, place, one)
    yield from _furthest(told, [row for row in told.rows["lag_series"] if row["group"] not in named])


def _messages(lag: int, partitions: Rows) -> str:
    """A lag in words: what compaction has removed counts, for no event tells of it."""
    at_most = any(row.get("at_most") for row in partitions)
    return ("at most " if at_most else "") + text.plural(lag, "message")


def _growing(told: Evidence, place: Place, one: Growth) -> Finding:
    (name, topic), scale, series = place, told.scale, told.waiting[place]
    since_ns = scale.to_ns - int(scale.duration_ns * one.share)
    tail_s = (scale.to_ns - since_ns) / 1e9
    per_s = one.slope / (scale.width_ns / 1e9)
    partitions = [row for row in told.rows["lag_series"] if (row["group"], row["topic"]) == place]
    among = f", in its {len(partitions)} partitions together" if len(partitions) > 1 else ""
    stood = _messages(round(series[-1]), partitions) + (" behind" if topic else " waited")
    came = [
        row["messages_per_s"] or 0.0
        for row in told.rows["throughput"]
        if row["dimension"] == "topic" and row["name"] == (topic or name) and row["start_ns"] >= since_ns
    ]
    buckets = max(1, -(-(scale.to_ns - since_ns) // scale.width_ns))
    rate = sum(came) / buckets
    detail = f"Over the last {text.duration(tail_s * 1e9)} it rose by {text.rate(per_s)} a second"
    detail += f", while {text.rate(rate)} a second came in." if rate else "."
    helps = told.helps(name, since_ns, scale.to_ns)
    waited = transaction_of(told, name, topic, scale.to_ns, 0)
    finding = Finding(
        WARN,
        (f"The lag of {name} on {topic}" if topic else name) + f" was still growing at the end: {stood}{among}",
        detail,
        "lag" if topic else "queues",
        since_ns,
        OPEN_TRANSACTION if waited else "growing" if helps == MORE_READERS else _KINDS[helps],
        waited or _readers(told, name, since_ns),
        harm=_harm(series, scale),
    )
    return told.explained(finding, name, topic) if topic else finding


def _readers(told: Evidence, group: str, since_ns: int) -> str:
    """How busy those were who read it, meanwhile: it tells more readers from other readers."""
    if not told.has_consumers:
        return ""
    if not told.readers(group):
        return "Nobody read it."
    shares = told.between(group, since_ns, told.scale.to_ns)
    busy = [client for client, one in shares.items() if one >= FULL]
    if not shares:
        return "Nobody read it then."
    if not told.knows(group):
        return "How busy its readers were is not known: they are external programs, which fetch ahead."
    if len(busy) == len(shares):
        who = "Its reader was" if len(shares) == 1 else f"All {len(shares)} of its readers were"
        return f"{who} busy at least {text.share(FULL)} of that time, and had no capacity to spare."
    least = min(shares, key=lambda client: shares[client])
    if busy:
        had = f"{text.listed(busy)} had no capacity to spare then"
        return f"{had}; {least} was busy {text.share(shares[least])} of that time."
    return f"Its {text.plural(len(shares), 'reader')} had something in hand {_ends(shares.values())} of that time."


def _ends(shares: Collection[float]) -> str:
    return " to ".join(dict.fromkeys(text.share(pick(shares)) for pick in (min, max)))


def _harm(series: Series, scale: Scale) -> Harm:
    """The area under the curve is message-seconds of waiting, and its highest point the number of waiting messages."""
    return Harm(at_once=round(float(series.max())), message_s=float(series.sum()) * scale.width_ns / 1e9)


def _furthest(told: Evidence, rows: Rows) -> Iterator[Finding]:
    """On which partition a group fell furthest behind, as seen at the ends of time buckets."""
    worst = max((row for row in rows if row["max_lag"]), key=lambda row: row["max_lag"], default=None)
    if worst is None or worst["max_lag"] < FEWEST_BEHIND:
        return
    group, at_ns, scale = worst["group"], worst["max_lag_ns"], told.scale
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
    detail = f"Measured every {often}, it was worst at {text.clock(at_ns)}. {end}"
    soon_ns = SOON_BUCKETS * scale.width_ns
    resets = [
        row["time_ns"]
        for row in told.rows["markers"]
        if (row["kind"], row["group"]) == ("offsets_reset", group) and 0 <= at_ns - row["time_ns"] <= soon_ns
    ]
    place = (group, worst["topic"], worst["partition"])
    unread = [
        row
        for row in told.rows["unserved"]
        if (row["group"], row["topic"], row["partition"]) == place
        and at_ns - soon_ns <= row["to_ns"] <= at_ns + soon_ns
    ]
    waited = transaction_of(told, group, worst["topic"], at_ns, soon_ns)
    series = told.waiting.get((group, worst["topic"]))
    # A reader that goes back reads messages again: they have not waited.
    harm = Harm() if series is None or resets else _harm(series, scale)
    helps = told.helps(group, at_ns - soon_ns, at_ns)
    kind, why = "behind" if helps == MORE_READERS else _KINDS[helps], _readers_then(told, group, at_ns - soon_ns, at_ns)
    if resets:
        kind, why = "", f"Its offsets were reset at {text.clock(resets[-1])}."
    elif waited:
        kind, why = OPEN_TRANSACTION, waited
    elif unread:
        longest = max(unread, key=lambda row: row["pause_ns"])
        kind, why = "", f"Nobody read the partition for {text.duration(longest['pause_ns'])} before."
    finding = Finding(INFO, headline, detail, "lag", at_ns, kind, why, harm=harm)
    yield finding if resets else told.explained(finding, group, worst["topic"])


def _readers_then(told: Evidence, group: str, from_ns: int, to_ns: int) -> str:
    shares = told.between(group, from_ns, to_ns).values()
    if not shares:
        return ""
    return f"Just before, its {text.plural(len(shares), 'reader')} had something in hand {_ends(shares)} of the time."
