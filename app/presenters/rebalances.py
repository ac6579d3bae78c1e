from __future__ import annotations

from typing import NamedTuple

from app.presenters.owners import Owners
from app.sessions.core_sentences import cause_text
from broker_core.recording.ownership import Gap, Ownership
from broker_core.snapshots import RebalanceView, Snapshot
from widgets.cards import Move, RebalanceFacts
from widgets.formats import Times, duration, session_time
from widgets.i18n import mark, tr

GAPS_LISTED = 12
_NOTICED = {
    "crash": mark("{time} until the crash was noticed"),
    "pause": mark("{time} until the pause was noticed"),
    "silence": mark("{time} until the silence was noticed"),
}


class _Ended(NamedTuple):
    view: RebalanceView
    gaps: tuple[Gap, ...]
    last_seq: int  # of the events that its gaps are known from
    facts: RebalanceFacts


class RebalanceCards:
    """Cards of a snapshot, the newest first; a rebalance that nothing is added to any more is put into words once."""

    def __init__(self, owners: Owners, times: Times) -> None:
        self._owners = owners
        self._times = times
        self.attach(Ownership())

    def attach(self, ownership: Ownership, *, deliveries: bool = True) -> None:
        """Without known `deliveries` nobody knows who reads when."""
        self._ownership, self._deliveries = ownership, deliveries
        self._ended: dict[tuple[str, int], _Ended] = {}

    def of(self, snapshot: Snapshot) -> tuple[RebalanceFacts, ...]:
        return tuple(
            self._card(view, snapshot.time_ns, snapshot.events)
            for view in sorted(snapshot.rebalances, key=lambda view: view.started_ns, reverse=True)
        )

    def no_reader(self, view: RebalanceView, at: Snapshot) -> str:
        """How long nobody read because of this rebalance, as its card says it."""
        return self._card(view, at.time_ns, at.events).no_reader

    def _card(self, view: RebalanceView, now_ns: int, events: int) -> RebalanceFacts:
        key = (view.group, view.started_ns)
        gaps = self._ownership.gaps(*key)
        known = self._ended.get(key)
        if known is not None and known.last_seq < events and (known.view, known.gaps) == (view, gaps):
            return known.facts
        facts = self._facts(view, key, tuple(gap.at(events) for gap in gaps if gap.revoked_seq < events), now_ns)
        last_seq = max((max(gap.revoked_seq, gap.assigned_seq, gap.first_read_seq) for gap in gaps), default=-1)
        if view.ended_ns is not None and last_seq < events and all(gap.end_ns is not None for gap in gaps):
            self._ended[key] = _Ended(view, gaps, last_seq, facts)
        return facts

    def _facts(self, view: RebalanceView, key: tuple[str, int], gaps: tuple[Gap, ...], now_ns: int) -> RebalanceFacts:
        running = view.ended_ns is None
        after = "…" if view.generation_after is None else str(view.generation_after)
        # What moves is known only when the new assignment is.
        settled = not running or bool(view.after)
        revoked = tuple((topic, partition, owner, "") for topic, partition, owner in view.before)
        moved = view.moved if settled else revoked
        given_up = _given_up(view)
        missed = [gap for gap in gaps if gap.end_ns is not None or gap.cause or gap.place[1] not in given_up]
        longest_first = sorted(missed, key=lambda gap: (-gap.lasted_ns(now_ns), gap.place))
        no_reader = _no_reader(longest_first[0], view, now_ns) if missed else _undisturbed(view, now_ns)
        return RebalanceFacts(
            key=key,
            group=view.group,
            cause=cause_text(view.cause),
            state="Rebalancing" if running else "Stable",
            generation=f"{view.generation_before} → {after}" if (view.generation_after or 0) >= 0 else tr("not known"),
            started=session_time(view.started_ns),
            started_hint=self._times.hint(view.started_ns),
            no_reader=no_reader if self._deliveries else _from_outside(view, now_ns),
            gaps=_listed(longest_first, now_ns) if self._deliveries else "",
            running=running,
            from_outside=not self._deliveries,
            moved=tuple(
                Move(f"{topic}/{partition}", self._owners.party(old), self._owners.party(new))
                for topic, partition, old, new in moved
            ),
            kept=tuple(
                Move(f"{topic}/{partition}", self._owners.party(owner), self._owners.party(owner))
                for topic, partition, owner in (view.kept if settled else ())
            ),
        )


def _from_outside(view: RebalanceView, now_ns: int) -> str:
    if view.is_late and view.ended_ns is not None:
        between = {"start": session_time(view.started_ns), "end": session_time(view.ended_ns)}
        return tr("some time between {start} and {end}; for how long is not known from outside", **between)
    took = duration((view.ended_ns or now_ns) - view.started_ns)
    return tr("about {time}; for how long nobody read is not known from outside", time=took)


def _given_up(view: RebalanceView) -> list[str]:
    """Topics that nobody is to read any more: all members that did have left, or the topic was deleted."""
    kept = {topic for topic, _partition, _owner in view.after}
    return [] if view.ended_ns is None else sorted({topic for topic, _partition, _owner in view.before} - kept)


def _undisturbed(view: RebalanceView, now_ns: int) -> str:
    if view.ended_ns is None:
        return tr("{time} so far; no partition has lost its reader", time=duration(now_ns - view.started_ns))
    took = duration(view.ended_ns - view.started_ns)
    if given_up := _given_up(view):
        return tr("took {time}; afterwards no member read {topics}", time=took, topics=", ".join(given_up))
    if view.started_ns < 0 and any(old for _topic, _partition, old, _new in view.moved):  # before it was observed
        return tr("took {time}; for how long nobody read is not known", time=took)
    return tr("took {time}; no partition lost its reader", time=took)


def _no_reader(gap: Gap, view: RebalanceView, now_ns: int) -> str:
    whole = duration(gap.lasted_ns(now_ns))
    if gap.end_ns is None:
        return tr("no reader for {time} so far", time=whole)
    noticed_ns = max(gap.start_ns, view.started_ns)
    parts = [tr("{time} rebalance", time=duration((gap.assigned_ns or gap.end_ns) - noticed_ns))]
    if gap.cause and noticed_ns > gap.start_ns:
        parts.insert(0, tr(_NOTICED[gap.cause], time=duration(noticed_ns - gap.start_ns)))
    if gap.end_ns != gap.assigned_ns:
        parts.append(tr("{time} until the first fetch", time=duration(gap.end_ns - (gap.assigned_ns or 0))))
    return tr("no reader {time}", time=whole) + (f": {', '.join(parts)}" if len(parts) > 1 else "")


def _listed(gaps: list[Gap], now_ns: int) -> str:
    lines = [
        tr(
            "{place}: no reader for {time}, from {start}",
            place=f"{gap.place[1]}/{gap.place[2]}",
            time=duration(gap.lasted_ns(now_ns)),
            start=session_time(gap.start_ns),
        )
        for gap in gaps[:GAPS_LISTED]
    ]
    more = [tr("and {count:,} more", count=len(gaps) - GAPS_LISTED)] if len(gaps) > GAPS_LISTED else []
    return "\n".join(lines + more)
