"""The colour tokens of the light and the dark theme."""

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

LIGHT = Theme(
    name="light",
    is_dark=False,
    window="#F3F5F8",
    surface="#FFFFFF",
    raised="#FFFFFF",
    sunken="#EBEEF3",
    hover="#E6EAF1",
    pressed="#DAE0EA",
    text="#1A2130",
    muted="#556073",
    disabled="#8C95A5",
    border="#D8DDE6",
    border_strong="#8A94A6",
    grid="#E7EAF0",
    accent="#2857C4",
    accent_fill="#2F62D9",
    accent_fill_hover="#2553BD",
    on_accent="#FFFFFF",
    accent_soft="#E2EAFB",
    focus="#2F62D9",
    stable="#17703F",
    stable_soft="#DDF2E5",
    rebalancing="#855200",
    rebalancing_soft="#FCEBC8",
    failure="#B42624",
    failure_soft="#FBE3E1",
    idle="#5A6475",
    idle_soft="#E8EBF0",
    active="#2857C4",
    active_soft="#E2EAFB",
    lag_up="#A33F00",
    lag_up_soft="#FDE6D6",
    lag_down="#17703F",
    lag_down_soft="#DDF2E5",
    replay="#6A3FB5",
    replay_soft="#EEE7FA",
    branch="#0B6A78",
    branch_soft="#DBF1F3",
    lane="#E6EAF0",
    lag_fill="#CB6527",
    owner_hues=LIGHT_HUES,
)

DARK = Theme(
    name="dark",
    is_dark=True,
    window="#11141A",
    surface="#181C24",
    raised="#20252F",
    sunken="#0D1015",
    hover="#272D39",
    pressed="#303746",
    text="#E7EAF0",
    muted="#9DA7B8",
    disabled="#667084",
    border="#2D3441",
    border_strong="#667085",
    grid="#242A35",
    accent="#8AB0FF",
    accent_fill="#3A6AE0",
    accent_fill_hover="#3160D0",
    on_accent="#FFFFFF",
    accent_soft="#1E2C4C",
    focus="#6F9BFF",
    stable="#5CCB8B",
    stable_soft="#163425",
    rebalancing="#F0B445",
    rebalancing_soft="#3B2C0F",
    failure="#FF8A82",
    failure_soft="#45201F",
    idle="#A0A9B8",
    idle_soft="#2A303B",
    active="#8AB0FF",
    active_soft="#1E2C4C",
    lag_up="#FF9E5E",
    lag_up_soft="#432612",
    lag_down="#5CCB8B",
    lag_down_soft="#163425",
    replay="#C0A2F5",
    replay_soft="#2E2347",
    branch="#62C9D8",
    branch_soft="#123238",
    lane="#2A303C",
    lag_fill="#B9642B",
    owner_hues=DARK_HUES,
)
