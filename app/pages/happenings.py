"""The events of a session: control events and dead letters one by one, messages as counts per second and thing."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from app.pages.scene import state_of
from app.presenters.columns import KEY_CHARS
from app.sessions.event_text import about, event_word, kind_word, place_text
from broker_core.clock import NS_PER_MS
from broker_core.events import MESSAGE_KINDS, Event, EventKind
from widgets.bytes_text import contained
from widgets.canvas.view import lane_id
from widgets.formats import plain_text
from widgets.i18n import tr

LETTERS_LISTED = 1_000
_ORDER = tuple(kind for kind in EventKind if kind in MESSAGE_KINDS)
_PRODUCED = frozenset(
    {
        *(EventKind.PUBLISHED, EventKind.REJECTED, EventKind.DROPPED, EventKind.EVICTED),
        *(EventKind.PRODUCER_BLOCKED, EventKind.PRODUCER_UNBLOCKED),
        *(EventKind.TRANSACTION_STARTED, EventKind.TRANSACTION_ENDED),
    }
)

_LISTING = frozenset({EventKind.PARTITIONS_ASSIGNED, EventKind.PARTITIONS_REVOKED, EventKind.REBALANCE_COMPLETED})


class Happenings:
    """A sink of the event stream. `moments_ns` are those that the page shows; what is outside of them is left out.

    `keys` says whether dead letters are listed with their keys; `shown` has the last word on each text.
    """

    def __init__(self, moments_ns: Sequence[int], end_ns: int, *, keys: bool, shown: Callable[[str], str]) -> None:
        self._moments, self._end_ns = moments_ns, end_ns
        self._keys, self._shown = keys, shown
        self._queues: set[str] = set()
        self._counts: defaultdict[int, defaultdict[str, Counter[EventKind]]] = defaultdict(lambda: defaultdict(Counter))
        self._letters = 0
        self.events: list[dict[str, Any]] = []

    def __call__(self, event: Event) -> None:
        if event.kind is EventKind.QUEUE_CREATED:
            self._queues.add(event.topic)
        if not self._moments[0] <= event.time_ns <= self._end_ns:
            return
        if event.kind in MESSAGE_KINDS:
            index = bisect_right(self._moments, event.time_ns) - 1
            for name in self._ids(event):
                self._counts[index][name][event.kind] += max(1, event.count)
            if event.kind is not EventKind.DEAD_LETTERED:
                return
            self._letters += 1
            if self._letters > LETTERS_LISTED:
                return
        self.events.append(self._row(event))

    def unlisted(self) -> int:
        return max(0, self._letters - LETTERS_LISTED)

    def counts_in_words(self, index: int) -> dict[str, str]:
        """Message counts from `moments_ns[index]` up to the next one, by the id of each thing."""
        found: Mapping[str, Counter[EventKind]] = self._counts.get(index, {})
        return {
            name: ", ".join(
                tr("{what} {count:,}", what=tr(kind_word(kind)), count=counts[kind]) for kind in _ORDER if counts[kind]
            )
            for name, counts in found.items()
        }

    def _row(self, event: Event) -> dict[str, Any]:
        what = about(event)
        if self._keys and event.kind is EventKind.DEAD_LETTERED:
            what = "; ".join(part for part in (what, tr("key {key}", key=plain_text(event.key, KEY_CHARS))) if part)
        group = "" if event.group == event.topic else event.group
        return {
            "ms": event.time_ns / NS_PER_MS,
            "state": state_of(event_word(event)),
            "place": self._shown(contained(place_text(event))),
            "who": self._shown(contained(" ".join(part for part in (group, event.client) if part))),
            "about": self._shown(contained(what)),
            "ids": list(dict.fromkeys([*self._ids(event), *_named(event)])),
        }

    def _ids(self, event: Event) -> Iterator[str]:
        if event.topic:
            is_queue = event.topic in self._queues
            yield f"{'queue' if is_queue else 'topic'}:{event.topic}"
            if event.partition is not None and not is_queue:
                yield lane_id(event.topic, event.partition)
        if (node := (event.detail or {}).get("node")) is not None:
            yield f"node:{node}"
        of_queue = event.group in self._queues
        if event.group and event.group != event.topic:
            yield f"{'queue' if of_queue else 'group'}:{event.group}"
        if event.client:
            role = str((event.detail or {}).get("role", ""))
            if not role:
                role = "producer" if event.kind in _PRODUCED else "worker" if of_queue else "consumer"
            yield f"{role}:{event.client}"


def _named(event: Event) -> Iterator[str]:
    if event.kind not in _LISTING:
        return
    detail = event.detail or {}
    for topic, partition, *owner in [*detail.get("partitions", ()), *detail.get("after", ())]:
        yield lane_id(topic, partition)
        yield from (f"consumer:{name}" for name in owner)
