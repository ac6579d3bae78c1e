from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from widgets.i18n import mark

Shares = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class WindowLayout:
    """Which sides are open, which tab is in front, and the shares (they add up to 1) of each splitter.

    `top` is navigator, canvas, right side; `right` is inspector, rebalances; `whole` is canvas and panels, one below
    the other or `beside` it. The share of a side that is folded is the one it opens with, 0 for the width or height
    that it was designed with.
    """

    left: bool = True
    right_side: bool = True
    bottom: bool = False
    timeline: bool = True
    tab: str = "assignments"
    top: Shares = (0.0, 1.0, 0.0)
    right: Shares = (0.6, 0.4)
    whole: Shares = (1.0, 0.0)
    beside: bool = False

    def to_text(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_text(cls, text: str) -> WindowLayout | None:
        try:
            plain = json.loads(text)
            layout = cls(
                left=bool(plain["left"]),
                right_side=bool(plain["right_side"]),
                bottom=bool(plain["bottom"]),
                timeline=bool(plain.get("timeline", True)),
                tab=str(plain["tab"]),
                top=_shares(plain["top"], 3),
                right=_shares(plain["right"], 2),
                whole=_shares(plain["whole"], 2),
                beside=bool(plain.get("beside", False)),
            )
        except (ValueError, TypeError, KeyError):
            return None
        return layout


def _shares(values: object, count: int) -> Shares:
    if not isinstance(values, list) or len(values) != count:
        raise ValueError("a splitter has another number of parts")
    shares = tuple(float(value) for value in values)
    if not all(0 <= share <= 1 for share in shares) or sum(shares) <= 0:
        raise ValueError("shares lie between 0 and 1")
    return shares


PRESENTATION = WindowLayout(left=False, bottom=False, top=(0.0, 0.79, 0.21), right=(0.6, 0.4))

SHIPPED: dict[str, WindowLayout] = {
    mark("Teach"): WindowLayout(left=False, bottom=False, top=(0.0, 0.74, 0.26), right=(0.5, 0.5)),
    mark("Debug"): WindowLayout(bottom=True, tab="events", whole=(0.6, 0.4)),
    mark("Dead letters"): WindowLayout(bottom=True, tab="dead_letters", whole=(0.5, 0.5), right=(0.75, 0.25)),
}
