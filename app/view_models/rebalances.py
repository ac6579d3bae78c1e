"""Rebalances as cards."""

from __future__ import annotations

from app.view_models.formats import Times, duration, session_time
from app.view_models.owners import Owners
from broker_core.snapshots import RebalanceView, Snapshot
from widgets.cards import Move, Party, RebalanceFacts


class RebalanceCards:
    """Cards of a snapshot, the newest first; a rebalance that has ended is put into words once."""

    def __init__(self, owners: Owners, times: Times) -> None:
        self._owners = owners
        self._times = times
        self._ended: dict[tuple[str, int], tuple[RebalanceView, RebalanceFacts]] = {}

    def of(self, snapshot: Snapshot) -> tuple[RebalanceFacts, ...]:
        """The cards."""
        return tuple(
            self._card(view, snapshot.time_ns)
            for view in sorted(snapshot.rebalances, key=lambda view: view.started_ns, reverse=True)
        )

    def _card(self, view: RebalanceView, now_ns: int) -> RebalanceFacts:
        key = (view.group, view.started_ns)
        known = self._ended.get(key)
        if known is not None and (known[0] is view or known[0] == view):
            return known[1]
        facts = self._facts(view, key, now_ns)
        if view.ended_ns is not None:
            self._ended[key] = (view, facts)
        return facts

    def _facts(self, view: RebalanceView, key: tuple[str, int], now_ns: int) -> RebalanceFacts:
        running = view.ended_ns is None
        end_ns = now_ns if view.ended_ns is None else view.ended_ns
        after = "…" if view.generation_after is None else str(view.generation_after)
        # What moves is known only when the new assignment is.
        settled = not running or bool(view.after)
        revoked = tuple((topic, partition, owner, "") for topic, partition, owner in view.before)
        moved = view.moved if settled else revoked
        return RebalanceFacts(
            key=key,
            group=view.group,
            cause=view.cause,
            state="Rebalancing" if running else "Stable",
            generation=f"{view.generation_before} → {after}",
            started=session_time(view.started_ns),
            started_hint=self._times.hint(view.started_ns),
            pause=duration(end_ns - view.started_ns),
            running=running,
            moved=tuple(
                Move(f"{topic}/{partition}", self._party(old), self._party(new)) for topic, partition, old, new in moved
            ),
            kept=tuple(
                Move(f"{topic}/{partition}", self._party(owner), self._party(owner))
                for topic, partition, owner in (view.kept if settled else ())
            ),
        )

    def _party(self, name: str) -> Party:
        return Party(name, self._owners.hue(name), self._owners.letter(name)) if name else Party()
