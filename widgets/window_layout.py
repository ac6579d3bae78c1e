from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import msgspec

Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
TwoShares = tuple[Share, Share]

LEAST_SIZE = (960, 640)  # of the window
NO_LIMIT = 16_777_215  # Qt's QWIDGETSIZE_MAX


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
    top: tuple[Share, Share, Share] = (0.0, 1.0, 0.0)
    right: TwoShares = (0.6, 0.4)
    whole: TwoShares = (1.0, 0.0)
    beside: bool = False

    def to_text(self) -> str:
        return msgspec.json.encode(self).decode()

    @classmethod
    def from_text(cls, text: str) -> WindowLayout | None:
        try:
            return msgspec.json.decode(text, type=cls)
        except msgspec.DecodeError:  # a ValidationError is one
            return None


PRESENTATION = WindowLayout(left=False, bottom=False, top=(0.0, 0.79, 0.21), right=(0.6, 0.4))
