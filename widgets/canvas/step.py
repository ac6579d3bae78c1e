"""The three steps of the zoom, each drawn on purpose: what is near has every figure, an overview names and states."""

from __future__ import annotations

from enum import IntEnum

NORMAL_FROM, NEAR_FROM = 0.55, 0.9
# A step that is shown stays down to this part of the zoom at which it begins: a line that appears above the canvas, or
# a box in it, takes no details away.
KEPT_FROM = 0.9


class Step(IntEnum):
    """How closely the canvas is looked at. At each, a state has its colour, its icon and its word.

    OVERVIEW writes names and states in large letters, NORMAL adds abbreviated figures, NEAR everything.
    """

    OVERVIEW = 0
    NORMAL = 1
    NEAR = 2


def step_of(zoom: float, type_scale: float = 1.0, now: Step | None = None) -> Step:
    """The step at so many pixels for each scene unit; with larger type around, what is written is larger too.

    `now` is the step that is shown and stays where the zoom is little below it.
    """
    nearness = zoom / max(1.0, type_scale)
    if nearness >= NEAR_FROM or (now is Step.NEAR and nearness >= NEAR_FROM * KEPT_FROM):
        return Step.NEAR
    if nearness >= NORMAL_FROM or (now is not None and now > Step.OVERVIEW and nearness >= NORMAL_FROM * KEPT_FROM):
        return Step.NORMAL
    return Step.OVERVIEW
