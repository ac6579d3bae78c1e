"""Words and figures on the canvas: faces, elision and counts, cached because frames repeat them.

Text is drawn glyph by glyph from a base line, never laid out, so a name can never act as markup.
"""

from __future__ import annotations

from enum import IntEnum
from functools import lru_cache
from math import ceil, isnan

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter

from widgets.formats import per_second
from widgets.i18n import localized, mark, tr
from widgets.theme import qcolour, ui_font

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


# Name: its height in scene units at each step of the zoom (overview, normal, near), and its weight.
FACES: dict[str, tuple[tuple[int, int, int], QFont.Weight]] = {
    "title": ((26, 18, 14), QFont.Weight.DemiBold),
    "name": ((19, 17, 13), QFont.Weight.DemiBold),
    "small-name": ((19, 14, 12), QFont.Weight.Medium),
    "body": ((19, 15, 12), QFont.Weight.Medium),
    "small": ((18, 14, 11), QFont.Weight.Normal),
    "tiny": ((16, 13, 11), QFont.Weight.Normal),
    "letter": ((18, 14, 12), QFont.Weight.Bold),
    "small-letter": ((16, 13, 11), QFont.Weight.Bold),
    "figure": ((27, 22, 17), QFont.Weight.DemiBold),
}
# No letter on the canvas is less high on the screen.
LEAST_PIXELS = 11
# A word or a name that is cut to fewer letters than this says nothing: it is left out.
LEAST_LETTERS = 4


def least_units(zoom: float, step: Step) -> int:
    """The least height of letters at so many pixels for each unit; an overview has its own, as large as fits."""
    return 0 if step is Step.OVERVIEW else ceil(LEAST_PIXELS / max(zoom, NORMAL_FROM))


def face_at(name: str, step: Step, least: int = 0) -> str:
    """The face of a name at a step of the zoom, at least so many units high; its plain name is that of NEAR."""
    pixels = FACES[name][0][int(step)]
    return name if step is Step.NEAR and pixels >= least else f"{name}@{max(pixels, least)}"


@lru_cache(maxsize=128)
def face(name: str) -> QFont:
    plain, _, units = name.partition("@")
    pixels, weight = FACES[plain]
    return ui_font(int(units or pixels[Step.NEAR]), weight, tabular=True, scaled=False)


@lru_cache(maxsize=128)
def metrics(name: str) -> QFontMetricsF:
    return QFontMetricsF(face(name))


@lru_cache(maxsize=8192)
def width_of(text: str, name: str) -> float:
    return metrics(name).horizontalAdvance(text)


@lru_cache(maxsize=8192)
def elided(text: str, name: str, width: int) -> str:
    """The text, cut with an ellipsis if it is wider than `width` scene units.

    A name is cut in its middle, because names that belong together differ in their last characters. Nothing is left
    where it would be cut to fewer than `LEAST_LETTERS`.
    """
    if width_of(text, name) <= width:
        return text
    mode = Qt.TextElideMode.ElideRight if " " in text else Qt.TextElideMode.ElideMiddle
    cut = metrics(name).elidedText(text, mode, width)
    return cut if len(cut) > LEAST_LETTERS else ""


def write(painter: QPainter, x: float, y: float, text: str, name: str, colour: str, width: float) -> float:
    """Write from `x` on the base line `y`, elided to `width`; the width that was used."""
    shown = elided(text, name, ceil(width)) if width > 0 else ""
    if not shown:
        return 0.0
    painter.setFont(face(name))
    painter.setPen(qcolour(colour))
    painter.drawText(QPointF(x, y), shown)
    return width_of(shown, name)


def write_right(painter: QPainter, x: float, y: float, text: str, name: str, colour: str, width: float) -> float:
    """Write so that the text ends at `x`; the width that was used."""
    shown = elided(text, name, ceil(width)) if width > 0 else ""
    return write(painter, x - width_of(shown, name), y, shown, name, colour, width + 1)


def write_centred(painter: QPainter, where: QRectF, text: str, name: str, colour: str) -> None:
    shown = elided(text, name, ceil(where.width()))
    sizes = metrics(name)
    x = where.center().x() - width_of(shown, name) / 2
    write(painter, x, where.center().y() + sizes.capHeight() / 2, shown, name, colour, where.width() + 1)


def count_text(count: int) -> str:
    """A count in full up to 9,999,999, then in millions or thousands of millions; nine characters at most."""
    if count < 10_000_000:
        return localized(f"{count:,}")
    return localized(f"{count / 1e6:.1f} M" if count < 1e9 else f"{count / 1e9:,.1f} G")


def short_count(count: int) -> str:
    """A count in at most five characters."""
    if count < 10_000:
        return localized(f"{count:,}")
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if count >= size:
            return localized(f"{count / size:.1f}{unit}" if count < 10 * size else f"{count / size:.0f}{unit}")
    return str(count)


def rate_text(rate_per_s: float) -> str:
    """A rate, as "0", "0.4/s", "12/s", "1.2k/s"; NaN, if it is not known yet, is an ellipsis."""
    short = per_second(rate_per_s) if not rate_per_s >= 1000 else short_count(round(rate_per_s))
    return short if isnan(rate_per_s) else f"{short}/s"


# One, several and none of each noun.
_PLURALS = {
    "consumer": (mark("1 consumer"), mark("{count} consumers"), mark("no consumers")),
    "dead letter": (mark("1 dead letter"), mark("{count} dead letters"), mark("no dead letters")),
    "idle consumer": (mark("1 idle consumer"), mark("{count} idle consumers"), mark("no idle consumers")),
    "partition": (mark("1 partition"), mark("{count} partitions"), mark("no partitions")),
    "worker": (mark("1 worker"), mark("{count} workers"), mark("no workers")),
}


def plural(count: int, noun: str) -> str:
    """A count with its noun: "1 partition", "2 partitions", "no partitions". The noun is one of `_PLURALS`."""
    one, several, none = _PLURALS[noun]
    if count == 1:
        return tr(one)
    return tr(several, count=short_count(count)) if count else tr(none)
