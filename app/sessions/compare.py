"""A session's figures, to compare it with another: those of the report, and those of each topic, group and queue."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from app.sessions.jobs import Work
from app.sessions.library import start_of
from broker_core.clock import NS_PER_S
from broker_core.events import Event, EventKind
from broker_core.recording import schema
from broker_core.recording.columns import events_of
from broker_core.recording.metadata import read_metadata
from broker_core.recording.playback import FolderPlayback
from broker_core.recording.recorder import Recorder
from broker_core.recording.session_figures import FIRST, QUANTILES, SessionFigures
from broker_core.simulation.strict_yaml import Document, YamlError
from broker_core.snapshots import GateView, GroupView, Snapshot
from resources.measures import MEASURES, TELLING, Measure
from resources.otherwise import Otherwise, done_in_words, flat_settings
from resources.outcomes import OUTCOMES
from widgets.i18n import mark, tr

_DONE = frozenset({EventKind.FAULT, EventKind.USER_ACTION})
_FLOWS = {EventKind.PUBLISHED: "topic", EventKind.DELIVERED: "group"}
MOMENTS = 600  # keyframes that are looked at for the greatest lag

Key = tuple[str, str]  # label of the figure, and what it is about: "" for all
LENGTH = (MEASURES["length_ns"].label, "")
_LAG_AT_END = Measure(mark("Lag at the end"), "count", "Waiting", "less", grows=True)
_WAITING_AT_END = Measure(mark("Waiting at the end"), "count", "Waiting", "less", grows=True)
_GREATEST_LAG = Measure(mark("Greatest lag"), "count", "Waiting", "less", grows=True)
_GREATEST_DEPTH = Measure(mark("Greatest depth"), "count", "Waiting", "less", grows=True)


@dataclass
class Setup:
    """How a session was set up, and what was done in it: each action and fault in words, with its first time."""

    settings: Mapping[str, str] = field(default_factory=dict)
    done: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, folder: Path, seed: int | None) -> Setup:
        """The setup at the start of the session in `folder`. A scenario that cannot be read has no settings."""
        try:
            content = Document((folder / schema.SCENARIO_FILE).read_text(encoding="utf-8")).value
        except (OSError, UnicodeDecodeError, YamlError):
            content = None
        return cls(flat_settings(content if isinstance(content, dict) else {}, seed))

    def note(self, event: Event) -> None:
        if event.kind in _DONE:
            self.done.setdefault(done_in_words(event.cause or str(event.kind), event.client), event.time_ns)


def likely_cause(found: Sequence[Otherwise], parting_ns: int | None) -> Otherwise | None:
    """What a difference may come of: the only thing that differs, or the last action up to the end of the second in
    which the sessions diverge. None if neither is known."""
    if len(found) == 1:
        return found[0]
    if parting_ns is None:
        return None
    before = [one for one in found if one.at_ns is not None and one.at_ns < parting_ns + NS_PER_S]
    return max(before, key=lambda one: one.at_ns or 0, default=None)


class Flows:
    """How many messages were published to each topic or queue and delivered to each reader, second by second; to and by
    all of them under "". `seconds` has them by name."""

    def __init__(self) -> None:
        self.seconds: dict[str, Counter[int]] = defaultdict(Counter)

    def messages(self, batch: pa.RecordBatch) -> None:
        rows = pa.Table.from_batches([batch.select(["time_ns", "kind", "topic", "group", "count"])])
        rows = rows.append_column("second", pc.divide(rows["time_ns"], NS_PER_S))
        for kind, of in _FLOWS.items():
            of_kind = rows.filter(pc.equal(rows["kind"], kind.value))
            for row in of_kind.group_by([of, "second"]).aggregate([("count", "sum")]).to_pylist():
                self.add(row[of], row["second"], row["count_sum"])

    def add(self, about: str, second: int, messages: int) -> None:
        for name in {about, ""}:
            self.seconds[name][second] += messages

    def parting_ns(self, other: Flows, about: str, end_ns: int) -> int | None:
        """When the sums first differ by a tenth of the most that they do up to `end_ns`; None if they never differ."""
        mine, theirs = (one.seconds.get(about, Counter()) for one in (self, other))
        differences = [mine[second] - theirs[second] for second in range(end_ns // NS_PER_S)]
        apart = [abs(difference) for difference in accumulate(differences)]
        most = max(apart, default=0)
        return next(second * NS_PER_S for second, by in enumerate(apart) if by >= most * TELLING) if most else None


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
        """When the two begin to differ in what is published or delivered to `about`, while both run; None if never."""
        return self.flows.parting_ns(other.flows, about, round(min(one.values.get(LENGTH, 0) for one in (self, other))))


def figures_of(folder: Path, work: Work, part: tuple[float, float], recorder: Recorder | None = None) -> Figures:
    """The figures of the session in `folder`; `part` is the share of the work that this is, from and to."""
    metadata = read_metadata(folder)
    began = start_of(metadata)
    name = folder.name if began is None else began.strftime("%Y-%m-%d %H:%M:%S")
    name += "" if metadata.seed is None else ", " + tr("Seed {seed}", seed=metadata.seed)
    found = Figures(name, Setup.of(folder, metadata.seed))
    playback = FolderPlayback(folder, recorder)
    work.report(part[0], tr("Reading {name}", name=folder.name))
    end = playback.end()
    reduced = SessionFigures()
    for batch in playback.index.batches(schema.CONTROL):
        for event in events_of(batch):
            reduced.control(event)
            found.setup.note(event)
    work.report(part[0] + (part[1] - part[0]) * 0.3, tr("Reading the messages of {name}", name=folder.name))
    for batch in playback.index.batches(schema.MESSAGES):
        reduced.messages(batch)
        found.flows.messages(batch)
    for name, value in reduced.values(end.time_ns if metadata.duration_ns is None else metadata.duration_ns).items():
        found.add(MEASURES[name], "", value)
    _add_figures_at_end(found, end)
    _add_greatest(found, chain(playback.moments(MOMENTS), (end,)))
    for (kind, reader), waits in sorted(reduced.durations.items()):
        for name, quantile in QUANTILES.items() if kind == FIRST and reader else ():
            found.add(MEASURES[name], reader, waits.quantile_ns(quantile))
    for group, counts in reduced.groups.items():
        for name in ("rebalances", "moved", "rebalancing_ns"):
            found.add(MEASURES[name], group, counts[name])
    work.report(part[1], folder.name)
    return found


def _add_figures_at_end(found: Figures, end: Snapshot) -> None:
    for topic in end.topics:
        found.add(MEASURES["published"], topic.name, topic.published)
        if topic.gate is not None:
            _add_gate_figures(found, topic.gate)
    for group in end.groups:
        found.add(_LAG_AT_END, group.name, _known_lag(group))
    for queue in end.queues:
        found.add(MEASURES["acknowledged"], queue.name, queue.acknowledged)
        found.add(MEASURES["redelivered"], queue.name, queue.redelivered)
        found.add(MEASURES["dead_lettered"], queue.name, queue.dead_lettered)
        if queue.gate is not None:
            _add_gate_figures(found, queue.gate)
        found.add(_WAITING_AT_END, queue.name, queue.messages_count)


def _known_lag(group: GroupView) -> int | None:
    """None unless that of every partition is known: a part of a lag compares with nothing."""
    return None if group.lag_unknown else group.lag


def _add_gate_figures(found: Figures, gate: GateView) -> None:
    for kind, number in (("rejected", gate.rejected), ("dropped", gate.dropped), ("evicted", gate.evicted)):
        found.add(MEASURES["turned_away"]._replace(label=OUTCOMES[kind]), gate.target, number)
    found.add(MEASURES["blocked_ns"], gate.target, gate.blocked_ns_total)


def _add_greatest(found: Figures, moments: Iterable[Snapshot]) -> None:
    lags: dict[str, int] = defaultdict(int)
    depths: dict[str, int] = defaultdict(int)
    for moment in moments:
        for group in moment.groups:
            if (lag := _known_lag(group)) is not None:
                lags[group.name] = max(lags[group.name], lag)
        for queue in moment.queues:
            depths[queue.name] = max(depths[queue.name], queue.messages_count)
    for measure, greatest in ((_GREATEST_LAG, lags), (_GREATEST_DEPTH, depths)):
        for name, most in greatest.items():
            found.add(measure, name, most)
