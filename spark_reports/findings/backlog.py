"""Findings about what waits: backlogs that grow, and groups that were behind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spark_reports.findings.finding import INFO, WARN, Finding, Harm, Row, Rows
from spark_reports.findings.hot_key import HotKey
from spark_reports.page import text
from spark_reports.scale import Scale

TAILS = (0.5, 0.25, 0.1)  # of the session: what rises all along one is still growing
FEWEST_BUCKETS = 8
STRAIGHT = 0.6  # of its variation that a line explains
FEWEST_MORE = 20  # messages
MORE_SHARE = 0.2  # of where it began
BUSY = 0.95
SOON_BUCKETS = 12
UNUSED = 0.6  # of the time with something in hand
Series = NDArray[np.float64]
Place = tuple[str, str]  # queue and "", or group and topic


class Growth(NamedTuple):
    """A tail of a session, `share` of it: where its line begins and ends, and how many messages a bucket it rises."""

    share: float
    first: float
    last: float
    slope: float


def growth(values: Series) -> Growth | None:
    """The longest tail along which `values`, one a bucket, rise: as a line that explains them, in each half of it, and
    to where they stand at the end. None where they do not; two points are no slope.
    """
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
    waiting: Mapping[Place, Series], lag_series: Rows, consumers: Rows,
    throughput: Rows, markers: Rows, hot: HotKey | None, scale: Scale,
) -> Iterator[Finding]:  # fmt: skip
    """Backlogs that were still growing at the end, and the group with the most lag."""
    told = []
    grown = {place: found for place, series in waiting.items() if (found := growth(series)) is not None}
    for place, one in sorted(grown.items(), key=lambda item: item[1].first - item[1].last)[:2]:
        told.append(place[0])
        yield _growing(place, one, waiting[place], lag_series, consumers, throughput, hot, scale)
    yield from _furthest([row for row in lag_series if row["group"] not in told], waiting, markers, hot, scale)


def _growing(
    place: Place, one: Growth, series: Series, lag_series: Rows, consumers: Rows,
    throughput: Rows, hot: HotKey | None, scale: Scale,
) -> Finding:  # fmt: skip
    name, topic = place
    since_ns = scale.to_ns - int(scale.duration_ns * one.share)
    tail_s = (scale.to_ns - since_ns) / 1e9
    per_s = one.slope / (scale.width_ns / 1e9)
    partitions = [row for row in lag_series if (row["group"], row["topic"]) == place]
    among = f", in its {len(partitions)} partitions together" if len(partitions) > 1 else ""
    stood = text.plural(round(series[-1]), "message") + (" behind" if topic else " waited")
    came = [
        row["messages_per_s"] or 0.0
        for row in throughput
        if row["dimension"] == "topic" and row["name"] == (topic or name) and row["start_ns"] >= since_ns
    ]
    buckets = max(1, -(-(scale.to_ns - since_ns) // scale.width_ns))
    rate = sum(came) / buckets
    detail = f"Over the last {text.duration(tail_s * 1e9)} it rose by {text.rate(per_s)} a second"
    detail += f", while {text.rate(rate)} a second came in." if rate else "."
    finding = Finding(
        WARN,
        (f"The lag of {name} on {topic}" if topic else name) + f" was still growing at the end: {stood}{among}",
        detail,
        "lag" if topic else "queues",
        since_ns,
        "growing",
        _readers(name, consumers),
        _spread(name, consumers),
        harm=_harm(series, scale),
    )
    return hot.explain(finding) if topic and hot and hot.explains(name, topic) else finding


def _readers(group: str, consumers: Rows) -> str:
    """How busy those were who read it: it tells more readers from other readers."""
    mine = [row for row in consumers if row["group"] == group and row["delivered"]]
    if not mine:
        return "Nobody read it."
    busy = [row["client"] for row in mine if row["utilisation"] >= BUSY]
    least, most = (pick(mine, key=lambda row: row["utilisation"]) for pick in (min, max))
    if len(busy) == len(mine):
        who = "Its reader was" if len(mine) == 1 else f"All {len(mine)} of its readers were"
        return f"{who} busy at least {text.share(BUSY)} of the time, and had no reserve."
    if busy:
        had = f"{text.listed(busy)} had no reserve"
        return f"{had}; {least['client']} was busy {text.share(least['utilisation'])} of the time."
    shares = " to ".join(dict.fromkeys(text.share(one["utilisation"]) for one in (least, most)))
    return f"Its {text.plural(len(mine), 'reader')} had something in hand {shares} of the time."


def _spread(group: str, consumers: Rows) -> str:
    """What to do where one reader has all the work: others do not help it."""
    used = [row["utilisation"] for row in consumers if row["group"] == group and row["delivered"]]
    if used and max(used) >= BUSY and min(used) < UNUSED:
        return "Share the load out first (keys, partitions): other readers have time left, and more of them would too."
    return ""


def _harm(series: Series, scale: Scale) -> Harm:
    """The area under the curve is message-seconds of waiting, and its highest point the number of waiting messages."""
    return Harm(at_once=round(float(series.max())), message_s=float(series.sum()) * scale.width_ns / 1e9)


def _furthest(
    rows: Rows, waiting: Mapping[Place, Series], markers: Rows, hot: HotKey | None, scale: Scale
) -> Iterator[Finding]:
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
    resets = [
        row["time_ns"]
        for row in markers
        if (row["kind"], row["group"]) == ("offsets_reset", worst["group"])
        and 0 <= worst["max_lag_ns"] - row["time_ns"] <= SOON_BUCKETS * scale.width_ns
    ]
    series = waiting.get((worst["group"], worst["topic"]))
    # A reader that goes back reads messages again: they have not waited.
    harm = Harm() if series is None or resets else _harm(series, scale)
    why = f"Its offsets were reset at {text.clock(resets[-1])}." if resets else ""
    finding = Finding(INFO, headline, detail, "lag", worst["max_lag_ns"], "" if resets else "behind", why, harm=harm)
    explained = hot is not None and not resets and hot.explains(worst["group"], worst["topic"])
    yield hot.explain(finding) if hot and explained else finding


def of_partitions(lag_series: Rows, group: str) -> dict[tuple[str, int], Row]:
    """The lag of each partition of a group."""
    return {(row["topic"], row["partition"]): row for row in lag_series if row["group"] == group}
