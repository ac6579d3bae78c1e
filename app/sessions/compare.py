"""Two sessions side by side: the figures that the report compares them by, and those of each topic, group and queue."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from app.sessions.queries import Work
from broker_core.clock import NS_PER_S
from broker_core.events import Event, EventKind
from broker_core.recording import metadata as meta
from broker_core.recording import schema
from broker_core.recording.columns import events_of
from broker_core.recording.event_index import EventIndex
from broker_core.recording.playback import FolderPlayback
from broker_core.recording.recorder import Recorder
from broker_core.recording.session_figures import FIRST, QUANTILES, SessionFigures
from broker_core.simulation.strict_yaml import Document, YamlError
from broker_core.snapshots import GateView, Snapshot
from resources.measures import MEASURES, TELLING, Measure, Unit, Verdict, unlike, verdict
from resources.otherwise import Otherwise, done_in_words, flat_settings, otherwise
from resources.outcomes import OUTCOMES
from widgets.dialogs.facts_table import FactsTable
from widgets.formats import NOT_APPLICABLE, byte_size, duration, per_second, session_time
from widgets.i18n import localized, mark, tr

_DONE = frozenset({EventKind.FAULT, EventKind.USER_ACTION})
_FLOWS = {EventKind.PUBLISHED: "topic", EventKind.DELIVERED: "group"}


@dataclass
class Setup:
    """How a session was set up, and what was done in it: each action and fault in words, with its first time."""

    settings: Mapping[str, str] = field(default_factory=dict)
    done: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, folder: Path, seed: int | None) -> Setup:
        """Nothing has been done yet. A scenario that cannot be read has no settings."""
        try:
            content = Document((folder / schema.SCENARIO_FILE).read_text(encoding="utf-8")).value
        except (OSError, UnicodeDecodeError, YamlError):
            content = None
        return cls(flat_settings(content if isinstance(content, dict) else {}, seed))

    def note(self, event: Event) -> None:
        if event.kind in _DONE:
            self.done.setdefault(done_in_words(event.cause or str(event.kind), event.client), event.time_ns)

    def otherwise(self, base: Setup) -> list[Otherwise]:
        return otherwise(self.settings, base.settings, self.done, base.done)


def words_of(one: Otherwise) -> str:
    if one.at_ns is None:
        unset = tr("not set")
        return tr(
            "{name} is {value} instead of {base}", name=one.what, value=one.value or unset, base=one.base or unset
        )
    at = session_time(one.at_ns).partition(".")[0]
    return (
        tr("{what} at {time}", what=one.what, time=at)
        if one.done
        else tr("no {what} at {time}", what=one.what, time=at)
    )


class Flows:
    """How many messages were published to each topic or queue and delivered to each reader, second by second; to and by
    all of them under "". `seconds` has them by name."""

    def __init__(self) -> None:
        self.seconds: dict[str, Counter[int]] = defaultdict(Counter)

    def messages(self, batch: pa.RecordBatch) -> None:
        rows = pa.Table.from_batches([batch.select(["time_ns", "kind", "topic", "group", "count"])])
        rows = rows.append_column("second", pc.divide(rows["time_ns"], NS_PER_S))
        for kind, of in _FLOWS.items():
            found = (
                rows.filter(pc.equal(rows["kind"], kind.value)).group_by([of, "second"]).aggregate([("count", "sum")])
            )
            for row in found.to_pylist():
                self.add(row[of], row["second"], row["count_sum"])

    def add(self, about: str, second: int, messages: int) -> None:
        self.seconds[about][second] += messages
        self.seconds[""][second] += messages

    def parting_ns(self, other: Flows, about: str, end_ns: int) -> int | None:
        """From when on the sums differ by a tenth of the most that they ever do up to `end_ns`; None if they never
        do."""
        mine, theirs = (one.seconds.get(about, Counter()) for one in (self, other))
        differences = [mine[second] - theirs[second] for second in range(end_ns // NS_PER_S)]
        apart = [abs(difference) for difference in accumulate(differences)]
        most = max(apart, default=0)
        return next(second * NS_PER_S for second, by in enumerate(apart) if by >= most * TELLING) if most else None


def cause_of(found: Sequence[Otherwise], parting_ns: int | None) -> Otherwise | None:
    """The cause of a difference, as far as it is known: the only thing that differs, or the last action within the
    second in which the sessions diverge. None if neither is known."""
    if len(found) == 1:
        return found[0]
    if parting_ns is None:
        return None
    before = [one for one in found if one.at_ns is not None and one.at_ns < parting_ns + NS_PER_S]
    return max(before, key=lambda one: one.at_ns or 0, default=None)


MOMENTS = 600  # keyframes that are looked at for the greatest lag

CAUSES_TOLD = 4
_ORDER: tuple[Verdict, ...] = ("worse", "better", "different", "", "noise", "same")
_VERDICTS: dict[Verdict, str] = {
    "": "",
    "same": "",
    "noise": mark("may be chance"),
    "better": mark("better"),
    "worse": mark("worse"),
    "different": mark("different"),
}
_LOOKS: dict[Verdict, tuple[str, str]] = {"better": ("stable", "check"), "worse": ("failure", "warning")}

Key = tuple[str, str]  # label of the figure, and what it is about: "" for all
LENGTH = (MEASURES["length_ns"].label, "")
_LAG_AT_END = Measure(mark("Lag at the end"), "count", "Waiting", "less")
_WAITING_AT_END = Measure(mark("Waiting at the end"), "count", "Waiting", "less")
_GREATEST_LAG = Measure(mark("Greatest lag"), "count", "Waiting", "less")
_GREATEST_DEPTH = Measure(mark("Greatest depth"), "count", "Waiting", "less")
_FORMATS: dict[Unit, Callable[[float], str]] = {
    "count": lambda value: localized(f"{value:,.0f}"),
    "duration": lambda value: duration(round(value)),
    "rate": per_second,
    "size": byte_size,
}


@dataclass
class Figures:
    """The figures of one session; `measures` describes each of them."""

    name: str
    setup: Setup
    values: dict[Key, float] = field(default_factory=dict)
    measures: dict[Key, Measure] = field(default_factory=dict)
    flows: Flows = field(default_factory=Flows)

    def add(self, measure: Measure, about: str, value: float | None) -> None:
        if value is not None:
            self.values[measure.label, about] = value
            self.measures[measure.label, about] = measure

    def parting_ns(self, other: Figures, about: str) -> int | None:
        """From when on the two differ in what is published to or delivered to `about`, while both go on."""
        return self.flows.parting_ns(other.flows, about, round(min(one.values.get(LENGTH, 0) for one in (self, other))))


def figures_of(folder: Path, work: Work, part: tuple[float, float], recorder: Recorder | None = None) -> Figures:
    """The figures of the session in `folder`; `part` is the share of the work that this is, from and to."""
    metadata = meta.read_metadata(folder)
    found = Figures(
        f"{metadata.started_at[:19].replace('T', ' ')}, seed {metadata.seed}", Setup.of(folder, metadata.seed)
    )
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
            found.setup.note(event)
    work.report(part[0] + (part[1] - part[0]) * 0.3, tr("Reading the messages of {name}", name=folder.name))
    for batch in index.batches(schema.MESSAGES):
        reduced.messages(batch)
        found.flows.messages(batch)
    for name, value in reduced.values(end.time_ns if metadata.duration_ns is None else metadata.duration_ns).items():
        found.add(MEASURES[name], "", value)
    _ends(found, end)
    _moments(found, playback)
    for (kind, reader), waits in sorted(reduced.durations.items()):
        for name, quantile in QUANTILES.items() if kind == FIRST and reader else ():
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
        found.add(_LAG_AT_END, group.name, None if group.lag_unknown else group.lag)
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
    """The differences of `one` from `other`, the worse first; better or worse as the report judges them, and what each
    comes of as far as that can be told. What does not differ is folded."""
    lengths_differ = unlike(one.values.get(LENGTH, 0), other.values.get(LENGTH, 0))
    causes = one.setup.otherwise(other.setup)
    judged: dict[Key, Verdict] = {}
    for key in dict.fromkeys((*one.values, *other.values)):
        measure = one.measures.get(key) or other.measures[key]
        judged[key] = verdict(measure, one.values.get(key), other.values.get(key), lengths_differ=lengths_differ)
    keys = sorted(judged, key=lambda key: _ORDER.index(judged[key]))
    # Sums of a longer session are larger whatever was done in it.
    explained = {"better", "worse"} if lengths_differ else {"better", "worse", "different"}
    telling = [key for key in keys if judged[key] not in ("same", "noise")]
    sentence = (
        tr("{count} of {all} figures differ.", count=len(telling), all=len(keys))
        if telling
        else tr("No figure differs by more than a tenth and by more than chance would explain.")
        if any(one != "same" for one in judged.values())
        else tr("The two runs agree in every figure.")
    )
    notes = [_told(causes)] if causes else []
    if lengths_differ:
        notes.append(tr("The sessions have different lengths, so totals are not judged."))
    notes.append(
        tr(
            "Figures that differ by at most 2 % or 1 ms count as the same. Differences of up to a tenth, and "
            "differences between counts that may be chance, are not judged. Greatest lag and depth are taken from the "
            "recorded moments, about one per second."
        )
    )
    return FactsTable(
        sentence,
        (tr("Figure"), tr("Of"), one.name, other.name, tr("Difference"), tr("Verdict"), tr("Comes from")),
        tuple(_row(key, one, other, judged[key], causes if judged[key] in explained else ()) for key in keys),
        numeric=frozenset({2, 3, 4}),
        note=" ".join(notes),
        wide=6,
        folded=frozenset(range(len(telling), len(keys))),
        verdicts={row: (5, *_LOOKS[judged[key]]) for row, key in enumerate(telling) if judged[key] in _LOOKS},
    )


def _row(key: Key, one: Figures, other: Figures, judged: Verdict, causes: Sequence[Otherwise]) -> tuple[str, ...]:
    measure = one.measures.get(key) or other.measures[key]
    mine, theirs = one.values.get(key), other.values.get(key)
    cause = cause_of(causes, one.parting_ns(other, key[1])) if causes else None
    return (
        tr(measure.label),
        key[1] or tr("all"),
        _text(mine, measure.unit),
        _text(theirs, measure.unit),
        _difference(mine, theirs, measure.unit),
        tr(_VERDICTS[judged]),
        "" if cause is None else words_of(cause),
    )


def _told(causes: Sequence[Otherwise]) -> str:
    words = [words_of(one) for one in causes]
    if len(words) > CAUSES_TOLD:
        words = [*words[:CAUSES_TOLD], tr("{count:,} more", count=len(words) - CAUSES_TOLD)]
    return tr("Differences: {what}.", what="; ".join(words))


def _text(value: float | None, unit: Unit) -> str:
    return NOT_APPLICABLE if value is None else _FORMATS[unit](value)


def _difference(mine: float | None, theirs: float | None, unit: Unit) -> str:
    if mine is None or theirs is None or mine == theirs:
        return "" if mine == theirs else NOT_APPLICABLE
    change = mine - theirs
    sign = "+" if change > 0 else "−"
    share = f" ({change / theirs:+.0%})" if theirs else ""
    return f"{sign}{_FORMATS[unit](abs(change))}{share}"
