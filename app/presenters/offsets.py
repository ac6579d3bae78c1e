from __future__ import annotations

from operator import attrgetter
from typing import Any, NamedTuple

from app.presenters.columns import Column, Sizing, number_column
from app.presenters.owners import Owners
from app.presenters.panel_presenter import Sources, TablePresenter
from app.presenters.table import SnapshotModel
from app.sessions.history.lag_trend import FALLING, RISING, STEADY, LagTrend, lag_trend
from app.sessions.history.series import SessionSeries
from broker_core.clock import NS_PER_MS, NS_PER_S
from broker_core.snapshots import Snapshot, counts_removed
from widgets.formats import NOT_APPLICABLE, at_most, count, duration, per_second, with_unknown
from widgets.i18n import localized, mark, tr
from widgets.panels.panel import declared
from widgets.panels.table_panel import TablePanel
from widgets.roles import Role

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
    trend: LagTrend
    is_at_most: bool


def _drained(row: OffsetRow) -> str:
    if row.lag is None:
        return NOT_APPLICABLE
    if row.lag == 0:
        return tr("caught up")
    if row.trend.drains_s is None:
        return tr("never at this rate")
    return duration(row.trend.drains_s * NS_PER_S)


def _trend(row: OffsetRow) -> str:
    word = tr(row.trend.word.capitalize())
    return NOT_APPLICABLE if row.lag is None else word if row.trend.word == STEADY else f"{word} {_pace(row.trend)}/s"


def _trend_state(row: OffsetRow) -> str | None:
    return None if row.lag is None else row.trend.word.capitalize()


def _pace(trend: LagTrend) -> str:
    return per_second(abs(trend.per_s))


class OffsetsModel(SnapshotModel[OffsetRow]):
    def __init__(self, owners: Owners, series: SessionSeries) -> None:
        self.series = series
        self._summaries: list[str] = []

        def number(title: str, field: str, about: str, sizing: Sizing = (80,)) -> Column[OffsetRow]:
            return number_column(title, attrgetter(field), sizing, about=about)

        columns: tuple[Column[OffsetRow], ...] = (
            Column("Group", lambda row: row.group, (96, 2)),
            Column("Topic", lambda row: row.topic, (96, 3)),
            number_column("Partition", lambda row: row.partition, (80,), shown=str),
            owners.owner_column("Owner", lambda row: row.owner, (124, 2), nobody=tr("nobody")),
            number(mark("Start"), "start", "Offset of the first message that is still stored.", (76, 0, 2)),
            number(mark("End"), "end", "Offset that the next message will get."),
            number(mark("Position"), "position", "Offset that the owner reads next."),
            number(
                mark("Committed"),
                "committed",
                "Offset from which a new owner would go on; n/a where nothing is committed.",
                (92,),
            ),
            number_column(
                "Lag (messages)",
                lambda row: row.lag,
                (118,),
                text=lambda row: at_most(count(row.lag), row.is_at_most),
                roles={Role.WARN: lambda row: _WARN.get(row.trend.word, "") if row.lag else ""},
                about="Messages from the committed offset, or from where the group began, to the end; n/a if not "
                "known. In a compacted topic, ≤ marks an upper bound: offsets emptied by compaction are counted, too. "
                "On a cluster a transaction's marker may count, which is no message.",
            ),
            number_column(
                "Lag (s)",
                lambda row: None if row.lag_ms is None else row.lag_ms * NS_PER_MS,
                (70,),
                shown=lambda lag_ns: localized(f"{lag_ns / NS_PER_S:,.1f}"),
                about="Age of the oldest message that is not committed.",
                field="lag_time",
                kind="duration",
            ),
            Column(
                "Trend",
                _trend,
                (104,),
                "state",
                sort=lambda row: row.trend.per_s,
                roles={Role.STATE: _trend_state, Role.TREND: lambda row: row.trend.word},
                about="How fast the lag rises or falls, in messages/s, over the last five seconds.",
                value=_trend_state,
            ),
            number_column(
                "Drained in",
                lambda row: None if row.trend.drains_s is None else row.trend.drains_s * NS_PER_S,
                (92,),
                text=_drained,
                sort=lambda row: 1 << 40 if row.trend.drains_s is None else row.trend.drains_s,
                about="Time until the lag is gone, at the pace of the last five seconds; n/a if the lag is not known.",
                kind="duration",
            ),
        )
        super().__init__(columns, key=lambda row: row[:3])

    def summary(self) -> str:
        return "  ".join(self._summaries)

    def _sum_up(self, snapshot: Snapshot) -> None:
        self._summaries = []
        for group in snapshot.groups:
            lag = group.lag
            if not lag:
                continue
            trend = lag_trend(self.series, snapshot.time_ns, group.name)
            behind = at_most(count(lag), counts_removed(group.offsets, snapshot.compacted))
            words = {"group": group.name, "lag": with_unknown(behind, group.lag_unknown)}
            words |= {"over": duration(trend.over_ns), "pace": _pace(trend)}
            if trend.word == FALLING:
                words["time"] = duration((trend.drains_s or 0) * NS_PER_S)
                told = tr("{group} is {lag} behind, falling by {pace}/s over {over}: drained in {time}.", **words)
            elif trend.word == RISING:
                told = tr("{group} is {lag} behind, rising by {pace}/s over {over}.", **words)
            else:
                told = tr("{group} is {lag} behind, steady over {over}.", **words)
            self._summaries.append(told)

    def set_snapshot(self, snapshot: Snapshot) -> None:
        starts = {
            (topic.name, part.partition): part.start_offset for topic in snapshot.topics for part in topic.partitions
        }
        rows, compacted = [], snapshot.compacted
        for group in snapshot.groups:
            for at in group.offsets:
                place = (group.name, at.topic, at.partition)
                trend = lag_trend(self.series, snapshot.time_ns, *place)
                rows.append(
                    OffsetRow(
                        *place,
                        owner=at.owner,
                        start=starts.get((at.topic, at.partition)),
                        end=at.end_offset,
                        position=at.position if self.series.deliveries else None,
                        committed=at.committed,
                        lag=at.lag,
                        # Tenths of a second are shown: finer steps would only redraw the cell.
                        lag_ms=None if at.lag_ns is None else at.lag_ns // 100_000_000 * 100,
                        trend=trend,
                        is_at_most=counts_removed((at,), compacted),
                    )
                )
        self._sum_up(snapshot)
        self.set_rows(tuple(sorted(rows)))


class OffsetsPanel(TablePanel):
    info = declared("offsets")


class OffsetsPresenter(TablePresenter[OffsetsPanel]):
    panel_class = OffsetsPanel

    def __init__(self, sources: Sources) -> None:
        self.model = OffsetsModel(sources.owners, sources.series)
        super().__init__(sources, self.model)

    def restart(self) -> None:
        super().restart()
        self.model.series = self._controller.collectors.series

    def thing_of(self, key: Any) -> str:
        return f"lane:{key[-2]}/{key[-1]}"

    def show_around(self, snapshot: Snapshot) -> None:
        self.panel.set_note(self.model.summary())
