from __future__ import annotations

from dataclasses import dataclass, fields

import resources
from resources.colours import DARK_HUES, HUES, LIGHT_HUES


@dataclass(frozen=True)
class Theme:
    """Named colours as "#RRGGBB".

    Text tokens (`text`, `muted`, `accent` and every state colour) keep a contrast of 4.5 on `window`,
    `surface`, `raised` and `sunken`, and each state colour on its own `*_soft` fill; owner hues keep 3 on
    `surface` and `raised`, and a letter in `ink_on(hue)` keeps 4.5 on the hue.
    """

    name: str
    is_dark: bool
    window: str
    surface: str
    raised: str
    sunken: str
    hover: str
    pressed: str
    text: str
    muted: str
    disabled: str
    border: str
    border_strong: str
    grid: str
    accent: str
    accent_fill: str
    accent_fill_hover: str
    on_accent: str
    accent_soft: str
    focus: str
    stable: str
    stable_soft: str
    rebalancing: str
    rebalancing_soft: str
    failure: str
    failure_soft: str
    idle: str
    idle_soft: str
    active: str
    active_soft: str
    lag_up: str
    lag_up_soft: str
    lag_down: str
    lag_down_soft: str
    replay: str
    replay_soft: str
    branch: str
    branch_soft: str
    lane: str
    lag_fill: str
    owner_hues: tuple[str, ...]

    def owner(self, hue: int) -> str:
        """The colour of owner number `hue`; past the palette it starts again (badges tell apart)."""
        return self.owner_hues[hue % HUES]

    def colour(self, token: str) -> str:
        value = getattr(self, token) if token in COLOUR_TOKENS else None
        if not isinstance(value, str):
            raise KeyError(token)
        return value


COLOUR_TOKENS = tuple(field.name for field in fields(Theme) if field.name not in ("name", "is_dark", "owner_hues"))

_COLOURS = resources.table("themes", "colours.toml")
LIGHT = Theme(name="light", is_dark=False, owner_hues=LIGHT_HUES, **{name: pair[0] for name, pair in _COLOURS.items()})
DARK = Theme(name="dark", is_dark=True, owner_hues=DARK_HUES, **{name: pair[1] for name, pair in _COLOURS.items()})
