from __future__ import annotations

from collections.abc import Iterator

from spark_reports.findings.evidence import FULL, Evidence, share
from spark_reports.findings.finding import INFO, WARN, Finding, Harm
from spark_reports.page import text
from spark_reports.rows import Row, Rows, grouped
from spark_reports.scale import Scale

BUSY = 0.95  # of the time
HOLDS_BACK = 3.0  # times the lag of the others, a partition
FEWEST_BEHIND = 20  # messages
EVEN = 1.3  # times its fair share of what is published: below it the load is no reason
IDLE_THOUGH = 0.85  # of the time with a message in hand, while others wait
WAITING_SHARE = 0.5  # of the time


def held_back(told: Evidence) -> Iterator[Finding]:
    """Whose partitions are far behind those of the others in its group, though no more comes in there?"""
    consumers = told.rows["consumers"]
    load = {(row["topic"], row["partition"]): row["times_even"] for row in told.rows["partitions"]}
    owned = grouped(told.rows["ownership"], "group")
    for (group,), lags in sorted(grouped(told.rows["lag_series"], "group").items()):
        owners = {(row["topic"], row["partition"]): row for row in owned.get((group,), ())}  # the last one
        mine: dict[str, list[Row]] = {}
        for row in lags:
            if owner := owners.get((row["topic"], row["partition"])):
                mine.setdefault(owner["client"], []).append(row)
        if len(mine) < 2 or not told.knows(group):  # who commits now and then is no slower
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
            harm=Harm(at_once=behind, message_s=behind * told.scale.duration_ns / 1e9),
        )


def too_many(told: Evidence) -> Iterator[Finding]:
    """In which group are more members than partitions, while those that have some are busy and cannot keep up?"""
    scale = told.scale
    for (group,), lags in sorted(grouped(told.rows["lag_series"], "group").items()):
        there = [row for row in told.rows["consumers"] if row["group"] == group and _stayed(row, scale)]
        without = [row["client"] for row in there if row["with_partitions_ns"] == 0]
        behind = sum(row["last_lag"] or 0 for row in lags)
        late_ns = scale.to_ns - scale.duration_ns // 4
        busy = max(told.between(group, late_ns, scale.to_ns).values(), default=0.0) >= FULL and told.knows(group)
        if without and len(there) > len(lags) and behind >= FEWEST_BEHIND and busy:
            finding = Finding(
                WARN,
                f"{group} cannot grow: {text.plural(len(lags), 'partition')} for {len(there)} members",
                f"{text.listed(without)} had no partition, while the group was {text.plural(behind, 'message')} behind "
                "at the end.",
                "consumers",
                kind="partition-limit",
                harm=Harm(
                    at_once=behind, message_s=sum(row["mean_lag"] or 0 for row in lags) * scale.duration_ns / 1e9
                ),
            )
            yield told.explained(finding, group)


def _stayed(row: Row, scale: Scale) -> bool:
    return bool(row["there_ns"] >= scale.duration_ns / 4)


def did_nothing(told: Evidence) -> Iterator[Finding]:
    """Readers that were there for most of the time and read nothing, but for those that `too_many` names."""
    consumers, hot = told.rows["consumers"], told.hot
    crowded = any(too_many(told))
    named = {row["client"] for row in consumers if crowded and row["group"] and row["with_partitions_ns"] == 0}
    stayed = [row for row in consumers if _stayed(row, told.scale)]
    idle = [row for row in stayed if not row["delivered"] and row["client"] not in named]
    if not idle or any(row["missing"] for row in told.rows["recording"]):
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


def overloaded(told: Evidence) -> Iterator[Finding]:
    """Readers that always had a message in hand, apart from those whom the hot key keeps busy."""
    hot, consumers = told.hot, told.rows["consumers"]
    busy = [row for row in consumers if row["utilisation"] >= BUSY and row["delivered"] and not row["outside"]]
    kept = [row for row in busy if hot and (row["group"], row["client"]) in hot.owners and hot.explains(row["group"])]
    yield from _busy(told, [row for row in busy if row not in kept])
    if hot:
        yield from map(hot.explain, _busy(told, kept))


def _busy(told: Evidence, busy: Rows) -> Iterator[Finding]:
    if busy:
        worst = max(busy, key=lambda row: (row["in_hand"], row["utilisation"]))
        several = len(busy) > 1
        headline = (
            f"{len(busy)} consumers were" if several else f"{worst['client']} was"
        ) + f" busy at least {text.share(BUSY)} of the time"
        names = text.listed([row["client"] for row in busy])
        detail = (
            f"{names}. " if several else ""
        ) + f"{worst['client']} had {worst['in_hand']:.1f} messages in progress on average."
        groups = {row["group"] for row in busy}
        filled = sorted(group for group in groups if not told.room_for_more(group, told.scale.to_ns))
        advice = "It has no capacity to spare: any peak turns into lag. Make the work shorter"
        advice += ", or add another." if not filled else "."
        if filled:
            advice += f" In {text.listed(filled)} every partition has a reader: another one would get none."
        yield Finding(INFO, headline, detail, "consumers", kind="busy", advice=advice)


def hands_free(told: Evidence) -> Iterator[Finding]:
    """Queues whose messages waited while workers had none in hand; retries wait on purpose, and are left out."""
    consumers = told.rows["consumers"]
    again = {row["group"] for row in told.rows["redeliveries"] if row["attempt"] > 1 and row["delivered"]}
    for (queue, topic), series in told.waiting.items():
        mine = [row for row in consumers if row["group"] == queue and row["delivered"]]
        waited = float((series > 0).mean())
        if topic or queue in again or not mine or any(row["outside"] for row in mine) or waited < WAITING_SHARE:
            continue
        there_ns = sum(row["there_ns"] for row in mine)
        # One that reads several queues has its hands full of the others, too.
        clients = {row["client"] for row in mine}
        used = sum(row["busy_ns"] for row in consumers if row["client"] in clients) / max(there_ns, 1)
        ahead = {told.settings.worker(row["client"]).get("prefetch", 1) for row in mine}
        if used >= IDLE_THOUGH or max(row["in_hand"] for row in mine) > max(ahead):
            continue
        yield Finding(
            INFO,
            f"The workers of {queue} were idle {text.share(1 - used)} of the time while messages waited",
            f"Messages waited {text.share(waited)} of the time, {text.count(float(series.mean()))} on average.",
            "queues",
            kind="prefetch",
            why=f"Each takes {max(ahead)} at a time and comes back for the next.",
            harm=Harm(message_s=float(series.sum()) * told.scale.width_ns / 1e9 * (1 - used)),
        )
