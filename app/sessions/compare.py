"""Two sessions side by side: the figures that the report compares them by, and those of each topic, group and queue."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from app.sessions.work import Work
from broker_core.recording import metadata as meta
from broker_core.recording import schema
from broker_core.recording.columns import events_of
from broker_core.recording.event_index import EventIndex
from broker_core.recording.playback import FolderPlayback
from broker_core.recording.recorder import Recorder
from broker_core.recording.session_figures import QUANTILES, SessionFigures
from broker_core.snapshots import GateView, Snapshot
from resources.measures import MEASURES, Measure, Unit, unlike, verdict
from resources.outcomes import OUTCOMES
from resources.units import byte_size, per_second
from widgets.dialogs.facts_table import FactsTable
from widgets.formats import NOT_APPLICABLE, duration
from widgets.i18n import mark, tr

MOMENTS = 600  # keyframes that are looked at for the greatest lag

Key = tuple[str, str]  # label of the figure, and what it is about: "" for all
LENGTH = (MEASURES["length_ns"].label, "")
_LAG_AT_END = Measure(mark("Lag at the end"), "count", "", "less")
_WAITING_AT_END = Measure(mark("Waiting at the end"), "count", "", "less")
_GREATEST_LAG = Measure(mark("Greatest lag"), "count", "", "less")
_GREATEST_DEPTH = Measure(mark("Greatest depth"), "count", "", "less")
_FORMATS: dict[Unit, Callable[[float], str]] = {
    "count": lambda value: f"{value:,.0f}",
    "duration": lambda value: duration(round(value)),
    "rate": per_second,
    "size": byte_size,
}


@dataclass
class Figures:
    """What one session comes to; `measures` says of each figure what it is."""

    name: str
    values: dict[Key, float] = field(default_factory=dict)
    measures: dict[Key, Measure] = field(default_factory=dict)

    def add(self, measure: Measure, about: str, value: float | None) -> None:
        """A figure of `about`; none where it is not known."""
        if value is not None:
            self.values[measure.label, about] = value
            self.measures[measure.label, about] = measure


def figures_of(folder: Path, work: Work, part: tuple[float, float], recorder: Recorder | None = None) -> Figures:
    """The figures of the session in `folder`; `part` is the share of the work that this is, from and to."""
    metadata = meta.read_metadata(folder)
    found = Figures(f"{metadata.started_at[:19].replace('T', ' ')}, seed {metadata.seed}")
    if recorder is not None:
        recorder.flush()
    playback = FolderPlayback(folder, recorder)
    work.report(part[0], tr("Reading {name}", name=folder.name))
    end = playback.end()
    reduced = SessionFigures()
    index = EventIndex(folder, None if recorder is None else recorder.unsealed)
    for batch in index.batches(schema.CONTROL):
        for event in events_of(batch):
            reduced.control(event)
    work.report(part[0] + (part[1] - part[0]) * 0.3, tr("Reading the messages of {name}", name=folder.name))
    for batch in index.batches(schema.MESSAGES):
        reduced.messages(batch)
    for name, value in reduced.values(end.time_ns if metadata.duration_ns is None else metadata.duration_ns).items():
        found.add(MEASURES[name], "", value)
    _ends(found, end)
    _moments(found, playback)
    for reader, waits in sorted(reduced.first_deliveries.items()):
        for name, quantile in QUANTILES.items():
            found.add(MEASURES[name], reader, waits.quantile_ns(quantile))
    for group, counts in reduced.groups.items():
        for name in ("rebalances", "moved", "rebalancing_ns"):
            found.add(MEASURES[name], group, counts[name])
    work.report(part[1], folder.name)
    return found


def _ends(found: Figures, end: Snapshot) -> None:
    for topic in end.topics:
        found.add(MEASURES["published"], topic.name, topic.published)
        if topic.gate is not None:
            _gate(found, topic.gate)
    for group in end.groups:
        found.add(_LAG_AT_END, group.name, group.lag)
    for queue in end.queues:
        found.add(MEASURES["acknowledged"], queue.name, queue.acknowledged)
        found.add(MEASURES["redelivered"], queue.name, queue.redelivered)
        found.add(MEASURES["dead_lettered"], queue.name, queue.dead_lettered)
        if queue.gate is not None:
            _gate(found, queue.gate)
        found.add(_WAITING_AT_END, queue.name, queue.ready + queue.delayed + queue.in_flight)


def _gate(found: Figures, gate: GateView) -> None:
    for kind, number in (("rejected", gate.rejected), ("dropped", gate.dropped), ("evicted", gate.evicted)):
        found.add(MEASURES["turned_away"]._replace(label=OUTCOMES[kind]), gate.target, number)
    found.add(MEASURES["blocked_ns"], gate.target, gate.blocked_ns_total)


def _moments(found: Figures, playback: FolderPlayback) -> None:
    lags: dict[str, int] = defaultdict(int)
    depths: dict[str, int] = defaultdict(int)
    for moment in playback.moments(MOMENTS):
        for group in moment.groups:
            if group.lag is not None:
                lags[group.name] = max(lags[group.name], group.lag)
        for queue in moment.queues:
            depths[queue.name] = max(depths[queue.name], queue.ready + queue.delayed + queue.in_flight)
    for name, lag in lags.items():
        found.add(_GREATEST_LAG, name, lag)
    for name, depth in depths.items():
        found.add(_GREATEST_DEPTH, name, depth)


def comparison(one: Figures, other: Figures) -> FactsTable:
    """The differences of `one` from `other`; better or worse as the report judges them."""
    verdicts = {
        "": "",
        "same": "",
        "noise": tr("may be chance"),
        "better": tr("better"),
        "worse": tr("worse"),
        "different": tr("different"),
    }
    lengths_differ = unlike(one.values.get(LENGTH, 0), other.values.get(LENGTH, 0))
    rows, strong, apart = [], set(), False
    for key in dict.fromkeys((*one.values, *other.values)):
        measure = one.measures.get(key) or other.measures[key]
        mine, theirs = one.values.get(key), other.values.get(key)
        judged = verdict(measure, mine, theirs, lengths_differ=lengths_differ)
        rows.append(
            (
                tr(measure.label),
                key[1] or tr("all"),
                _text(mine, measure.unit),
                _text(theirs, measure.unit),
                _difference(mine, theirs, measure.unit),
                verdicts[judged],
            )
        )
        apart |= judged != "same"
        if judged not in ("same", "noise"):
            strong.add(len(rows) - 1)
    sentence = (
        tr("{count} of {all} figures differ.", count=len(strong), all=len(rows))
        if strong
        else tr("No figure differs by more than a tenth and by more than chance.")
        if apart
        else tr("The two runs are the same in every figure.")
    )
    note = tr(
        "Figures that differ by no more than 2 % are the same. Up to a tenth, and counts up to what chance does to "
        "them, are not judged. Greatest lag and depth are of the moments that were kept, about one a second."
    )
    if lengths_differ:
        note = tr("The sessions lasted differently long: sums are not judged.") + " " + note
    return FactsTable(
        sentence,
        (tr("Figure"), tr("Of"), one.name, other.name, tr("Difference"), tr("Verdict")),
        tuple(rows),
        frozenset(strong),
        frozenset({2, 3, 4}),
        note,
    )


def _text(value: float | None, unit: Unit) -> str:
    return NOT_APPLICABLE if value is None else _FORMATS[unit](value)


def _difference(mine: float | None, theirs: float | None, unit: Unit) -> str:
    if mine is None or theirs is None or mine == theirs:
        return "" if mine == theirs else NOT_APPLICABLE
    change = mine - theirs
    sign = "+" if change > 0 else "−"
    share = f" ({change / theirs:+.0%})" if theirs else ""
    return f"{sign}{_FORMATS[unit](abs(change))}{share}"
