from __future__ import annotations

from collections.abc import Iterable

from app.sessions.core_sentences import rule_text
from broker_core.clock import NS_PER_S
from broker_core.snapshots import NOT_SEEN, FaultView, GroupView, Snapshot
from widgets.formats import duration
from widgets.i18n import mark, tr

# By the core's name of a fault that lasts: its state word, and a short word for cards whose state does not say it.
_WORDS = {
    "crash": ("Crashed", ""),
    "pause": ("Paused", ""),
    "slow": ("Slowed down", mark("slow")),
    "heartbeats dropped": ("No heartbeats", mark("no heartbeats")),
}

DISK_FULL, LOST = "Disk full", "Connection lost"


def state_of(fault: FaultView) -> str:
    if fault.is_rule:
        return "Failing"
    if fault.is_of_requests:
        return "Fault"
    return _WORDS.get(fault.fault, ("Fault" if fault.client else DISK_FULL, ""))[0]


def program_state(active: Iterable[FaultView], client: str, per_s: float) -> str:
    """That of a client of another program, of which only its messages are seen: running while any come, else the fault
    that its requests are under, else waiting.
    """
    if per_s:
        return "running"
    faults = (each for each in active if each.is_of_requests and each.client in {"", client})
    return next(map(state_of, faults), "waiting")


def lost_ns(group: GroupView | None, client: str) -> int | None:
    """Since when a member of another program has no connection."""
    members = () if group is None else group.members
    return next((member.lost_ns for member in members if member.client == client), None)


def reader_state(active: Iterable[FaultView], client: str, per_s: float, group: GroupView | None) -> str:
    if lost_ns(group, client) is not None:
        return LOST
    return NOT_SEEN if group is not None and group.state == NOT_SEEN else program_state(active, client, per_s)


def left_of(fault: FaultView, now_ns: int) -> str:
    """How much longer it lasts, or how long so far where it lasts until it is ended."""
    if fault.until_ns is None:
        return tr("for {time}", time=duration(max(0, now_ns - fault.since_ns)))
    return tr("{time} left", time=duration(max(0, fault.until_ns - now_ns)))


def whom(fault: FaultView) -> str:
    """What it disturbs: a client, the requests of every client, or the disk."""
    return fault.client or (tr("requests") if fault.is_of_requests else tr("the disk"))


def fault_text(fault: FaultView, now_ns: int) -> str:
    return tr("{who}: {what} ({time})", who=whom(fault), what=rule_text(fault.what), time=left_of(fault, now_ns))


def marks(snapshot: Snapshot) -> dict[str, str]:
    words: dict[str, str] = {}
    for fault in snapshot.faults:
        if not fault.client:
            continue
        # Seconds are enough on a card, and let an unchanged one be recognised.
        _state, short = _WORDS.get(fault.fault, ("", mark("failing")))
        word = tr(short)
        left_s = None if fault.until_ns is None else max(0, fault.until_ns - snapshot.time_ns) // NS_PER_S
        left = "" if left_s is None else tr("{seconds} s", seconds=left_s)
        words.setdefault(fault.client, ", ".join(part for part in (word, left) if part))
    return words
