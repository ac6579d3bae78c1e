"""What the timeline shows: gathered from one snapshot after another, halved when it grows too fine."""

from __future__ import annotations

from app.view_models.formats import duration
from app.view_models.gauges import gates
from app.view_models.rates import Rates
from broker_core.snapshots import Snapshot
from widgets.timeline import Band, Tick, TimelineFacts

SAMPLES_MAX = 600
TICKS_MAX = 400
_FIRST_STEP_NS = 100_000_000


class TimelineModel:
    """Throughput samples, rebalance bands and ticks since the session began."""

    def __init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Forget everything: another session begins."""
        self._rates = Rates(500_000_000)
        self._samples: list[tuple[int, float]] = []
        self._step_ns = _FIRST_STEP_NS
        self._ticks: list[Tick] = []
        self._dead = 0
        self._redriven = 0
        self._blocked: frozenset[tuple[str, str]] = frozenset()
        self._now_ns = 0

    def note_action(self, time_ns: int, label: str) -> None:
        """A user's action, as a tick."""
        self._tick(Tick(time_ns, "action", label))

    def _tick(self, tick: Tick) -> None:
        last = self._ticks[-1] if self._ticks else None
        close = last is not None and last.kind == tick.kind and tick.time_ns - last.time_ns < self._step_ns
        if close and tick.kind != "action":
            return
        self._ticks.append(tick)
        if len(self._ticks) > TICKS_MAX:
            del self._ticks[: TICKS_MAX // 4]

    def meet(self, snapshot: Snapshot) -> TimelineFacts:
        """The facts after one more snapshot; one that is older than the last starts anew."""
        now_ns, totals = snapshot.time_ns, snapshot.totals
        if now_ns < self._now_ns or not self._samples:
            if self._samples:
                self.restart()
            # What happened before the first look has no moment that could be shown.
            self._dead, self._redriven = totals.dead_lettered, totals.redriven
        self._now_ns = now_ns
        per_s = self._rates.meet("published", now_ns, totals.published)
        if not self._samples or now_ns - self._samples[-1][0] >= self._step_ns:
            self._samples.append((now_ns, per_s))
        if len(self._samples) > SAMPLES_MAX:
            # The earlier moment of each pair, so that the strip goes on beginning where the session does.
            pairs = zip(self._samples[::2], self._samples[1::2], strict=False)
            self._samples = [(time_ns, (one + other) / 2) for (time_ns, one), (_later, other) in pairs]
            self._step_ns *= 2
        self._meet_losses(snapshot)
        return TimelineFacts(
            start_ns=0,
            now_ns=now_ns,
            samples=tuple(self._samples),
            bands=tuple(
                Band(
                    view.started_ns,
                    view.ended_ns,
                    f"{view.group} rebalanced, {duration((view.ended_ns or now_ns) - view.started_ns)}: {view.cause}",
                )
                for view in snapshot.rebalances
            ),
            ticks=tuple(self._ticks),
        )

    def _meet_losses(self, snapshot: Snapshot) -> None:
        now_ns, totals = snapshot.time_ns, snapshot.totals
        if totals.dead_lettered > self._dead:
            self._tick(Tick(now_ns, "dead letter", f"{totals.dead_lettered - self._dead:,} dead-lettered"))
        if totals.redriven > self._redriven:
            self._tick(Tick(now_ns, "redrive", f"{totals.redriven - self._redriven:,} redriven"))
        self._dead, self._redriven = totals.dead_lettered, totals.redriven
        blocked = frozenset((gate.target, name) for gate, _kind in gates(snapshot) for name, _since in gate.blocked)
        for target, name in sorted(blocked - self._blocked):
            self._tick(Tick(now_ns, "blocked", f"{name} blocked by {target}"))
        self._blocked = blocked
