"""Two sessions side by side: counts, rebalances, how far readers fell behind, how long messages took."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import numpy as np
import pyarrow as pa

from app.sessions.work import Work
from broker_core.recording import metadata as meta
from broker_core.recording import schema
from broker_core.recording.columns import events_of
from broker_core.recording.event_index import EventIndex
from broker_core.recording.playback import FolderPlayback
from broker_core.recording.recorder import Recorder
from broker_core.snapshots import GateView, Snapshot
from resources.outcomes import OUTCOMES
from widgets.dialogs.facts_table import FactsTable
from widgets.formats import NOT_APPLICABLE, duration
from widgets.i18n import tr

MOMENTS = 600  # keyframes that are looked at for the greatest lag
PERCENTILES = (50.0, 99.0, 99.9)
NOTABLE = 0.01  # differences of a hundredth and more stand out

Key = tuple[str, str]  # figure, and what it is about: "" for all


@dataclass
class Figures:
    """What one session comes to. Values are counts, or nanoseconds where the figure is in `times`."""

    name: str
    values: dict[Key, int] = field(default_factory=dict)
    times: set[Key] = field(default_factory=set)

    def count(self, figure: str, about: str, number: int) -> None:
        """A number of something."""
        self.values[figure, about] = number

    def time(self, figure: str, about: str, length_ns: int) -> None:
        """A length of time."""
        self.values[figure, about] = length_ns
        self.times.add((figure, about))


def figures_of(folder: Path, work: Work, part: tuple[float, float], recorder: Recorder | None = None) -> Figures:
    """The figures of the session in `folder`; `part` is the share of the work that this is, from and to."""
    metadata = meta.read_metadata(folder)
    found = Figures(f"{metadata.started_at[:19].replace('T', ' ')}, seed {metadata.seed}")
    if recorder is not None:
        recorder.flush()
    film = FolderPlayback(folder, recorder)
    work.say(part[0], tr("Reading {name}", name=folder.name))
    end = film.end()
    _overall(found, end if metadata.duration_ns is None else _at(end, metadata.duration_ns))
    _ends(found, end)
    _moments(found, film)
    work.say(part[0] + (part[1] - part[0]) * 0.3, tr("Reading the messages of {name}", name=folder.name))
    index = EventIndex(folder, None if recorder is None else recorder.unsealed)
    _latencies(found, index)
    _rebalances(found, index)
    work.say(part[1], folder.name)
    return found


def _at(snapshot: Snapshot, time_ns: int) -> Snapshot:
    return msgspec.structs.replace(snapshot, time_ns=time_ns)


def _overall(found: Figures, end: Snapshot) -> None:
    found.time(tr("Session time"), "", end.time_ns)
    for name, number in msgspec.structs.asdict(end.totals).items():
        found.count(name.replace("_", " ").capitalize(), "", int(number))


def _ends(found: Figures, end: Snapshot) -> None:
    for topic in end.topics:
        found.count(tr("Published"), topic.name, topic.published)
        if topic.gate is not None:
            _gate(found, topic.gate)
    for group in end.groups:
        if group.lag is not None:
            found.count(tr("Lag at the end"), group.name, group.lag)
    for queue in end.queues:
        found.count(tr("Acknowledged"), queue.name, queue.acknowledged)
        found.count(tr("Redelivered"), queue.name, queue.redelivered)
        found.count(tr("Dead-lettered"), queue.name, queue.dead_lettered)
        if queue.gate is not None:
            _gate(found, queue.gate)
        found.count(tr("Waiting at the end"), queue.name, queue.ready + queue.delayed + queue.in_flight)


def _gate(found: Figures, gate: GateView) -> None:
    for kind, number in (("rejected", gate.rejected), ("dropped", gate.dropped), ("evicted", gate.evicted)):
        found.count(tr(OUTCOMES[kind]), gate.target, number)
    found.time(tr("Producers blocked"), gate.target, gate.blocked_ns_total)


def _moments(found: Figures, film: FolderPlayback) -> None:
    lags: dict[str, int] = defaultdict(int)
    depths: dict[str, int] = defaultdict(int)
    for moment in film.moments(MOMENTS):
        for group in moment.groups:
            if group.lag is not None:
                lags[group.name] = max(lags[group.name], group.lag)
        for queue in moment.queues:
            depths[queue.name] = max(depths[queue.name], queue.ready + queue.delayed + queue.in_flight)
    for name, lag in lags.items():
        found.count(tr("Greatest lag"), name, lag)
    for name, depth in depths.items():
        found.count(tr("Greatest depth"), name, depth)


def _latencies(found: Figures, index: EventIndex) -> None:
    """From publishing to the first delivery, of each group and queue, weighted by messages."""
    waits: dict[str, list[np.ndarray]] = defaultdict(list)
    weights: dict[str, list[np.ndarray]] = defaultdict(list)
    for batch in index.batches(schema.MESSAGES):
        table = pa.table(
            {name: batch.column(name) for name in ("kind", "group", "attempt", "time_ns", "published_ns", "count")}
        )
        kinds = np.asarray(table["kind"].to_pylist(), dtype=object)
        first = (kinds == "delivered") & (np.asarray(table["attempt"].fill_null(1)) == 1)
        if not first.any():
            continue
        groups = np.asarray(table["group"].to_pylist(), dtype=object)[first]
        times = np.asarray(table["time_ns"])[first]
        published = np.asarray(table["published_ns"].fill_null(-1))[first]
        counts = np.asarray(table["count"])[first]
        for name in set(groups):
            mine = (groups == name) & (published >= 0)
            waits[name].append(times[mine] - published[mine])
            weights[name].append(counts[mine])
    for name in sorted(waits):
        lengths, counts = np.concatenate(waits[name]), np.concatenate(weights[name])
        if not len(lengths):
            continue
        order = np.argsort(lengths, kind="stable")
        reached = np.cumsum(counts[order])
        for percent in PERCENTILES:
            place = min(len(order) - 1, int(np.searchsorted(reached, percent / 100 * reached[-1])))
            found.time(tr("Latency p{percent}", percent=f"{percent:g}"), name, int(lengths[order][place]))


def _rebalances(found: Figures, index: EventIndex) -> None:
    counts: dict[str, int] = defaultdict(int)
    moved: dict[str, int] = defaultdict(int)
    took_ns: dict[str, int] = defaultdict(int)
    for batch in index.batches(schema.CONTROL):
        for event in events_of(batch):
            if event.kind.value != "rebalance_completed":
                continue
            detail = event.detail or {}
            before = {(topic, partition): client for topic, partition, client in detail.get("before", ())}
            after = {(topic, partition): client for topic, partition, client in detail.get("after", ())}
            counts[event.group] += 1
            moved[event.group] += sum(before.get(place) != after.get(place) for place in before.keys() | after.keys())
            took_ns[event.group] += event.time_ns - int(detail.get("started_ns", event.time_ns))
    for group, count in counts.items():
        found.count(tr("Rebalances"), group, count)
        found.count(tr("Partitions moved"), group, moved[group])
        found.time(tr("Time in rebalances"), group, took_ns[group])


def comparison(one: Figures, other: Figures) -> FactsTable:
    """The differences of `one` from `other`."""
    rows, strong = [], set()
    for key in dict.fromkeys((*one.values, *other.values)):
        figure, about = key
        mine, theirs = one.values.get(key), other.values.get(key)
        rows.append(
            (
                figure,
                about or tr("all"),
                _said(mine, key in one.times),
                _said(theirs, key in other.times),
                _difference(mine, theirs, key in one.times or key in other.times),
            )
        )
        if mine != theirs and (mine is None or theirs is None or abs(mine - theirs) > NOTABLE * max(abs(theirs), 1)):
            strong.add(len(rows) - 1)
    sentence = (
        tr("{count} of {all} figures differ.", count=len(strong), all=len(rows))
        if strong
        else tr("The two runs are the same in every figure.")
    )
    return FactsTable(
        sentence,
        (tr("Figure"), tr("Of"), one.name, other.name, tr("Difference")),
        tuple(rows),
        frozenset(strong),
        frozenset({2, 3, 4}),
        tr(
            "Greatest lag and depth are of the moments that were kept, about one a second. Latency is from publishing "
            "to the first delivery."
        ),
    )


def _said(value: int | None, is_time: bool) -> str:
    if value is None:
        return NOT_APPLICABLE
    return duration(value) if is_time else f"{value:,}"


def _difference(mine: int | None, theirs: int | None, is_time: bool) -> str:
    if mine is None or theirs is None or mine == theirs:
        return "" if mine == theirs else NOT_APPLICABLE
    change = mine - theirs
    sign = "+" if change > 0 else "−"
    size = duration(abs(change)) if is_time else f"{abs(change):,}"
    share = f" ({change / theirs:+.0%})" if theirs else ""
    return f"{sign}{size}{share}"
