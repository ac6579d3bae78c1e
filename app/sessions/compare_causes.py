"""What differed between two sessions, and the first event after which a figure diverges."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from broker_core.clock import NS_PER_S
from broker_core.events import Event, EventKind
from broker_core.recording import schema
from broker_core.simulation.strict_yaml import Document, YamlError
from resources.measures import TELLING
from resources.otherwise import Otherwise, done_in_words, flat_settings, otherwise
from widgets.formats import session_time
from widgets.i18n import tr

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
    """What a difference comes of, as far as it can be told: the one thing that was otherwise, or the last that had been
    done within the second in which the sessions part. None if neither is known.
    """
    if len(found) == 1:
        return found[0]
    if parting_ns is None:
        return None
    before = [one for one in found if one.at_ns is not None and one.at_ns < parting_ns + NS_PER_S]
    return max(before, key=lambda one: one.at_ns or 0, default=None)
