from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from spark_reports.findings.backlog import BUSY, Place, Series, of_partitions
from spark_reports.findings.finding import INFO, WARN, Finding, Harm, Row, Rows
from spark_reports.findings.hot_key import HotKey
from spark_reports.findings.settings import Settings
from spark_reports.findings.use import FULL, Use, share
from spark_reports.page import text
from spark_reports.scale import Scale

HOLDS_BACK = 3.0  # times the lag of the others, a partition
FEWEST_BEHIND = 20  # messages
EVEN = 1.3  # times its fair share of what is published: below it the load is no reason
IDLE_THOUGH = 0.85  # of the time with a message in hand, while others wait
WAITING_SHARE = 0.5  # of the time


def held_back(
    consumers: Rows, use: Use, ownership: Rows, lag_series: Rows, partitions: Rows, scale: Scale
) -> Iterator[Finding]:
    """Whose partitions are far behind those of the others in its group, though no more comes in there?"""
    load = {(row["topic"], row["partition"]): row["times_even"] for row in partitions}
    for group in sorted({row["group"] for row in lag_series}):
        lags = of_partitions(lag_series, group)
        owners = {(row["topic"], row["partition"]): row for row in ownership if row["group"] == group}  # the last one
        mine: dict[str, list[Row]] = {}
        for place, row in lags.items():
            if place in owners:
                mine.setdefault(owners[place]["client"], []).append(row)
        if len(mine) < 2 or not use.knows(group):  # who commits now and then is no slower
            continue
        means = {client: sum(row["mean_lag"] or 0 for row in rows) / len(rows) for client, rows in mine.items()}
        slow = max(means, key=lambda client: means[client])
        others = [mean for client, mean in means.items() if client != slow]
        usual = sum(others) / len(others)
        heavy = max(load.get((row["topic"], row["partition"]), 1.0) for row in mine[slow]) > EVEN
        if heavy or means[slow] < max(FEWEST_BEHIND, HOLDS_BACK * usual):
            continue
        seen = next((row for row in consumers if (row["group"], row["client"]) == (group, slow)), None)
        busy = f" It was busy {text.share(seen['utilisation'])} of the time." if seen else ""
        free = [share(row) for row in consumers if row["group"] == group and row["client"] in mine.keys() - {slow}]
        behind = round(sum(row["mean_lag"] or 0 for row in mine[slow]))
        yield Finding(
            WARN,
            f"{slow} holds {group} back",
            f"Its {text.plural(len(mine[slow]), 'partition')} {'is' if len(mine[slow]) == 1 else 'are'} "
            f"{text.count(means[slow])} messages behind on average, those of the others {text.count(usual)}.",
            "consumers",
            kind="slow-reader" if free and max(free) < FULL else "",
            why=f"No more came in there than elsewhere.{busy}",
            harm=Harm(at_once=behind, message_s=behind * scale.duration_ns / 1e9),
        )


def too_many(consumers: Rows, lag_series: Rows, use: Use, hot: HotKey | None, scale: Scale) -> Iterator[Finding]:
    """In which group are more members than partitions, while those that have some are busy and cannot keep up?"""
    for group in sorted({row["group"] for row in lag_series}):
        there = [row for row in consumers if row["group"] == group and _stayed(row, scale)]
        without = [row["client"] for row in there if row["with_partitions_ns"] == 0]
        lags = of_partitions(lag_series, group)
        behind = sum(row["last_lag"] or 0 for row in lags.values())
        late_ns = scale.to_ns - scale.duration_ns // 4
        busy = max(use.between(group, late_ns, scale.to_ns).values(), default=0.0) >= FULL
        busy = busy and use.knows(group)
        if without and len(there) > len(lags) and behind >= FEWEST_BEHIND and busy:
            finding = Finding(
                WARN,
                f"{group} cannot grow: {text.plural(len(lags), 'partition')} for {len(there)} members",
                f"{text.listed(without)} had no partition, while the group was {text.plural(behind, 'message')} behind "
                "at the end.",
                "consumers",
                kind="partition-limit",
                harm=Harm(at_once=behind, message_s=_message_s(lags.values(), scale)),
            )
            yield hot.explain(finding) if hot and hot.explains(group) else finding


def _message_s(lags: Iterable[Row], scale: Scale) -> float:
    return sum(row["mean_lag"] or 0 for row in lags) * scale.duration_ns / 1e9


def _stayed(row: Row, scale: Scale) -> bool:
    return bool(row["there_ns"] >= scale.duration_ns / 4)


def did_nothing(rows: Rows, told: frozenset[str], hot: HotKey | None, scale: Scale) -> Iterator[Finding]:
    """Readers that were present for most of the time and read nothing, without those of other findings (`told`)."""
    idle = [row for row in rows if _stayed(row, scale) and not row["delivered"] and row["client"] not in told]
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
    finding = Finding(INFO, f"{names} did nothing", f"{text.listed(reasons)}.", "consumers", kind="idle")
    explained, others = hot.groups() if hot else ([], [])
    theirs = {row["group"] for row in idle if row["group"]}
    if hot and explained and not others and theirs <= set(explained):
        group = text.listed(explained)
        advice = f"Take it away, or split the hot key {hot.key} first: until then more members do not help {group}."
        finding = hot.explain(finding, advice)
    yield finding


def overloaded(rows: Rows, use: Use, hot: HotKey | None, scale: Scale) -> Iterator[Finding]:
    """Readers that always had a message in hand, apart from those whom the hot key keeps busy."""
    busy = [row for row in rows if row["utilisation"] >= BUSY and row["delivered"] and not row["outside"]]
    kept = [row for row in busy if hot and (row["group"], row["client"]) in hot.owners and hot.explains(row["group"])]
    yield from _busy([row for row in busy if row not in kept], use, scale.to_ns)
    if hot:
        yield from (hot.explain(finding) for finding in _busy(kept, use, scale.to_ns))


def _busy(busy: Rows, use: Use, end_ns: int) -> Iterator[Finding]:
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
        groups = {row["group"] for row in busy}
        filled = sorted(group for group in groups if not use.room_for_more(group, end_ns))
        advice = "It has no reserve: any peak becomes lag. Make the work shorter"
        advice += ", or add another." if not filled else "."
        if filled:
            advice += f" In {text.listed(filled)} each partition has its reader: another would be given none."
        yield Finding(INFO, headline, detail, "consumers", kind="busy", advice=advice)


def hands_free(
    consumers: Rows, redeliveries: Rows, waiting: Mapping[Place, Series],
    settings: Settings, scale: Scale,
) -> Iterator[Finding]:  # fmt: skip
    """Queues whose messages waited while workers had none in hand; retries wait on purpose, and are left out."""
    again = {row["group"] for row in redeliveries if row["attempt"] > 1 and row["delivered"]}
    for (queue, topic), series in waiting.items():
        mine = [row for row in consumers if row["group"] == queue and row["delivered"]]
        waited = float((series > 0).mean())
        if topic or queue in again or not mine or any(row["outside"] for row in mine) or waited < WAITING_SHARE:
            continue
        there_ns = sum(row["there_ns"] for row in mine)
        # One that reads several queues has its hands full of the others, too.
        clients = {row["client"] for row in mine}
        used = sum(row["busy_ns"] for row in consumers if row["client"] in clients) / max(there_ns, 1)
        ahead = {settings.worker(row["client"]).get("prefetch", 1) for row in mine}
        if used >= IDLE_THOUGH or max(row["in_hand"] for row in mine) > max(ahead):
            continue
        yield Finding(
            INFO,
            f"The workers of {queue} had nothing in hand {text.share(1 - used)} of the time, and messages waited",
            f"Messages waited {text.share(waited)} of the time, {text.count(float(series.mean()))} on average.",
            "queues",
            kind="prefetch",
            why=f"Each takes {max(ahead)} at a time, and comes back for the next.",
            harm=Harm(message_s=float(series.sum()) * scale.width_ns / 1e9 * (1 - used)),
        )
