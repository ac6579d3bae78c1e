"""How far each group has come in each partition, and whether it is falling behind."""

from __future__ import annotations

from collections import deque
from itertools import pairwise
from typing import NamedTuple

from PySide6.QtCore import QObject

from app.view_models.columns import Column
from app.view_models.formats import NOT_APPLICABLE, count, duration
from app.view_models.owners import Owners
from app.view_models.table import TableModel
from broker_core.clock import NS_PER_MS, NS_PER_S
from broker_core.snapshots import Snapshot
from widgets.roles import Role
from widgets.words import mark, tr

TREND_WINDOW_NS = 2_000_000_000
_SAMPLE_NS = 200_000_000
_FEW_LOOKS, _LEAST_DRIFT = 4, 10  # of each half; messages
RISING, FALLING, STEADY = "rising", "falling", "steady"
_WARN = {RISING: "lag_up", FALLING: "lag_down"}


class OffsetRow(NamedTuple):
    """One partition as one group sees it; offsets in messages, `lag_ms` in milliseconds, None for "n/a"."""

    group: str
    topic: str
    partition: int
    owner: str
    start: int | None
    end: int
    position: int | None
    committed: int | None
    lag: int | None
    lag_ms: int | None
    trend: str
    drains_s: int | None = None


class LagTrend:
    """Compares a lag with what it was about two seconds before."""

    def __init__(self) -> None:
        self._samples: deque[tuple[int, int]] = deque()
        self._word = STEADY

    def meet(self, time_ns: int, lag: int | None) -> str:
        """The trend after one more look; steady without a lag, and where it moved by no more than a tenth or two.

        A large lag moves by less than a tenth for long: it counts, too, when it moves by more than it swings.
        """
        samples = self._samples
        if lag is None or (samples and time_ns < samples[-1][0]):
            samples.clear()
            self._word = STEADY
        if lag is None:
            return STEADY
        if samples and time_ns - samples[-1][0] < _SAMPLE_NS:
            return self._word
        samples.append((time_ns, lag))
        while samples[0][0] < time_ns - TREND_WINDOW_NS and len(samples) > 2:
            samples.popleft()
        before = samples[0][1]
        moved = lag - before
        if abs(moved) <= max(2, before // 10):
            moved = self._drift()
        self._word = STEADY if not moved else RISING if moved > 0 else FALLING
        return self._word

    def _drift(self) -> int:
        """How far the later half of the looks lies from the earlier one; 0 where no further than it swings."""
        lags = [lag for _, lag in self._samples]
        half = len(lags) // 2
        if half < _FEW_LOOKS:
            return 0
        drift = sum(lags[-half:]) / half - sum(lags[:half]) / half
        swing = sum(abs(b - a) for a, b in pairwise(lags)) / (len(lags) - 1)
        return round(drift) if abs(drift) > max(_LEAST_DRIFT, 2 * swing) else 0

    def drains_s(self, lag: int | None) -> int | None:
        """In how many seconds nothing is left at the pace of the last two; None where it does not fall."""
        if not lag:
            return None if lag is None else 0
        (first_ns, before), (last_ns, now) = self._samples[0], self._samples[-1]
        if self._word != FALLING or now >= before or last_ns <= first_ns:
            return None
        return max(1, round(lag * (last_ns - first_ns) / (before - now) / 1e9))


def _drained(row: OffsetRow) -> str:
    if row.lag is None:
        return NOT_APPLICABLE
    if row.lag == 0:
        return tr("caught up")
    if row.drains_s is None:
        return tr("never so") if row.trend == RISING else tr("not falling")
    return duration(row.drains_s * 1_000_000_000)


class OffsetsModel(TableModel[OffsetRow]):
    """Group by partition: start, end, position, committed, lag in messages and seconds, trend."""

    def __init__(self, owners: Owners, parent: QObject | None = None) -> None:
        self._trends: dict[tuple[str, str, int], LagTrend] = {}
        self._groups: dict[str, LagTrend] = {}
        self._summaries: list[str] = []

        def number(title: str, field: str, about: str) -> Column[OffsetRow]:
            def value(row: OffsetRow) -> int | None:
                found: int | None = getattr(row, field)
                return found

            def sort(row: OffsetRow) -> int:
                found = value(row)
                return -1 if found is None else found

            return Column(title, lambda row: count(value(row)), sort, numeric=True, about=about)

        columns = (
            Column[OffsetRow]("Group", lambda row: row.group),
            Column[OffsetRow]("Topic", lambda row: row.topic),
            Column[OffsetRow]("Partition", lambda row: str(row.partition), lambda row: row.partition, numeric=True),
            Column[OffsetRow](
                "Owner",
                lambda row: row.owner or "nobody",
                roles={
                    Role.HUE: lambda row: owners.hue(row.owner) if row.owner else None,
                    Role.BADGE: lambda row: owners.letter(row.owner) or None,
                },
            ),
            number(mark("Start"), "start", tr("Offset of the first message that is still stored.")),
            number(mark("End"), "end", tr("Offset that the next message will get.")),
            number(mark("Position"), "position", tr("Offset that the owner reads next.")),
            number(
                mark("Committed"),
                "committed",
                tr("Offset from which a new owner would go on; n/a where nothing is committed."),
            ),
            Column[OffsetRow](
                "Lag (messages)",
                lambda row: count(row.lag),
                lambda row: -1 if row.lag is None else row.lag,
                numeric=True,
                roles={Role.WARN: lambda row: _WARN.get(row.trend, "") if row.lag else ""},
                about=tr("End offset less committed offset; n/a where nothing is committed."),
                value=lambda row: row.lag,
            ),
            Column[OffsetRow](
                "Lag (s)",
                lambda row: NOT_APPLICABLE if row.lag_ms is None else f"{row.lag_ms / 1000:,.1f}",
                lambda row: -1 if row.lag_ms is None else row.lag_ms,
                numeric=True,
                about=tr("Age of the oldest message that is not committed."),
                field="lag_time",
                kind="duration",
                value=lambda row: None if row.lag_ms is None else row.lag_ms * NS_PER_MS,
            ),
            Column[OffsetRow](
                "Trend",
                lambda row: row.trend.capitalize() if row.lag is not None else NOT_APPLICABLE,
                roles={
                    Role.STATE: lambda row: row.trend.capitalize() if row.lag is not None else None,
                    Role.TREND: lambda row: row.trend,
                },
                about=tr("The lag of now against that of two seconds ago."),
            ),
            Column[OffsetRow](
                "Drained in",
                _drained,
                lambda row: 1 << 40 if row.drains_s is None else row.drains_s,
                numeric=True,
                about=tr("When nothing is left, at the pace of the last two seconds; n/a where nothing is committed."),
                kind="duration",
                value=lambda row: None if row.drains_s is None else row.drains_s * NS_PER_S,
            ),
        )
        super().__init__(columns, key=lambda row: row[:3], parent=parent)

    def restart(self) -> None:
        """Forget trends: another session begins."""
        self._trends.clear()
        self._groups.clear()

    def summary(self) -> str:
        """Each group that is behind, whether it catches up, and when it will have."""
        return "  ".join(self._summaries)

    def _sum_up(self, snapshot: Snapshot) -> None:
        self._summaries = []
        for group in snapshot.groups:
            known = [at.lag for at in group.offsets if at.lag is not None]
            lag = sum(known) if known else None
            lags = self._groups.setdefault(group.name, LagTrend())
            trend = lags.meet(snapshot.time_ns, lag)
            if not lag:
                continue
            words = {"group": group.name, "lag": count(lag)}
            seconds = lags.drains_s(lag)
            if seconds is not None:
                in_time = duration(seconds * 1_000_000_000)
                told = tr("{group} is {lag} behind and catching up: drained in {time}.", time=in_time, **words)
            elif trend == RISING:
                told = tr("{group} is {lag} behind and falling further behind.", **words)
            else:
                told = tr("{group} is {lag} behind and stays so.", **words)
            self._summaries.append(told)

    def set_snapshot(self, snapshot: Snapshot) -> None:
        """Show the offsets of a snapshot."""
        starts = {
            (topic.name, part.partition): part.start_offset for topic in snapshot.topics for part in topic.partitions
        }
        rows = []
        for group in snapshot.groups:
            for at in group.offsets:
                place = (group.name, at.topic, at.partition)
                lags = self._trends.setdefault(place, LagTrend())
                trend = lags.meet(snapshot.time_ns, at.lag)
                rows.append(
                    OffsetRow(
                        *place,
                        owner=at.owner,
                        start=starts.get((at.topic, at.partition)),
                        end=at.end_offset,
                        position=at.position,
                        committed=at.committed,
                        lag=at.lag,
                        # Tenths of a second are shown: finer steps would only redraw the cell.
                        lag_ms=None if at.lag_ns is None else at.lag_ns // 100_000_000 * 100,
                        trend=trend,
                        drains_s=lags.drains_s(at.lag),
                    )
                )
        self._sum_up(snapshot)
        self.set_rows(tuple(sorted(rows)))
