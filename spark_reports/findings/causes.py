"""Why a group or queue was behind: the cause that the recording shows, or none.

A cause is shown if what waited grew in the times when the cause was there, and not in the others; or if the readers,
with it taken away, would have done all that came.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np

from spark_reports import text
from spark_reports.findings.absent import absent, nobody, unread
from spark_reports.findings.episodes import LATE_MESSAGES, LATE_S, SHOWN, Cause, Episode, ends
from spark_reports.findings.evidence import FULL, SPARE, UNEVEN, Reader, key_of, runs
from spark_reports.findings.finding import INCIDENT
from spark_reports.rows import Row

SLOW: Final = 1.8  # times as long a message
ENOUGH: Final = 15  # messages, that their mean says something
MOST: Final = 0.6  # of what waits, on one partition
LOPSIDED: Final = 1.2  # times its fair share of a partition
NOT_SHOWN: Final = "Its cause is not shown by this recording."


def cause_of(one: Episode) -> Cause:
    """The first of the causes that is shown."""
    for find in _CAUSES:
        if one.reader.knows or find in _OF_OTHERS:
            found = find(one)
            if found is not None:
                return found
    grows = one.end == len(one.reader.came) and one.peak >= one.end - 2
    was = "still growing at the end" if grows else "behind"
    waited = f"up to {text.plural(one.highest, 'message')} waited"
    return Cause("", "", f"{one.reader.name} was {was}: {waited}", NOT_SHOWN)


def _incident(one: Episode) -> Cause | None:
    """Something happened to its cluster: its readers are not the cause."""
    for row in one.reader.told.rows["cluster"]:
        at = np.zeros(len(one.rises), dtype=bool)
        if row["kind"] == INCIDENT:
            at[one.scale.bucket(row["began_ns"]) : one.scale.bucket(row["time_ns"]) + 1] = True
        if one.grew_in(at) >= SHOWN:
            return Cause(
                INCIDENT, "", f"{one.reader.name} was behind: {row['cause'].partition('; ')[0]}",
                "What waited grew then: its readers are not the cause.",
            )  # fmt: skip
    return None


def _slow_all(one: Episode) -> Cause | None:
    """All of them took longer then than at other times."""
    reader, others = one.reader, ~one.growing
    pairs = [(member.each_s(one.growing), member.each_s(others)) for member in reader.members.values()]
    known = [(now, then) for now, then in pairs if not math.isnan(now + then)]
    if not known or len(known) < 0.6 * len([now for now, _ in pairs if not math.isnan(now)]):
        return None
    slower = [now / then for now, then in known if then]
    if not slower or min(slower) < SLOW:
        return None
    now_s, then_s = (float(np.median([pair[number] for pair in known])) for number in (0, 1))
    if one.came_per_s * then_s > FULL * len(known) * 1.5:
        return None
    begun = one.begin <= max(3, 0.05 * len(reader.came))
    when = f"until {text.clock(one.scale.from_ns + (one.peak + 1) * one.scale.width_ns)}" if begun else "for a while"
    return Cause(
        "slow-start" if begun else "slowdown", "",
        f"The readers of {reader.name} were slow {'at first' if begun else 'for a while'}: "
        f"{_ms(now_s)} a message, otherwise {_ms(then_s)}",
        f"That was so {when}; what waited grew only then.",
    )  # fmt: skip


def _ms(seconds: float) -> str:
    return text.duration(seconds * 1e9)


def _slow_one(one: Episode) -> Cause | None:
    """One needs longer for a message than the others, and what waits is its."""
    reader = one.reader
    each = {name: member.each_s(one.growing) for name, member in reader.members.items()}
    each = {name: seconds for name, seconds in each.items() if reader.members[name].done[one.growing].sum() >= ENOUGH}
    for name, member in reader.members.items():
        # Who finished nothing then, but had something in hand, takes at least that long.
        if name not in each and member.busy[one.growing].sum() > 0.5e9 * reader.width_s * one.growing.sum():
            each[name] = float(member.busy[one.growing].sum()) / 1e9
    if len(each) < 2:
        return None
    slow = max(each, key=lambda name: each[name])
    usual_s = float(np.median([seconds for name, seconds in each.items() if name != slow]))
    if each[slow] < SLOW * usual_s:
        return None
    if reader.is_group:
        mine = set(reader.owned(slow, one.from_ns, one.to_ns))
        at = slice(one.begin, one.peak + 1)
        behind = {place: float(lag[at].mean()) for place, (_, lag) in reader.places.items()}
        if sum(behind[place] for place in mine) < MOST * sum(behind.values()):
            return None
    elif one.came_per_s * usual_s > len(each) * 1.05:  # as quick as the others, it would not have been enough
        return None
    needed = reader.shared(one.came_per_s, usual_s, len(each) - 1)
    until = (
        f"Until then remove it: the others would be busy {text.share(needed)} at the most."
        if needed < SPARE
        else "Until then it must stay: the others could not do its part as well."
    )
    return Cause(
        "slow-reader", slow, f"{slow} holds {reader.name} back: {_ms(each[slow])} a message, the others {_ms(usual_s)}",
        "What waits is on its partitions." if reader.is_group else
        f"As quick as the others, it would keep up: {text.per_second(one.came_per_s)} came.",
        f"Find out why a message takes it longer, and make it as quick. {until}",
    )  # fmt: skip


def _hot(one: Episode) -> Cause | None:
    """One partition has more than its share, and what waits is there."""
    reader = one.reader
    if len(reader.places) < 2:
        return None
    at = slice(one.begin, one.peak + 1)
    behind = {place: float(lag[at].mean()) for place, (_, lag) in reader.places.items()}
    came = {place: float(all_came[: one.peak + 1].sum()) for place, (all_came, _) in reader.places.items()}
    of_topic = {topic: [each for each in came if each[0] == topic] for topic, _ in came}
    even = {topic: sum(came[each] for each in same) / len(same) for topic, same in of_topic.items()}
    owning = [member for name, member in reader.members.items() if reader.owned(name, one.from_ns, one.to_ns)]
    each_s = float(np.mean([member.each_s(one.growing) for member in owning])) if owning else math.nan
    # If its readers would do all of it were it even, less than that is too much for one.
    much = LOPSIDED if one.came_per_s * each_s < len(owning) else UNEVEN
    hot = [each for each in came if came[each] >= much * max(even[each[0]], 1e-9)]
    if not hot or sum(behind[each] for each in hot) < MOST * sum(behind.values()):
        return None
    place = max(hot, key=lambda one: behind[one])
    same, times = of_topic[place[0]], came[place] / even[place[0]]
    key, where = key_of(reader.told, place), text.place(*place)
    share = text.share(came[place] / max(sum(came[each] for each in same), 1))
    owner = next(iter(sorted(reader.owners(place, one.from_ns, one.to_ns))), "its reader")
    its_s = reader.members[owner].each_s(one.growing) if owner in reader.members else math.nan
    alone = came[place] / ((one.peak + 1) * reader.width_s) * its_s
    whole = f"The partition carries {times:.1f} times its fair share"
    advice = ""
    if not math.isnan(alone):
        advice = (
            f"A reader of its own for that partition would be busy {text.share(alone)}: more members help, if it then "
            "owns no other one."
            if alone < 0.95
            else "Its partition has one reader in a group, and that one is not enough: split the key (a suffix, or a "
            "finer key). Its price: no order across the parts."
            if key
            else "That partition has one reader in a group, and that one is not enough: choose a key with more values, "
            "or more partitions. Its price: keys move to other partitions."
        )
    if key:
        return Cause(
            "hot-key", str(key["key"]),
            f"The key {key['key']} of {place[0]} is too much for one reader of {reader.name}: partition {where} "
            f"carries {share}",
            f"{whole}; the key alone is {text.share(key['share_of_partition'])} of it. What waits is there.",
            advice,
        )  # fmt: skip
    return Cause(
        "hot-partition", where, f"Partition {where} is too much for one reader of {reader.name}: it carries {share}",
        f"{whole}. What waits is there, and {owner} was busy.", advice,
    )  # fmt: skip


def _leases(one: Episode) -> Cause | None:
    """Workers stood still with messages until the leases ran out."""
    reader = one.reader
    rows = [row for row in reader.told.rows["leases"] if row["queue"] == reader.name]
    gone, leased = (sum(row[name] for row in rows) for name in ("expired", "leased"))
    there, busy, worked = (
        sum(float(getattr(member, name)[one.growing].sum()) for member in reader.members.values())
        for name in ("there", "busy", "worked")
    )
    if gone < 3 or not there or busy < 0.8 * there or worked > FULL * busy:
        return None
    each_s = worked / 1e9 / max(1.0, sum(float(m.done[one.growing].sum()) for m in reader.members.values()))
    per_s = one.came_per_s / len(reader.busy(one.growing) or [1])  # each of them
    needed = per_s * each_s
    stood = [
        end - begin for m in reader.members.values() for begin, end in runs((m.done == 0) & (m.busy > 0) & one.growing)
    ]
    long_s = (reader.told.settings.lease_ms(reader.name) or 0) / 1e3
    hung = [1 for buckets in stood if buckets * reader.width_s >= 0.5 * long_s]
    # Who is away stands still once, and for longer.
    if needed > 1 or len(hung) < 3 or (long_s and max(stood) * reader.width_s > 3 * long_s + 2 * reader.width_s):
        return None
    # With which what hangs leaves them time to spare; but what works must be done within it.
    lease_s = min(max(1.0, LATE_MESSAGES * each_s), (SPARE / max(per_s, 1e-9) - each_s) * leased / gone)
    is_shorter = 4 * each_s <= lease_s < 0.8 * long_s
    shorter = f"A lease of {text.duration(lease_s * 1e9)} would free them sooner. " if is_shorter else ""
    return Cause(
        "expired-leases", "",
        f"Messages of {reader.name} hung until their leases ran out: {text.plural(gone, 'lease')}, "
        f"{text.share(gone / leased)} of all",
        f"Its readers stood still with them {text.share(1 - worked / busy)} of the time that they had something in "
        f"hand; without that, what came would keep them busy {text.share(needed)}.",
        f"{shorter}Find out what hangs. The price of a short lease: what takes longer is delivered twice.",
    )  # fmt: skip


def _retries(one: Episode) -> Cause | None:
    """Attempts beyond the first take so much of the readers' time that the rest is not enough."""
    reader = one.reader
    rows = [row for row in reader.told.rows["redeliveries"] if row["group"] == reader.name]
    given, first = (sum(row["delivered"] or 0 for row in rows if row["attempt"] <= most) for most in (1 << 30, 1))
    busy = reader.busy(one.growing)
    if not given or not busy or np.mean(list(busy.values())) < 0.8 or first > 0.85 * given:
        return None
    each = [each for m in reader.members.values() if not math.isnan(each := m.each_s(one.growing))]
    needed = one.came_per_s * float(np.mean(each)) / len(busy) if each else 2.0
    if needed > 1:
        return None
    failed = sum(row["nacked"] or 0 for row in rows)
    more = max(1, math.ceil(needed * given / first / SPARE * len(busy)) - len(busy))
    return Cause(
        "retries", "", f"Retries take {text.share(1 - first / given)} of the deliveries of {reader.name}",
        f"{text.plural(failed, 'attempt')} failed. Without further attempts, what came would keep its readers busy "
        f"{text.share(needed)}; with them they had no time to spare.",
        f"Find out why the first attempts fail; until then {text.plural(more, 'more reader')} would carry the rest.",
    )  # fmt: skip


def _partitions(one: Episode) -> Cause | None:
    """Members without a partition, while those that have one cannot do what comes."""
    reader = one.reader
    if not reader.is_group:
        return None
    busy = reader.busy(one.growing)
    owning = {name for name in busy if reader.owned(name, one.from_ns, one.to_ns)}
    without = sorted(busy.keys() - owning)
    if not without or not owning or min(busy[name] for name in owning) < 0.8:
        return None
    return Cause(
        "partition-limit", "",
        f"{reader.name} cannot grow: {text.plural(len(reader.places), 'partition')} for {len(busy)} members",
        f"{text.listed(without)} had no partition, while {text.listed(sorted(owning))} had no time to spare.",
        f"{len(busy)} partitions would give each of them one. Their price: keys move to other partitions."
    )  # fmt: skip


def _too_much(one: Episode) -> Cause | None:
    """All that could read were busy, and more came than they can do: for a while, or on the whole."""
    reader = one.reader
    busy = reader.busy(one.growing)
    at_work = {
        name: share for name, share in busy.items() if not reader.is_group or reader.owned(name, one.from_ns, one.to_ns)
    }
    each = {name: reader.members[name].each_s(one.growing) for name in at_work}
    can = sum(1 / seconds for seconds in each.values() if seconds and not math.isnan(seconds))
    if not at_work or not can or float(np.mean(list(at_work.values()))) < 0.8:
        return None
    whole_s = len(reader.came) * reader.width_s
    mean = float(reader.came.sum()) / whole_s
    # Only while more comes than they can do does it grow.
    width_s, level = reader.width_s, can * 1.02
    much = reader.came / width_s > level
    more = math.ceil(one.came_per_s / can * len(at_work) / SPARE) - len(at_work)
    comes, does = text.per_second(one.came_per_s), text.per_second(can)
    if mean < FULL * can and one.came_per_s > 0.9 * can and one.grew_in(much) >= SHOWN:
        return Cause(
            "burst", "",
            f"More came to {reader.name} at once than its readers can do: {_peak(one)} at the most, they do {does}",
            f"On average {text.per_second(mean)} came, so it catches up in between.",
            (f"{text.plural(max(1, more), 'more reader')} would take the peak" if _room(one, more) else
             "More partitions and readers would take the peak")
            + "; or spread what comes. Their price: they idle in between.",
        )  # fmt: skip
    # Of what makes its producers wait no more comes than is done.
    if one.came_per_s <= 1.0 * can and not one.grew_in(much) >= SHOWN and not _is_full(reader):
        return None
    who = {1: "Its reader was", 2: "Both of its readers were"}.get(
        len(at_work), f"All {len(at_work)} of its readers were"
    )
    gaps_s = sum(end - begin for begin, end in unread(one)) * width_s
    besides = f" Besides, nobody read for {text.duration(gaps_s * 1e9)}." if gaps_s >= LATE_S else ""
    grows = " and still grows" if one.end == len(reader.came) else ""
    share = text.share(SPARE)
    advice = (
        f"{text.plural(max(1, more), 'more reader')} of the same kind would be busy {share}; or make the work shorter."
    )
    if not _room(one, more):
        advice = (
            f"Make the work shorter, or add partitions first: {text.plural(len(reader.places), 'partition')} for "
            f"{text.plural(len(at_work) + max(1, more), 'reader')}. Their price: keys move to other partitions."
        )
    return Cause(
        "growing", "", f"More comes to {reader.name} than its readers can do{grows}: {comes}, they do {does}",
        f"{who} busy {ends(at_work.values())} of the time.{besides}", advice,
    )  # fmt: skip


def _is_full(reader: Reader) -> bool:
    return any(row["topic"] in reader.topics and "full" in row["reason"] for row in reader.told.rows["blockers"])


def _peak(one: Episode) -> str:
    return text.per_second(float(one.reader.came[one.growing].max()) / one.reader.width_s)


def _room(one: Episode, more: int) -> bool:
    """Whether so many more readers would be given something: no partition has two readers in a group."""
    return not one.reader.is_group or len(one.reader.places) >= len(one.reader.busy(one.growing)) + more


def _waited_for_transaction(one: Episode) -> Cause | None:
    """Nothing beyond an open transaction is given to who reads what is committed."""
    mine: list[Row] = [
        row for row in one.reader.told.rows["stable_waits"]
        if row["group"] == one.reader.name and row["from_ns"] <= one.to_ns and row["to_ns"] >= one.from_ns
    ]  # fmt: skip
    if not mine:
        return None
    row = max(mine, key=lambda each: each["waited_ns"])
    if row["waited_ns"] < LATE_S * 1e9:
        return None
    return Cause(
        "open-transaction", row["transactional_id"],
        f"{one.reader.name} waited {text.duration(row['waited_ns'])} for the transaction {row['transactional_id']}",
        f"{row['client']} left it open ({row['outcome']}). Who reads what is committed gets nothing beyond it: its "
        "readers are not the cause.",
    )  # fmt: skip


def _reset(one: Episode) -> Cause | None:
    """It went back to earlier messages."""
    at = [
        row["time_ns"] for row in one.reader.told.rows["markers"]
        if (row["kind"], row["group"]) == ("offsets_reset", one.reader.name)
        and one.from_ns - 2 * one.scale.width_ns <= row["time_ns"] <= one.to_ns
    ]  # fmt: skip
    if not at:
        return None
    return Cause("reset", "", f"{one.reader.name} read again from {text.clock(at[0])} on", "Its offsets were reset.")


Find = Callable[[Episode], Cause | None]
_CAUSES: tuple[Find, ...] = (
    _incident, _waited_for_transaction, _reset, _leases, nobody, _slow_all, absent, _slow_one, _hot, _retries,
    _partitions, _too_much,
)  # fmt: skip
#: What needs no knowledge of work.
_OF_OTHERS = frozenset({_incident, _waited_for_transaction, _reset, nobody, absent, _hot})
