"""The three steps of the zoom, each drawn on purpose: what is near has every figure, an overview names and states."""

from __future__ import annotations

from enum import IntEnum

NORMAL_FROM, NEAR_FROM = 0.55, 0.9


class Step(IntEnum):
    """How closely the canvas is looked at. At each, a state has its colour, its icon and its word.

    OVERVIEW writes names and states in large letters, NORMAL adds abbreviated figures, NEAR everything.
    """

    OVERVIEW = 0
    NORMAL = 1
    NEAR = 2


def step_of(zoom: float, type_scale: float = 1.0) -> Step:
    """The step at so many pixels for each scene unit; with larger type around, what is written is larger too."""
    nearness = zoom / max(1.0, type_scale)
    if nearness < NORMAL_FROM:
        return Step.OVERVIEW
    return Step.NORMAL if nearness < NEAR_FROM else Step.NEAR
