"""A keyframe with the events after it, in one call."""

from __future__ import annotations

from collections.abc import Iterable

from broker_core.events import Event
from broker_core.recording.fold import FindPublished, Fold
from broker_core.recording.fold_queues import FindLetter, nobody_knows
from broker_core.snapshots import Snapshot


def fold(
    keyframe: Snapshot,
    events: Iterable[Event],
    *,
    time_ns: int | None = None,
    find_letter: FindLetter = nobody_knows,
    published_before: FindPublished = lambda _place, _offset, _time_ns: None,
) -> Snapshot:
    """`keyframe` with the `events` after it: the state at `time_ns`, or at the last event's time."""
    folded = Fold(keyframe, find_letter, published_before)
    for event in events:
        folded.add(event)
    return folded.snapshot(time_ns)
