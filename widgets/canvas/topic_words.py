"""What a topic says of its lanes, in the window and on a page, and the headings that tell its groups apart."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from widgets.canvas.layout import partitions_per_cell
from widgets.canvas.lettering import count_text, short_count
from widgets.canvas.view import LaneGroup
from widgets.i18n import mark, tr

NO_GROUP = mark("no group")
LETTERS = 3  # of a heading


def track_words(scale: int, has_groups: bool) -> str:
    return tr("last {count} messages", count=count_text(scale)) if has_groups else tr("no group reads it")


def heat_words(lanes: int) -> str:
    per_cell = partitions_per_cell(lanes)
    share = tr(", {per_cell} to a cell", per_cell=per_cell) if per_cell > 1 else ""
    return tr("{count} partitions as a heat map{share}", count=count_text(lanes), share=share)


def worst_words(cells: Sequence[tuple[float, LaneGroup | None]]) -> str:
    """The largest lag of the cells; "" if none is known."""
    worst = max((lag for lag, _group in cells), default=-1)
    return tr("worst lag {count}", count=short_count(int(worst))) if worst >= 0 else ""


def short_names(names: Sequence[str]) -> tuple[str, ...]:
    """At most three letters of each name, all different if the names are: their beginnings, where these differ.

    Else the first letters of their words ("group-2" is g2), or the first letter and those from where they part.
    """
    beginnings = ["".join(_words(name))[:LETTERS] or name[:LETTERS] for name in names]
    alike = {head for head in beginnings if beginnings.count(head) > 1}
    taken = {head for head in beginnings if head not in alike}
    found: list[str] = []
    for name, head in zip(names, beginnings, strict=True):
        chosen = head
        if head in alike:
            others = [
                other for other, begins in zip(names, beginnings, strict=True) if begins == head and other != name
            ]
            chosen = next((one for one in _other_ways(name, others) if one not in taken), head)
            taken.add(chosen)
        found.append(chosen)
    return tuple(found)


def _other_ways(name: str, others: Sequence[str]) -> Iterator[str]:
    words = _words(name)
    if len(words) > 1:
        yield "".join(word[0] for word in words)[:LETTERS]
        yield (words[0][0] + words[-1])[:LETTERS]
    common = max((_common(name, other) for other in others), default=0)
    if name[common:]:
        yield name[0] + name[common : common + LETTERS - 1]
    for number in range(1, 100):
        yield f"{name[: LETTERS - len(str(number))]}{number}"


def _words(name: str) -> list[str]:
    return re.findall(r"[^\W_]+", name)


def _common(one: str, other: str) -> int:
    return next(
        (at for at, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), min(len(one), len(other))
    )
