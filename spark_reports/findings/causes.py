"""Why a group or queue was behind: the cause that the recording shows, or none.

A cause is shown if what waited grew in the times when the cause was there, and not in the others; or if the readers,
with it taken away, would have done all that came.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np

from spark_reports import text
from spark_reports.findings.absent import absent, nobody, unread, until_mended
from spark_reports.findings.episodes import LATE_MESSAGES, LATE_S, SHOWN, Cause, Episode, ends
from spark_reports.findings.evidence import FULL, SPARE, UNEVEN, key_of, runs
from spark_reports.findings.finding import INCIDENT
from spark_reports.rows import Row

SLOW: Final = 1.8  # times as long a message
ENOUGH: Final = 15  # messages, that their mean says something
MOST: Final = 0.6  # of what waits, on one partition; of the members, that they are enough to judge all
LOPSIDED: Final = 1.2  # times its fair share of a partition
BUSY: Final = 0.8  # of the time that they were there: readers without time to spare
OVERLOADED: Final = 1.5  # times what readers do at their usual pace: no pace would have been enough
JUST_ENOUGH: Final = 1.05  # times what as many quick readers do: they would have kept up
NEARLY: Final = 0.9  # of what readers can do, when it comes at once
ABOVE: Final = 1.02  # times what readers can do: while that comes, what waits grows
ALONE: Final = 0.95  # busy with one partition: a reader that has no other is enough
FEW_RETRIES: Final = 0.85  # of the deliveries are first attempts
NOT_SHOWN: Final = "Its cause is not shown by this recording."


def cause_of(episode: Episode) -> Cause:
    """The first of the causes that is shown."""
    for find in _CAUSES:
        if episode.reader.is_work_known or find in _WITHOUT_WORK:
            found = find(episode)
            if found is not None:
                return found
    was = "still growing at the end" if episode.grows_at_end else "behind"
    waited = f"up to {text.plural(episode.highest, 'message')} waited"
    return Cause("", f"{episode.reader.name} was {was}: {waited}", NOT_SHOWN)


def _incident(episode: Episode) -> Cause | None:
    """Something happened to its cluster: its readers are not the cause."""
    incidents = [row for row in episode.reader.evidence.rows["cluster"] if row["kind"] == INCIDENT]
    for row in incidents:
        stretch = (episode.scale.bucket(row["began_ns"]), episode.scale.bucket(row["time_ns"]) + 1)
        if episode.grew_in(episode.reader.mask([stretch])) >= SHOWN:
            return Cause(
                INCIDENT,
                f"{episode.reader.name} was behind: {row['cause'].partition('; ')[0]}",
                "What waited grew then: its readers are not the cause.",
            )
    return None


def _slow_all(episode: Episode) -> Cause | None:
    """All of them took longer then than at other times."""
    reader, others = episode.reader, ~episode.growing
    pairs = [(member.each_s(episode.growing), member.each_s(others)) for member in reader.members.values()]
    known = [(now, then) for now, then in pairs if not math.isnan(now + then)]
    if not known or len(known) < MOST * len([now for now, _ in pairs if not math.isnan(now)]):
        return None
    slower = [now / then for now, then in known if then]
    if not slower or min(slower) < SLOW:
        return None
    now_s, then_s = map(float, np.median(known, axis=0))
    if episode.came_per_s * then_s > FULL * len(known) * OVERLOADED:
        return None
    begun = episode.begin <= max(3, 0.05 * len(reader.came))
    when = f"until {text.clock(episode.peak_ns)}" if begun else "for a while"
    return Cause(
        "slow-start" if begun else "slowdown",
        f"The readers of {reader.name} were slow {'at first' if begun else 'for a while'}: "
        f"{_ms(now_s)} a message, otherwise {_ms(then_s)}",
        f"That was so {when}; what waited grew mostly then.",
    )


def _ms(seconds: float) -> str:
    return text.duration(seconds * 1e9)


def _slow_one(episode: Episode) -> Cause | None:
    """One needs longer for a message than the others, and what waits is its."""
    reader = episode.reader
    each = {
        name: member.each_s(episode.growing)
        for name, member in reader.members.items()
        if member.done[episode.growing].sum() >= ENOUGH
    }
    for name, member in reader.members.items():
        # Who finished nothing then, but had something in hand, takes at least that long.
        if name not in each and member.busy[episode.growing].sum() > 0.5e9 * reader.width_s * episode.growing.sum():
            each[name] = float(member.busy[episode.growing].sum()) / 1e9
    if len(each) < 2:
        return None
    slow = max(each, key=lambda name: each[name])
    usual_s = float(np.median([seconds for name, seconds in each.items() if name != slow]))
    if each[slow] < SLOW * usual_s:
        return None
    if reader.is_group:
        mine, behind = set(reader.owned(slow, episode.from_ns, episode.to_ns)), episode.behind
        if sum(behind[place] for place in mine) < MOST * sum(behind.values()):
            return None
    elif episode.came_per_s * usual_s > len(each) * JUST_ENOUGH:
        return None  # as quick as the others, it would not have been enough
    return Cause(
        "slow-reader",
        f"{slow} holds {reader.name} back: {_ms(each[slow])} a message, the others {_ms(usual_s)}",
        "What waits is on its partitions."
        if reader.is_group
        else f"As quick as the others, it would keep up: {text.per_second(episode.came_per_s)} came.",
        "Find out why a message takes it longer, and make it as quick. "
        + until_mended(episode, "until then remove it", usual_s, len(each) - 1).capitalize(),
        who=slow,
    )


def _hot(episode: Episode) -> Cause | None:
    """One partition has more than its share, and what waits is there."""
    reader, behind = episode.reader, episode.behind
    if len(reader.places) < 2:
        return None
    came = {place: float(one.came[: episode.peak + 1].sum()) for place, one in reader.places.items()}
    of_topic = {topic: [each for each in came if each[0] == topic] for topic, _ in came}
    even = {topic: sum(came[each] for each in same) / len(same) for topic, same in of_topic.items()}
    owning = [member for name, member in reader.members.items() if reader.owned(name, episode.from_ns, episode.to_ns)]
    each_s = float(np.mean([member.each_s(episode.growing) for member in owning])) if owning else math.nan
    # If its readers would do all of it were it even, less than that is too much for one.
    much = LOPSIDED if episode.came_per_s * each_s < len(owning) else UNEVEN
    hot = [each for each in came if came[each] >= much * max(even[each[0]], 1e-9)]
    if not hot or sum(behind[each] for each in hot) < MOST * sum(behind.values()):
        return None
    place = max(hot, key=behind.__getitem__)
    same, times = of_topic[place[0]], came[place] / even[place[0]]
    key, where = key_of(reader.evidence, place), text.place(*place)
    carried = f"carried {text.share(came[place] / max(sum(came[each] for each in same), 1))}"
    if episode.peak + 1 < len(reader.came):
        carried += f" until {text.clock(episode.peak_ns)}"
    owner = next(iter(sorted(reader.owners(place, episode.from_ns, episode.to_ns))), "its reader")
    its_s = reader.members[owner].each_s(episode.growing) if owner in reader.members else math.nan
    alone = came[place] / ((episode.peak + 1) * reader.width_s) * its_s
    whole = f"The partition carried {times:.1f} times its fair share then"
    also = [text.place(*each) for each in sorted(hot) if each != place and behind[each] >= behind[place] / 4]
    waits = f"What waited was there{' and on ' + text.listed(also) if also else ''}"
    advice = _hot_advice(alone, has_hot_key=key is not None)
    if key:
        return Cause(
            "hot-key",
            f"The key {key['key']} of {place[0]} is too much for one reader of {reader.name}: partition {where} "
            f"{carried}",
            f"{whole}; the key alone is {text.share(key['share_of_partition'])} of its messages. {waits}.",
            advice,
            who=str(key["key"]),
        )
    return Cause(
        "hot-partition",
        f"Partition {where} is too much for one reader of {reader.name}: it {carried}",
        f"{whole}. {waits}, and {owner} was busy.",
        advice,
        who=where,
    )


def _hot_advice(alone: float, *, has_hot_key: bool) -> str:
    """`alone` is how busy a reader of nothing but that partition would be; nan if that is not known."""
    if math.isnan(alone):
        return ""
    if alone < ALONE:
        return (
            f"A reader of its own for that partition would be busy {text.share(alone)}: more members help, if it then "
            "owns no other one."
        )
    if has_hot_key:
        return (
            "Its partition has one reader in a group, and that one is not enough: split the key (a suffix, or a finer "
            "key). Its price: no order across the parts."
        )
    return (
        "That partition has one reader in a group, and that one is not enough: choose a key with more values, or more "
        "partitions. Its price: keys move to other partitions."
    )


def _leases(episode: Episode) -> Cause | None:
    """Workers stood still with messages until the leases ran out."""
    reader = episode.reader
    rows = reader.rows("leases", "queue")
    gone, leased = (sum(row[name] for row in rows) for name in ("expired", "leased"))
    there, busy, worked = (
        sum(float(getattr(member, name)[episode.growing].sum()) for member in reader.members.values())
        for name in ("there", "busy", "worked")
    )
    if gone < 3 or not there or busy < BUSY * there or worked > FULL * busy:
        return None
    each_s = worked / 1e9 / max(1.0, sum(float(m.done[episode.growing].sum()) for m in reader.members.values()))
    per_s = episode.came_per_s / len(reader.busy(episode.growing) or [1])  # each of them
    needed = per_s * each_s
    stood = [
        end - begin
        for m in reader.members.values()
        for begin, end in runs((m.done == 0) & (m.busy > 0) & episode.growing)
    ]
    long_s = (reader.evidence.settings.lease_ms(reader.name) or 0) / 1e3
    hung = [1 for buckets in stood if buckets * reader.width_s >= 0.5 * long_s]
    # Who is away stands still once, and for longer.
    if needed > 1 or len(hung) < 3 or (long_s and max(stood) * reader.width_s > 3 * long_s + 2 * reader.width_s):
        return None
    # With which what hangs leaves them time to spare; but what works must be done within it.
    lease_s = min(max(1.0, LATE_MESSAGES * each_s), (SPARE / max(per_s, 1e-9) - each_s) * leased / gone)
    is_shorter = 4 * each_s <= lease_s < 0.8 * long_s
    shorter = f"A lease of {text.duration(lease_s * 1e9)} would free them sooner. " if is_shorter else ""
    return Cause(
        "expired-leases",
        f"Messages of {reader.name} hung until their leases ran out: {text.plural(gone, 'lease')}, "
        f"{text.share(gone / leased)} of all",
        f"Its readers stood still with them {text.share(1 - worked / busy)} of the time that they had something in "
        f"hand; without that, what came would keep them busy {text.share(needed)}.",
        f"{shorter}Find out what hangs. The price of a short lease: what takes longer is delivered twice.",
    )


def _retries(episode: Episode) -> Cause | None:
    """Attempts beyond the first take so much of the readers' time that the rest is not enough."""
    reader = episode.reader
    rows = reader.rows("redeliveries")
    given, first = (sum(row["delivered"] or 0 for row in rows if row["attempt"] <= most) for most in (1 << 30, 1))
    busy = reader.busy(episode.growing)
    if not first or not busy or np.mean(list(busy.values())) < BUSY or first > FEW_RETRIES * given:
        return None
    known_s = [each_s for m in reader.members.values() if not math.isnan(each_s := m.each_s(episode.growing))]
    needed = episode.came_per_s * float(np.mean(known_s)) / len(busy) if known_s else math.inf
    if needed > 1:
        return None
    failed = sum(row["nacked"] or 0 for row in rows)
    more = max(1, math.ceil(needed * given / first / SPARE * len(busy)) - len(busy))
    return Cause(
        "retries",
        f"Retries take {text.share(1 - first / given)} of the deliveries of {reader.name}",
        f"{text.plural(failed, 'attempt')} failed. Without further attempts, what came would keep its readers busy "
        f"{text.share(needed)}; with them they had no time to spare.",
        f"Find out why the first attempts fail; until then {text.plural(more, 'more reader')} would carry the rest.",
    )


def _partitions(episode: Episode) -> Cause | None:
    """Members without a partition, while those that have one cannot do what comes."""
    reader = episode.reader
    if not reader.is_group:
        return None
    busy = reader.busy(episode.growing)
    owning = {name for name in busy if reader.owned(name, episode.from_ns, episode.to_ns)}
    without = sorted(busy.keys() - owning)
    if not without or not owning or min(busy[name] for name in owning) < BUSY:
        return None
    return Cause(
        "partition-limit",
        f"{reader.name} cannot grow: {text.plural(len(reader.places), 'partition')} for {len(busy)} members",
        f"{text.listed(without)} had no partition, while {text.listed(sorted(owning))} had no time to spare.",
        f"{len(busy)} partitions would give each of them one. Their price: keys move to other partitions.",
    )


class _Capacity(NamedTuple):
    """How busy each of those was that could read, how much they can do, and how many more, at least one, would do what
    came with time to spare; `grew_above` is whether what waited grew while more came than they can do, and only then.
    """

    busy: dict[str, float]
    per_s: float
    more: int
    grew_above: bool


def _capacity(episode: Episode) -> _Capacity | None:
    """None if some had time to spare, or how much they can do is not known."""
    reader, growing = episode.reader, episode.growing
    busy = {
        name: share
        for name, share in reader.busy(growing).items()
        if not reader.is_group or reader.owned(name, episode.from_ns, episode.to_ns)
    }
    each = [reader.members[name].each_s(growing) for name in busy]
    per_s = sum(1 / seconds for seconds in each if seconds and not math.isnan(seconds))
    if not busy or not per_s or float(np.mean(list(busy.values()))) < BUSY:
        return None
    more = max(1, math.ceil(episode.came_per_s / per_s * len(busy) / SPARE) - len(busy))
    above = reader.came / reader.width_s > per_s * ABOVE
    return _Capacity(busy, per_s, more, episode.grew_in(above) >= SHOWN)


def _burst(episode: Episode) -> Cause | None:
    """All that could read were busy, and for a while more came than they can do."""
    reader, capacity = episode.reader, _capacity(episode)
    if capacity is None or not capacity.grew_above:
        return None
    mean_per_s = float(reader.came.sum()) / (len(reader.came) * reader.width_s)
    if mean_per_s >= FULL * capacity.per_s or episode.came_per_s <= NEARLY * capacity.per_s:
        return None
    peak = text.per_second(float(reader.came[episode.growing].max()) / reader.width_s)
    more = text.plural(capacity.more, "more reader")
    takers = more if _room(episode, capacity.more) else "More partitions and readers"
    return Cause(
        "burst",
        f"More came to {reader.name} at once than its readers can do: {peak} at the most, they do "
        f"{text.per_second(capacity.per_s)}",
        f"On average {text.per_second(mean_per_s)} came, so it catches up in between.",
        f"{takers} would take the peak; or spread what comes. Their price: they idle in between.",
    )


def _growing(episode: Episode) -> Cause | None:
    """All that could read were busy, and on the whole more came than they can do."""
    reader, capacity = episode.reader, _capacity(episode)
    # Of what makes its producers wait no more comes than is done.
    full = any(row["topic"] in reader.topics and "full" in row["reason"] for row in reader.evidence.rows["blockers"])
    if capacity is None or not (episode.came_per_s > capacity.per_s or capacity.grew_above or full):
        return None
    count, more = len(capacity.busy), capacity.more
    who = {1: "Its reader was", 2: "Both of its readers were"}.get(count, f"All {count} of its readers were")
    gaps_s = sum(end - begin for begin, end in unread(episode) if begin) * reader.width_s
    besides = f" Besides, nobody read for {text.duration(gaps_s * 1e9)}." if gaps_s >= LATE_S else ""
    grows = " and still grows" if episode.grows_at_end else ""
    than, they = "can do", f"they do {text.per_second(capacity.per_s)}"
    if episode.came_per_s <= ABOVE * capacity.per_s:  # they would have done it, had all been there all the time
        done_per_s = sum(episode.per_s(one.done) for one in reader.members.values())
        than, they = "did", f"they did {text.per_second(done_per_s)}"
    if _room(episode, more):
        advice = (
            f"{text.plural(more, 'more reader')} of the same kind would be busy {text.share(SPARE)}; or make the work "
            "shorter."
        )
    else:
        advice = (
            f"Make the work shorter, or add partitions first: {text.plural(len(reader.places), 'partition')} for "
            f"{text.plural(count + more, 'reader')}. Their price: keys move to other partitions."
        )
    return Cause(
        "growing",
        f"More comes to {reader.name} than its readers {than}{grows}: {text.per_second(episode.came_per_s)}, {they}",
        f"{who} busy {ends(capacity.busy.values())} of the time.{besides}",
        advice,
    )


def _room(episode: Episode, more: int) -> bool:
    """Whether so many more readers would be given something: no partition has two readers in a group."""
    return not episode.reader.is_group or len(episode.reader.places) >= len(episode.reader.busy(episode.growing)) + more


def _waited_for_transaction(episode: Episode) -> Cause | None:
    """A transaction was open: readers with `read_committed` are given nothing beyond it."""
    mine: list[Row] = [
        row
        for row in episode.reader.rows("stable_waits")
        if row["from_ns"] <= episode.to_ns and row["to_ns"] >= episode.from_ns and row["waited_ns"] >= LATE_S * 1e9
    ]
    if not mine:
        return None
    row = max(mine, key=lambda each: each["waited_ns"])
    return Cause(
        "open-transaction",
        f"{episode.reader.name} waited {text.duration(row['waited_ns'])} for the transaction {row['transactional_id']}",
        f"{row['client']} left it open ({row['outcome']}). Who reads what is committed gets nothing beyond it: its "
        "readers are not the cause.",
        who=row["transactional_id"],
    )


def _reset(episode: Episode) -> Cause | None:
    """A reset of the group's offsets made it read earlier messages again; None if there was none."""
    at = [
        row["time_ns"]
        for row in episode.reader.rows("markers")
        if row["kind"] == "offsets_reset"
        and episode.from_ns - 2 * episode.scale.width_ns <= row["time_ns"] <= episode.to_ns
    ]
    if not at:
        return None
    again = f"{episode.reader.name} read again from {text.clock(at[0])} on"
    return Cause("reset", again, "Its offsets were reset.")


Find = Callable[[Episode], Cause | None]
_CAUSES: tuple[Find, ...] = (
    _incident,
    _waited_for_transaction,
    _reset,
    _leases,
    nobody,
    _slow_all,
    absent,
    _slow_one,
    _hot,
    _retries,
    _partitions,
    _burst,
    _growing,
)
#: What needs no knowledge of work.
_WITHOUT_WORK = frozenset({_incident, _waited_for_transaction, _reset, nobody, absent, _hot})
