"""Colours that window and report share, and arithmetic of colours written as "#RRGGBB"."""

from __future__ import annotations

from functools import lru_cache

DARK_INK = "#10141B"
LIGHT_INK = "#FFFFFF"

# What tells apart what has no colour of its own, on light and on dark ground; number n is the same hue on both. Window
# and report number alike, in the order of the control events, first come first served:
#   flows:   topics and queues by `topic_created` and `queue_created`, and groups by `member_joined`, in one row;
#   readers: clients by `client_started`, producers left out, and by `member_joined`.
# Other names come behind them. The hues were found by search: one colour in each of twelve hue
# sectors, lightness such that the least OKLab distance of any two, also as seen with protanopia, deuteranopia and
# tritanopia, is largest.
LIGHT_HUES = (
    "#688BF3", "#D671A7", "#116657", "#A19500", "#502C93", "#03394A",
    "#61490C", "#53220D", "#6D8967", "#855095", "#046FC7", "#9C5E00",
)  # fmt: skip
DARK_HUES = (
    "#6F81EC", "#C24976", "#4DEFCF", "#C1B88C", "#A79BFE", "#78C5D7",
    "#8F6F23", "#C77B67", "#B2E46B", "#A88DB1", "#4677AD", "#EC9412",
)  # fmt: skip
HUES = len(LIGHT_HUES)


def channels(colour: str) -> tuple[int, int, int]:
    """Red, green and blue of "#RRGGBB", each 0..255."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def luminance(colour: str) -> float:
    """Relative luminance, 0 (black) to 1 (white), as WCAG 2.2 defines it."""

    def linear(value: int) -> float:
        share = value / 255
        return share / 12.92 if share <= 0.04045 else float(((share + 0.055) / 1.055) ** 2.4)

    red, green, blue = (linear(value) for value in channels(colour))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Contrast ratio of two colours, 1 to 21, as WCAG 2.2 defines it."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def mix(base: str, over: str, share: float) -> str:
    """`share` (0..1) of `over` laid on `base`."""
    pairs = zip(channels(base), channels(over), strict=True)
    return "#" + "".join(f"{round(low + (high - low) * share):02X}" for low, high in pairs)


@lru_cache(maxsize=512)
def ink_on(fill: str) -> str:
    """The ink, dark or light, that reads better on `fill`."""
    return max(DARK_INK, LIGHT_INK, key=lambda ink: contrast(ink, fill))
