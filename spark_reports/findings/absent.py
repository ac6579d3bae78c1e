"""Causes that are somebody's absence: nobody read, one was away, once or often, or members restarted in turn."""

from __future__ import annotations

from collections import Counter
from typing import Final

import numpy as np

from spark_reports import text
from spark_reports.findings.episodes import SHOWN, Cause, Episode, ends
from spark_reports.findings.evidence import SPARE, ReaderEvidence, absences, runs

OFTEN: Final = 3  # times away
STORM: Final = 5  # rebalances
JOINING_S: Final = 3.0  # of a group that begins: group.initial.rebalance.delay.ms of Kafka
IN_TURN: Final = 0.7  # of the time that members were away, one alone


def _away(reader: ReaderEvidence) -> dict[str, list[tuple[int, int]]]:
    """The buckets in which each member was away: gone, or standing still, until somebody read on in its place."""
    scale, found = reader.evidence.scale, {}
    gaps = reader.rows("unserved")
    for client, member in reader.members.items():
        at = reader.mask(absences(member, reader))
        for row in gaps:
            begin, end = scale.bucket(row["from_ns"]), scale.bucket(row["to_ns"]) + 1
            if row["owner_before"] == client and (row["cause"] or at[begin:end].any()):
                at[begin:end] = True
        found[client] = runs(at)
    return found


def nobody(episode: Episode) -> Cause | None:
    """All of them were away at once, or had not begun."""
    reader, mine = episode.reader, unread(episode)
    if not reader.evidence.rows["consumers"] and not any(member.there.any() for member in reader.members.values()):
        return None  # who reads is not known
    if not mine or episode.grew_in(reader.mask(mine)) < SHOWN:
        return None
    pauses = [stretch for stretch in mine if stretch[0]]  # since the group was first read: it may not have been there
    if not mine[0][0] and episode.grew_in(reader.mask(mine[:1])) >= SHOWN:
        there = any(member.there[0] for member in reader.members.values())
        if there and mine[0][1] * reader.width_s <= JOINING_S:
            return Cause("joining", f"{reader.name} began to read")
        why = "They had joined and had got nothing yet" if there else "They were not there yet"
        return Cause(
            "stopped",
            f"Nobody read {reader.name} for the first {_long(reader, mine[:1])}",
            f"{why}, and what waited grew mostly then." if reader.members else "It had no reader.",
            "Start readers before producers.",
        )
    # Who came later was not away.
    members = sum(bool(member.there[: mine[-1][1]].any()) for member in reader.members.values())
    who = {1: "Its only reader", 2: "Both of its readers"}.get(members, f"All {members} of its readers")
    return Cause(
        "stopped",
        f"Nobody read {reader.name} for {_long(reader, pauses)}",
        f"{who} had stopped or stood still, and what waited grew mostly then.",
    )


def unread(episode: Episode) -> list[tuple[int, int]]:
    """The stretches until what waited was at its highest in which no member was there, or all stood still."""
    reader = episode.reader
    alone = np.ones(len(reader.came), dtype=bool)
    for client, stretches in _away(reader).items():
        alone &= reader.mask(stretches) | (reader.members[client].there == 0)
    busy = np.sum([member.busy for member in reader.members.values()], axis=0) if reader.members else np.zeros(1)
    alone[: int(np.argmax(busy > 0))] = True  # before its members had got anything
    return [stretch for stretch in runs(alone) if stretch[0] <= episode.peak and stretch[1] > episode.begin - 2]


def _long(reader: ReaderEvidence, stretches: list[tuple[int, int]]) -> str:
    return text.duration(_total(stretches) * reader.evidence.scale.width_ns)


def absent(episode: Episode) -> Cause | None:
    """One was away, some were in turn, or one again and again."""
    reader = episode.reader
    away = {
        client: [stretch for stretch in stretches if stretch[0] <= episode.peak and stretch[1] > episode.begin - 2]
        for client, stretches in _away(reader).items()
    }
    away = {client: stretches for client, stretches in away.items() if stretches}
    at = reader.mask([each for stretches in away.values() for each in stretches])
    first = max(int(np.argmax(member.there > 0)) for member in reader.members.values()) if reader.members else 0
    started = [row for row in reader.rows("rebalances") if episode.scale.bucket(row["started_ns"]) > first]
    since_ns = episode.from_ns - 2 * episode.scale.width_ns
    storm = [row for row in started if since_ns <= row["started_ns"] <= episode.to_ns]
    pauses = [(episode.scale.bucket(row["started_ns"]), episode.scale.bucket(row["ended_ns"]) + 1) for row in storm]
    if (not away and len(started) < STORM) or episode.grew_in(at | reader.mask(pauses)) < SHOWN:
        return None
    left = Counter(row["client"] for row in reader.rows("markers") if row["kind"] == "member_left")
    often = {name: max(len(list(absences(member, reader))), left[name]) for name, member in reader.members.items()}
    everybody = {name for name, count in often.items() if count}
    client = max(away, key=lambda name: (often[name] >= OFTEN, _total(away[name])), default="")
    if client and often[client] >= OFTEN and often[client] >= 0.6 * sum(often.values()):
        return Cause(
            "flapping",
            f"{client} was away from {reader.name} {often[client]} times",
            "It left, or stood still with work in hand; what waited grew then or while its group rebalanced, and not in"
            " between.",
            _kept_out(episode, client),
            who=client,
        )
    if (
        len(everybody) > 1
        and len(everybody) >= 0.5 * len(reader.members)
        and max(often.values()) < OFTEN
        and _in_turn(reader, everybody)
    ):
        return Cause(
            "deploy",
            f"{reader.name} fell behind while {len(everybody)} of its members restarted in turn",
            f"{text.listed(sorted(everybody))} were away one after the other, and what waited grew mostly then.",
            _restarts(episode, sorted(everybody)),
        )
    if storm and len(started) >= STORM and len(started) > len(everybody) * 2:
        lasted = sum(row["pause_ns"] for row in storm)
        return Cause(
            "rebalance",
            f"{reader.name} rebalanced {len(started)} times",
            f"{text.plural(len(storm), 'rebalance')} while it was behind took {text.duration(lasted)}; what waited grew"
            " then.",
        )
    if not client:
        return None
    return Cause(
        "outage",
        f"{reader.name} went without {client} for {_long(reader, away[client])}",
        f"What waited grew while it was away, and not when it was there.{_left(episode, client)}",
        _sooner(episode, [client]),
        who=client,
    )


def _kept_out(episode: Episode, client: str) -> str:
    """Whether the others could do without it; "" if that is not known."""
    others = [member for name, member in episode.reader.members.items() if name != client and member.done.sum()]
    if not others or not episode.reader.is_work_known:
        return ""
    each_s = float(np.mean([member.each_s(episode.reader.all_buckets) for member in others]))
    meanwhile = until_mended(episode, "keep it out until then", each_s, len(others))
    return f"Find out why it is away again and again; {meanwhile}"


def until_mended(episode: Episode, without_it: str, each_s: float, others: int) -> str:
    """Whether to go `without_it` until it is mended, if `others` that need `each_s` for a message can do what came."""
    needed = episode.reader.shared(episode.came_per_s, each_s, others)
    if needed < SPARE:
        return f"{without_it}: the others would be busy {text.share(needed)} at the most."
    return "until then it must stay: the others could not do its part as well."


def _total(stretches: list[tuple[int, int]]) -> int:
    return sum(end - begin for begin, end in stretches)


def _in_turn(reader: ReaderEvidence, everybody: set[str]) -> bool:
    """Whether all but one came back, and seldom two were away at once."""
    away = {name: found for name in everybody if (found := list(absences(reader.members[name], reader)))}
    back = sum(stretches[-1][1] < len(reader.came) for stretches in away.values())
    every = [stretch for stretches in away.values() for stretch in stretches]
    alone = float(reader.mask(every).sum())
    return back >= max(2, len(away) - 1) and alone >= IN_TURN * _total(every)


def _left(episode: Episode, client: str) -> str:
    """How busy the others were meanwhile."""
    busy = {name: share for name, share in episode.reader.busy(episode.growing).items() if name != client}
    return f" The others were busy {ends(busy.values())} of that time." if busy else ""


_TAKEN_FOR_DEAD = "Its price: who stands still for longer than that is taken for dead, and the group rebalances."


def _sooner(episode: Episode, clients: list[str]) -> str:
    """What would shorten the absence, and its price; "" if most of it passed after the group had noticed."""
    gaps = [
        row
        for row in episode.reader.rows("unserved")
        if row["owner_before"] in clients and row["from_ns"] < episode.to_ns
    ]
    if not gaps:
        return ""
    longest = max(gaps, key=lambda row: row["pause_ns"])
    lasted = text.duration(longest["pause_ns"])
    if longest["owner_after"] == longest["owner_before"] and not longest["revoked_ns"]:
        return (
            f"It came back after {lasted}, and until then nobody read in its place: a session timeout below that gives "
            f"its partitions to others. {_TAKEN_FOR_DEAD}"
        )
    noticed_ns = max(0, int(longest["revoked_ns"] or longest["started_ns"] or longest["to_ns"]) - longest["from_ns"])
    if noticed_ns * 2 < longest["pause_ns"]:
        return ""
    return (
        f"The group noticed after {text.duration(noticed_ns)}: a shorter session timeout notices sooner. "
        f"{_TAKEN_FOR_DEAD}"
    )


def _restarts(episode: Episode, clients: list[str]) -> str:
    """Whether they should be static, which spares a restart within the session timeout all rebalances; or are."""
    reader = episode.reader
    timeout_ms = reader.evidence.settings.session_timeout_ms(reader.name)
    if timeout_ms is None:
        return ""
    timeout = text.duration(timeout_ms * 1e6)
    away = [stretch for name in clients for stretch in absences(reader.members[name], reader)]
    longest_ns = max(end - begin for begin, end in away) * episode.scale.width_ns
    was = text.duration(longest_ns)
    if reader.evidence.settings.are_static(reader.name):
        return (
            f"They are static, so nobody read in their place until they were back, {was} at the longest: restart them "
            f"more quickly, or set a session timeout below that. {_TAKEN_FOR_DEAD}"
        )
    quickly = "as they do" if longest_ns < timeout_ms * 1e6 else f"now it takes up to {was}"
    return (
        f"Make the members static (group.instance.id) and restart each within the session timeout of {timeout}, "
        f"{quickly}; or let each leave before it stops. The price of static members: one that dies is noticed only "
        f"after {timeout}."
    )
