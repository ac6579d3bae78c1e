from __future__ import annotations

from dataclasses import dataclass

from app.presenters.in_flight import in_flight_words
from app.sessions.history.series import ALL_PUBLISHED, Key, SessionSeries
from broker_core.snapshots import Snapshot
from widgets.formats import byte_size, duration, per_second
from widgets.i18n import tr
from widgets.status_bar import StatusFacts


@dataclass(frozen=True, slots=True)
class FrameFigures:
    cost_p50_ms: float
    cost_p99_ms: float
    delay_p50_ms: float
    delay_p99_ms: float
    worst_ms: float
    dropped: int


class StatusModel:
    def __init__(self, series: SessionSeries) -> None:
        self.series = series
        self.origin = ""  # the seed, or where the broker is
        self.recording_bytes: int | None = None
        self.frames: FrameFigures | None = None

    def update(self, snapshot: Snapshot) -> StatusFacts:
        per_s = self.series.rate(ALL_PUBLISHED, snapshot.time_ns)
        window = window_words(self.series, snapshot.time_ns)
        return StatusFacts(
            seed=self.origin,
            rate=tr("{rate} messages/s", rate=per_second(per_s)),
            rate_tip=f"{tr('Messages published in each session second.')}\n{window}",
            in_flight=in_flight_words(snapshot) if self.series.deliveries else "",
            recording=""
            if self.recording_bytes is None
            else tr("Recording {size}", size=byte_size(self.recording_bytes)),
            frame="" if self.frames is None else frame_words(self.frames),
            frame_tip="" if self.frames is None else frame_tip(self.frames),
        )


def window_words(series: SessionSeries, time_ns: int, key: Key = ALL_PUBLISHED) -> str:
    start_ns, end_ns = series.window_ns(time_ns, key)
    return tr("Rates are the mean of the last {time}.", time=duration(end_ns - start_ns))


def frame_words(figures: FrameFigures) -> str:
    return tr(
        "Frame {cost} ms, late {late} ms, frames dropped {dropped}",
        cost=f"{figures.cost_p50_ms:.0f}",
        late=f"{figures.delay_p50_ms:.0f}",
        dropped=f"{figures.dropped:,}",
    )


def frame_tip(figures: FrameFigures) -> str:
    return tr(
        "The last ten seconds of this window:\n"
        "drawing a frame took {cost} ms at the median, {cost_99} ms at the 99th percentile;\n"
        "it began {late} ms late, {late_99} ms at the 99th percentile, {worst} ms at the worst.",
        cost=f"{figures.cost_p50_ms:.1f}",
        cost_99=f"{figures.cost_p99_ms:.1f}",
        late=f"{figures.delay_p50_ms:.1f}",
        late_99=f"{figures.delay_p99_ms:.1f}",
        worst=f"{figures.worst_ms:.1f}",
    )
