from __future__ import annotations

from dataclasses import dataclass, fields

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

# Each token in the light and in the dark theme.
_COLOURS = {
    "window": ("#F3F5F8", "#11141A"),
    "surface": ("#FFFFFF", "#181C24"),
    "raised": ("#FFFFFF", "#20252F"),
    "sunken": ("#EBEEF3", "#0D1015"),
    "hover": ("#E6EAF1", "#272D39"),
    "pressed": ("#DAE0EA", "#303746"),
    "text": ("#1A2130", "#E7EAF0"),
    "muted": ("#556073", "#9DA7B8"),
    "disabled": ("#8C95A5", "#667084"),
    "border": ("#D8DDE6", "#2D3441"),
    "border_strong": ("#8A94A6", "#667085"),
    "grid": ("#E7EAF0", "#242A35"),
    "accent": ("#2857C4", "#8AB0FF"),
    "accent_fill": ("#2F62D9", "#3A6AE0"),
    "accent_fill_hover": ("#2553BD", "#3160D0"),
    "on_accent": ("#FFFFFF", "#FFFFFF"),
    "accent_soft": ("#E2EAFB", "#1E2C4C"),
    "focus": ("#2F62D9", "#6F9BFF"),
    "stable": ("#17703F", "#5CCB8B"),
    "stable_soft": ("#DDF2E5", "#163425"),
    "rebalancing": ("#855200", "#F0B445"),
    "rebalancing_soft": ("#FCEBC8", "#3B2C0F"),
    "failure": ("#B42624", "#FF8A82"),
    "failure_soft": ("#FBE3E1", "#45201F"),
    "idle": ("#5A6475", "#A0A9B8"),
    "idle_soft": ("#E8EBF0", "#2A303B"),
    "active": ("#2857C4", "#8AB0FF"),
    "active_soft": ("#E2EAFB", "#1E2C4C"),
    "lag_up": ("#A33F00", "#FF9E5E"),
    "lag_up_soft": ("#FDE6D6", "#432612"),
    "lag_down": ("#17703F", "#5CCB8B"),
    "lag_down_soft": ("#DDF2E5", "#163425"),
    "replay": ("#6A3FB5", "#C0A2F5"),
    "replay_soft": ("#EEE7FA", "#2E2347"),
    "branch": ("#0B6A78", "#62C9D8"),
    "branch_soft": ("#DBF1F3", "#123238"),
    "lane": ("#E6EAF0", "#2A303C"),
    "lag_fill": ("#CB6527", "#B9642B"),
}
LIGHT = Theme(name="light", is_dark=False, owner_hues=LIGHT_HUES, **{name: pair[0] for name, pair in _COLOURS.items()})
DARK = Theme(name="dark", is_dark=True, owner_hues=DARK_HUES, **{name: pair[1] for name, pair in _COLOURS.items()})
