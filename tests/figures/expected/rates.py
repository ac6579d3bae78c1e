"""The table of rates beside the charts."""

from __future__ import annotations

from typing import Any

from tests.figures.expected.settings import consumers_of, handled, others_of, producers_of, state_of, workers_of
from tests.figures.expected.wording import bounded, length, per_second, size
from tests.figures.recount.session import Recount

Figures = dict[tuple[str, str, str], Any]


class Rates:
    """One look at `now_ns`."""

    def __init__(self, recount: Recount, now_ns: int) -> None:
        self.recount = recount
        self.now_ns = now_ns
        self.found: Figures = {}

    def figures(self) -> Figures:
        """All rows."""
        for name in self.recount.listed:
            rate = self._rate("published", name)
            bytes_per_s = size(self.recount.rate(("bytes", name), self.now_ns))
            self._rate_row("topic", name, rate, bytes_per_s, "", "")
        for name in producers_of(self.recount) | others_of(self.recount, self.now_ns):
            self._rate_row("producer", name, self._rate("published by", name), "", "", state_of(self.recount, name))
        behind: dict[str, tuple[int, int, str]] = {}
        for name, group in consumers_of(self.recount).items():
            behind[name] = (*self._behind_in_group(name, group), "consumer")
        for name, queue in workers_of(self.recount).items():
            held = [one for one in self.recount.queues[queue].held().values() if one.holder == name]
            age_ns = max((self.now_ns - one.acquired_ns for one in held), default=0)
            behind[name] = (len(held), age_ns, "worker")
        order = sorted(behind, key=lambda name: (-behind[name][1], -max(0, behind[name][0]), name))
        for name, (count, age_ns, kind) in behind.items():
            behind_it = bounded(f"{count:,}", kind == "consumer" and self._at_most(name))
            text = "" if count < 0 else behind_it + (f", oldest {length(age_ns)}" if age_ns else "")
            slowest = name == order[0] and count > 0 and age_ns > 0
            state = "slowest" if slowest else state_of(self.recount, name)
            flow = handled(self.recount, name) if kind == "consumer" else "delivered to"
            self._rate_row(kind, name, self._rate(flow, name), "", text, state)
        return self.found

    def _at_most(self, client: str) -> bool:
        group = self.recount.groups.get(consumers_of(self.recount)[client])
        owned = [place for place in self.recount.read_by(group.name) if group.owner(place) == client] if group else []
        return group is not None and self.recount.at_most(group.name, owned)

    def _rate_row(self, kind: str, name: str, rate: str, bytes_per_s: str, behind: str, state: object) -> None:
        titles = ("Name", "Kind", "Messages/s", "Bytes/s", "Behind", "State")
        for title, value in zip(titles, (name, kind, rate, bytes_per_s, behind, state), strict=True):
            self.found["rates", f"{kind} {name}", title] = value

    def _behind_in_group(self, client: str, name: str) -> tuple[int, int]:
        """Lag and its age over what the client owns; -1 for nothing that could be said."""
        group = self.recount.groups.get(name)
        owned = [place for place in self.recount.read_by(name) if group.owner(place) == client] if group else []
        lag = self.recount.group_lag(name, owned)
        ages_ns = [self.recount.lag_ns(name, *place, self.now_ns) or 0 for place in owned]
        return (-1, 0) if lag is None else (lag, max(ages_ns))

    def _rate(self, kind: str, name: str) -> str:
        return per_second(self.recount.rate((kind, name), self.now_ns))
