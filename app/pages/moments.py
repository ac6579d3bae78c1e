from __future__ import annotations

import dataclasses
import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Any, NamedTuple

from app.pages.columns import Columns
from app.pages.happenings import Happenings
from app.pages.scene import Scene, Tree, state_of
from app.presenters.canvas import CanvasModel
from app.presenters.charts import chart_facts
from app.presenters.inspector import Inspector, inspector_facts, lag_told
from app.presenters.owners import Owners
from app.presenters.rebalances import RebalanceCards
from app.presenters.status import StatusModel, window_words
from app.presenters.timeline import TimelineModel
from app.sessions.bookmarks import Bookmarks
from app.sessions.collectors.collectors import Collectors
from app.sessions.stored import StoredSession
from broker_core.clock import NS_PER_MS, NS_PER_S, ns_from_s, s_from_ns
from broker_core.errors import BrokerError, ErrorCode
from broker_core.recording.event_index import EventIndex
from broker_core.recording.hidden_hosts import HiddenHosts
from broker_core.recording.judged import check_moment
from broker_core.snapshots import OffsetView, PartitionView, Snapshot, TopicView
from resources.colours import HUES
from widgets.bytes_text import contained
from widgets.canvas.view import BENCH_ID, CanvasView, Party, lane_id
from widgets.cards import RebalanceFacts
from widgets.formats import Times, session_time
from widgets.i18n import mark, tr
from widgets.panels.inspector import InspectorFacts
from widgets.timeline_facts import LANES

KEYS, HOSTS = "keys", "hosts"
#: What can be left out: its words on the page.
WITHOUT = {KEYS: mark("keys of messages"), HOSTS: mark("addresses of hosts")}
MOVES_LISTED = 200
_REPORT_EVERY = 2_000

Report = Callable[[float, str], object]


class PagePart(NamedTuple):
    """The part of a session that a page has: seconds of session time, None for its ends; and what is left out of it."""

    from_s: float | None = None
    to_s: float | None = None
    without: tuple[str, ...] = ()


class MomentViews:
    """The window's views of a snapshot, from the models that also fill its canvas, inspector and cards.

    `shown` has the last word on each text.
    """

    def __init__(self, collectors: Collectors, times: Times, shown: Callable[[str], str] = str) -> None:
        self._ownership, self._times, self._shown = collectors.ownership, times, shown
        self._series, self._owners = collectors.series, Owners()
        self._owners.attach(collectors.hues)
        self._canvas = CanvasModel(self._owners, self._series)
        self._cards = RebalanceCards(self._owners, times)
        self._cards.attach(collectors.ownership, deliveries=collectors.deliveries)
        self._status = StatusModel(self._series)
        self._scene = Scene()
        self._lane_trees: dict[tuple[str, int], tuple[Any, Tree]] = {}
        self._card_trees: dict[tuple[str, int], tuple[RebalanceFacts, Tree]] = {}

    def tree(self, snapshot: Snapshot, second: dict[str, str]) -> Tree:
        """All of a moment; `second` says by id what was done with messages in the second from there on."""
        view = self._canvas.view(snapshot)
        status = self._status.update(snapshot)
        return self._said(
            {
                "clock": session_time(snapshot.time_ns),
                "wall": self._times.wall(snapshot.time_ns),
                "rate": status.rate,
                "rates": window_words(self._series, snapshot.time_ns) if snapshot.time_ns else "",
                "in_flight": status.in_flight,
                "scene": self._scene.tree(view),
                "facts": dict(self._facts(snapshot, view, second)),
                "cards": {name: self._card(card) for name, card in _by_name(self._cards.of(snapshot)).items()},
            }
        )

    def _facts(self, snapshot: Snapshot, view: CanvasView, second: dict[str, str]) -> Iterator[tuple[str, Tree]]:
        """The facts of each inspected thing, with its id. Offsets are grouped by partition first, for speed."""
        read: dict[tuple[str, int], list[tuple[str, OffsetView]]] = {}
        for group in snapshot.groups:
            for at in group.offsets:
                read.setdefault((at.topic, at.partition), []).append((group.name, at))
        topics = {f"topic:{topic.name}": topic for topic in snapshot.topics}
        for name in _inspected(view):
            found = inspector_facts(snapshot, name, self._series, self._ownership)
            if found is not None:
                yield name, facts_tree(found, second.get(name, ""))
            if (topic := topics.get(name)) is not None:
                for part in topic.partitions:
                    lane = lane_id(topic.name, part.partition)
                    readers = read.get((topic.name, part.partition), [])
                    yield lane, self._lane(snapshot, topic, part, readers, second.get(lane, ""))

    def _lane(
        self, snapshot: Snapshot, topic: TopicView, part: PartitionView, read: list[tuple[str, OffsetView]], second: str
    ) -> Tree:
        """The facts of a partition. They are reused from the last moment if only the age of its lags has changed."""
        stands = [(group, at.owner, at.position, at.committed, at.lag) for group, at in read]
        key, place = (part, topic.compacted, second, stands), (topic.name, part.partition)
        known_key, tree = self._lane_trees.get(place, (None, {}))
        if part.transactions or known_key != key:
            tree = facts_tree(Inspector(snapshot, self._series, self._ownership).lane(topic, part, read), second)
            self._lane_trees[place] = key, tree
            return tree
        first, *sections = tree["sections"]
        for number, (_group, at) in enumerate(read):
            *rows, lag = sections[number]["rows"]
            sections[number] = {**sections[number], "rows": [*rows, {**lag, "value": lag_told(topic, at)}]}
        return {**tree, "sections": [first, *sections]}

    def _card(self, card: RebalanceFacts) -> Tree:
        """The same tree for the same card, of which a long session has many that never change again."""
        known = self._card_trees.get(card.key)
        if known is None or known[0] is not card:
            known = self._card_trees[card.key] = (card, card_tree(card))
        return known[1]

    def _said(self, value: Any) -> Any:
        if self._shown is str:
            return value
        if isinstance(value, dict):
            return {name: self._said(each) for name, each in value.items()}
        if isinstance(value, list):
            return [self._said(each) for each in value]
        return self._shown(value) if isinstance(value, str) else value


def _inspected(view: CanvasView) -> Iterator[str]:
    for card in (*view.nodes, *view.producers):
        yield card.id
    for topic in view.topics:
        yield topic.id
    for group in view.groups:
        yield group.id
        for member in group.members:
            yield member.id
    if view.has_bench:
        yield BENCH_ID
    for idle in view.bench:
        yield idle.id
    for queue in view.queues:
        yield queue.id
        for worker in queue.workers:
            yield worker.id


def facts_tree(facts: InspectorFacts, second: str = "") -> Tree:
    """The inspector's facts about a thing. Each row has its link target: an id, "at:" with nanoseconds, or ""."""
    return {
        "kind": facts.kind,
        "name": facts.name,
        "state": state_of(facts.state),
        "note": facts.note,
        "second": second,
        "sections": [
            {
                "title": title,
                "rows": [{"label": row[0], "value": row[1], "link": row[2] if len(row) == 3 else ""} for row in rows],
            }
            for title, rows in facts.sections
        ],
    }


def _by_name(cards: Sequence[RebalanceFacts]) -> dict[str, RebalanceFacts]:
    found: dict[str, RebalanceFacts] = {}
    for card in cards:
        names = (f"{card.key[1]} {number} {card.group}" for number in count())
        found[next(name for name in names if name not in found)] = card
    return found


def card_tree(card: RebalanceFacts) -> Tree:
    return {
        "group": card.group,
        "cause": card.cause,
        "state": state_of(card.state),
        "generation": card.generation,
        "started": card.started,
        "started_ms": card.key[1] // NS_PER_MS,
        "no_reader": card.no_reader,
        "gaps": card.gaps,
        "moved": [
            {"place": move.place, "old": _party(move.old), "new": _party(move.new)}
            for move in card.moved[:MOVES_LISTED]
        ],
        "moved_count": len(card.moved),
        "figures": card.figures,
    }


def _party(party: Party) -> Tree:
    return {"name": party.name, "hue": party.hue % HUES if party.hue >= 0 else -1, "badge": party.letter}


def moments_of(end_ns: int, wanted: PagePart) -> list[int]:
    """The whole seconds of the part that is wanted, and its end. Raises INVALID_REQUEST if nothing is in it."""
    first_ns = ns_from_s(wanted.from_s or 0.0)
    last_ns = end_ns if wanted.to_s is None else min(end_ns, ns_from_s(wanted.to_s))
    check_moment("--from", wanted.from_s, end_ns)
    if wanted.to_s is not None and first_ns >= ns_from_s(wanted.to_s):
        about = "the part of the session is empty; --from must be before --to"
        raise BrokerError(ErrorCode.INVALID_REQUEST, about)
    seconds = range(-(-first_ns // NS_PER_S), last_ns // NS_PER_S + 1)
    return sorted({first_ns, *(second * NS_PER_S for second in seconds), last_ns})


def gather(stored: StoredSession, wanted: PagePart, report: Report) -> dict[str, Any]:
    """The data of a page of an open session. Raises BrokerError as `moments_of`, and what `report` raises."""
    moments_ns = moments_of(stored.end_ns, wanted)
    first_ns, last_ns = moments_ns[0], moments_ns[-1]
    shown = HiddenHosts().text if HOSTS in wanted.without else str
    collectors = Collectors(stored.scenario, deliveries=stored.knows("deliveries"))
    happenings = Happenings(moments_ns, last_ns, keys=KEYS not in wanted.without, shown=shown)
    sinks = (
        *(collectors.timeline, collectors.ownership, collectors.hues, collectors.latencies, collectors.series),
        happenings,
    )
    expected = max(1, stored.event_count)
    for number, event in enumerate(EventIndex(stored.folder).events(0)):
        if number % _REPORT_EVERY == 0:
            report(min(0.4, 0.4 * number / expected), tr("Reading"))
        for sink in sinks:
            sink(event)
    views = MomentViews(collectors, Times(stored.started_at), shown)
    columns = Columns()
    open_ns: int | None = None  # a page of a broker that was empty at first opens where something is
    for index, time_ns in enumerate(moments_ns):
        report(0.4 + 0.5 * index / len(moments_ns), session_time(time_ns))
        tree = views.tree(stored.playback.at(time_ns), happenings.counts_in_words(index))
        open_ns = time_ns if open_ns is None and not tree["scene"]["notice"] else open_ns
        columns.add(tree)
    charts = _charts(collectors, stored.end_ns, first_ns, last_ns, shown)
    timeline = _timeline(stored, collectors, first_ns, last_ns, shown)
    return {
        "title": contained(shown(tr(stored.metadata.scenario or stored.folder.name))),
        "about": contained(shown(" ".join(stored.scenario.about.split()) if stored.text else "")),
        "started": contained(stored.metadata.started_at),
        "from_ms": first_ns // NS_PER_MS,
        "to_ms": -(-last_ns // NS_PER_MS),
        "open_ms": (first_ns if open_ns is None else open_ns) / NS_PER_MS,
        "session_ms": -(-stored.end_ns // NS_PER_MS),
        "moments_ms": [time_ns / NS_PER_MS for time_ns in moments_ns],
        "columns": columns.plain(),
        "events": happenings.events,
        "unlisted": happenings.unlisted(),
        "timeline": timeline | {"strips": _strips(charts)},
        "charts": charts,
    }


def _timeline(
    stored: StoredSession, collectors: Collectors, first_ns: int, last_ns: int, shown: Callable[[str], str]
) -> dict[str, Any]:
    model = TimelineModel(collectors.series)
    model.attach(collectors.timeline)
    model.bookmarks = [(each.time_ns, each.name) for each in Bookmarks(stored.folder).all()]
    facts = model.update(Snapshot(stored.end_ns, 0))
    bands = [band for band in facts.bands if band.start_ns <= last_ns and (band.end_ns or last_ns) >= first_ns]
    ticks = [tick for tick in facts.ticks if first_ns <= tick.time_ns <= last_ns]
    cut = dataclasses.replace(facts, bands=tuple(bands), ticks=tuple(ticks))
    return {
        "peak": tr("peak {rate}", rate=f"{facts.peak_per_s:,}"),
        "peak_per_s": facts.peak_per_s,
        "samples": [
            [at_ns // NS_PER_MS, round(per_s, 1)] for at_ns, per_s in facts.samples if first_ns <= at_ns <= last_ns
        ],
        "lanes": [[lane, tr(LANES[lane])] for lane in cut.lanes],
        "bands": [
            {
                "lane": band.lane,
                "from_ms": max(first_ns, band.start_ns) / NS_PER_MS,
                "to_ms": min(last_ns, band.end_ns or last_ns) / NS_PER_MS,
                "label": contained(shown(band.label)),
            }
            for band in bands
        ],
        "ticks": [
            {
                "lane": tick.lane,
                "kind": tick.kind,
                "ms": tick.time_ns / NS_PER_MS,
                "label": contained(shown(tick.label)),
            }
            for tick in ticks
        ],
    }


def _charts(
    collectors: Collectors, end_ns: int, first_ns: int, last_ns: int, shown: Callable[[str], str]
) -> list[dict[str, Any]]:
    from_s, to_s = s_from_ns(first_ns), s_from_ns(last_ns)
    found = []
    for chart in chart_facts(collectors, end_ns):
        times_s = chart.curves[0].times_s.tolist()
        first, last = bisect_left(times_s, from_s), bisect_right(times_s, to_s)
        curves = [
            {
                "name": contained(shown(curve.name)),
                "hue": curve.hue % HUES,
                "values": [
                    None if math.isnan(value) else round_to(value) for value in curve.values[first:last].tolist()
                ],
            }
            for curve in chart.curves
        ]
        found.append(
            {
                "key": chart.key,
                "title": chart.title,
                "unit": chart.unit,
                "about": chart.about,
                "logarithmic": chart.logarithmic,
                "times_s": [round(at_s, 3) for at_s in times_s[first:last]],
                "curves": curves,
            }
        )
    return found


def _strips(charts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    found = []
    for chart in charts:
        if chart["key"] not in {"lag", "depth"}:
            continue
        levels = zip(chart["times_s"], *(curve["values"] for curve in chart["curves"]), strict=True)
        samples = [
            [round(at_s * 1000), max(known)]
            for at_s, *values in levels
            if (known := [value for value in values if value is not None])
        ]
        most = max((level for _at_ms, level in samples), default=0)
        if most:
            peak = tr("peak {rate}", rate=f"{most:,}")
            found.append({"key": chart["key"], "title": chart["title"], "peak": peak, "most": most, "samples": samples})
    return found


def round_to(value: float) -> float | int:
    """A value of a chart, where no eye and no tool tip tells more digits; whole numbers as they are."""
    return int(value) if value == int(value) else float(f"{value:.4g}")
