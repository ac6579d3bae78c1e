"""Holds what is shown to what was recounted: nothing shown without a recount, nothing recounted that is not shown."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.figures.expected.answers import Answers
from tests.figures.expected.canvas import Canvas
from tests.figures.expected.curves import curve_figures
from tests.figures.expected.gauges import gauge_figures
from tests.figures.expected.lists import Lists
from tests.figures.expected.rates import Rates
from tests.figures.expected.things import Things
from tests.figures.not_recounted import NOT_RECOUNTED
from tests.figures.recount.session import Recount

Key = tuple[str, str, str]
Figures = dict[Key, Any]
_LEFT_OUT = re.compile("|".join(f"(?:{pattern})" for pattern in NOT_RECOUNTED))


@dataclass(frozen=True)
class Look:
    """What a window showed: the state after `events` events at `time_ns`, of a session that had come further perhaps.

    `mode` says how the window came to show it, `covers` which figures were looked at.
    """

    mode: str
    events: int
    time_ns: int
    present_events: int
    present_ns: int
    figures: Figures
    covers: Callable[[Key], bool] = lambda _key: True


@dataclass
class Verdict:
    """How many figures were compared, and a line for each that differs: place, object, figure, moment."""

    compared: int = 0
    looks: int = 0
    mismatches: list[str] = field(default_factory=list)

    def add(self, other: Verdict) -> None:
        """Take in what another one has found."""
        self.compared += other.compared
        self.looks += other.looks
        self.mismatches += other.mismatches

    def judge(self, look: Look, expected: Figures) -> None:
        """Compare one look."""
        self.looks += 1
        shown = {key: value for key, value in look.figures.items() if not left_out(key)}
        expected = _as_stopped(expected, shown)
        for key in sorted(shown.keys() | set(filter(look.covers, expected))):
            if key not in expected:
                self._differs(look, key, shown[key], "NO RECOUNT")
            elif key not in shown:
                self._differs(look, key, "NOT SHOWN", expected[key])
            else:
                self.compared += 1
                # The recount stands at the left: what it takes as equal is its to say.
                if expected[key] != shown[key]:
                    self._differs(look, key, shown[key], expected[key])

    def _differs(self, look: Look, key: Key, shown: Any, recounted: Any) -> None:
        place, thing, figure = key
        self.mismatches.append(
            f"{place} | {thing} | {figure} | {look.mode} at {look.time_ns / 1e9:.6f} s, after {look.events} events"
            f" | shown {_short(shown)} | recounted {_short(recounted)}"
        )


def _as_stopped(expected: Figures, shown: Figures) -> Figures:
    """Clients that have stopped have no rate; the recount knows of each only whether it has crashed."""
    stopped = {key[:2] for key, state in shown.items() if key[2] == "state" and state == "stopped"}
    return {
        key: "" if key[0] == "navigator" and key[2] == "figure" and key[:2] in stopped else value
        for key, value in expected.items()
        if key[2] != "Rate" or key[:2] not in stopped
    }


def left_out(key: Key) -> bool:
    """Whether `NOT_RECOUNTED` says why this one has no recount."""
    return _LEFT_OUT.fullmatch(" | ".join(key)) is not None


def expected_figures(recount: Recount, now_ns: int) -> Figures:
    """Every figure of the state that `recount` stands at, but for those over all the time of the session."""
    found = Canvas(recount, now_ns).figures()
    found.update(Lists(recount, now_ns).figures())
    found.update(Answers(recount, now_ns).figures())
    found.update(Rates(recount, now_ns).figures())
    found.update(gauge_figures(recount, now_ns))
    found.update(Things(recount, now_ns).figures())
    return found


def judge(looks: list[Look], rows: list[dict[str, Any]], scenario: dict[str, Any]) -> Verdict:
    """Compare every look with the recount of the same first events of the session."""
    verdict, recount = Verdict(), Recount(scenario)
    curves: dict[tuple[int, int], Figures] = {}
    expected: dict[int, Figures] = {}  # by look; the curves of its present come later
    for stop in sorted({look.events for look in looks} | {look.present_events for look in looks}):
        while recount.events < stop:
            recount.add(rows[recount.events])
        for look in looks:
            if look.present_events == stop and (stop, look.present_ns) not in curves:
                curves[stop, look.present_ns] = curve_figures(recount, look.present_ns)
            if look.events == stop:
                expected[id(look)] = expected_figures(recount, look.time_ns)
    for look in sorted(looks, key=lambda each: (each.events, each.time_ns)):
        found = expected[id(look)] | curves[look.present_events, look.present_ns]
        verdict.judge(look, {key: value for key, value in found.items() if not left_out(key)})
    return verdict


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 160 else text[:157] + "..."
