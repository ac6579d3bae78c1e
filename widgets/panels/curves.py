from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """One line: its name, the index of its hue, seconds of session time and values (NaN leaves a gap)."""

    name: str
    hue: int
    times_s: Values
    values: Values


@dataclass(frozen=True, slots=True, eq=False)
class ChartFacts:
    """One chart. `unit` stands behind its title; `logarithmic` for what spans many powers of ten; `about` is
    its tool tip."""

    key: str
    title: str
    unit: str
    curves: tuple[Curve, ...] = field(default=())
    logarithmic: bool = False
    about: str = ""
