"""The axes of small charts: no more ticks than their labels have room for, at round values."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pyqtgraph as pg
from PySide6.QtCore import QRectF
from PySide6.QtGui import QFontMetricsF

LABELS_APART = 1.6  # in heights of a label
LABEL_OUT_PX = 9
_STEPS = (1.0, 2.0, 5.0, 10.0)
# What of each power of ten is labelled, the most first; below the last, only some of the powers.
_OF_TEN = ((1, 2, 5), (1, 3), (1,))


class TimeAxis(pg.AxisItem):
    """Session time as mm:ss."""

    def tickStrings(self, values: Sequence[float], _scale: float, _spacing: float) -> list[str]:
        return [f"{int(value) // 60:02d}:{int(value) % 60:02d}" if value >= 0 else "" for value in values]


class ValueAxis(pg.AxisItem):
    """Short numbers: 0.5, 12, 3.4k, 2M."""

    def boundingRect(self) -> QRectF:
        """With room for half a label above and below: the lowest and the highest value want theirs, too."""
        return super().boundingRect().adjusted(0, -LABEL_OUT_PX, 0, LABEL_OUT_PX)

    def tickValues(self, low: float, high: float, size: float) -> list[tuple[float | None, list[float]]]:
        """One level of ticks between `low` and `high` on an axis of `size` pixels, or of their logarithms."""
        font = self.style["tickFont"]
        height = QFontMetricsF(font).height() if font is not None else 14.0
        most = max(2, 1 + int(size / (height * LABELS_APART)))
        values = power_ticks(low, high, most) if self.logMode else even_ticks(low, high, most)
        return [(None, values)]

    def tickStrings(self, values: Sequence[float], scale: float, spacing: float | None) -> list[str]:
        return [short(10**value if self.logMode else value * scale) for value in values]


def short(value: float) -> str:
    """A number in as few characters as a small axis has room for."""
    size = abs(value)
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if size >= limit:
            return f"{value / limit:.3g}{unit}"
    return f"{value:.3g}"


def even_ticks(low: float, high: float, most: int) -> list[float]:
    """At most `most` (2 or more) multiples of 1, 2 or 5 times a power of ten, from `low` to `high`."""
    if not (math.isfinite(low) and math.isfinite(high)) or high <= low:
        return []
    power = 10.0 ** math.floor(math.log10((high - low) / most))
    finer: list[float] = []
    for step in (*_STEPS, *(10 * step for step in _STEPS)):
        first, last = math.ceil(low / (step * power) - 1e-9), math.floor(high / (step * power) + 1e-9)
        ticks = [number * step * power for number in range(first, last + 1)]
        if len(ticks) <= most:
            # A single tick is no scale.
            return ticks if len(ticks) > 1 or len(finer) < 2 else [finer[0], finer[-1]]
        finer = ticks
    return []


def power_ticks(low: float, high: float, most: int) -> list[float]:
    """At most `most` (2 or more) logarithms to base ten of round numbers, from logarithm `low` to `high`."""
    if not (math.isfinite(low) and math.isfinite(high)) or high <= low:
        return []
    first, last = math.floor(low), math.ceil(high)
    for of_ten in _OF_TEN if last - first <= most else ():
        ticks = [power + math.log10(part) for power in range(first, last + 1) for part in of_ten]
        shown = [tick for tick in ticks if low - 1e-9 <= tick <= high + 1e-9]
        if 2 <= len(shown) <= most:
            return shown
    # More powers than there is room for: every second, fifth or so; less than one: round values.
    whole = [tick for tick in even_ticks(low, high, most) if tick == int(tick)]
    return whole if len(whole) > 1 else [math.log10(value) for value in even_ticks(10**low, 10**high, most)]
