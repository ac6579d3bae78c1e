"""Arithmetic of colours written as "#RRGGBB": luminance, contrast (WCAG 2.2), mixing, ink for a fill."""

from __future__ import annotations

DARK_INK = "#10141B"
LIGHT_INK = "#FFFFFF"


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


def ink_on(fill: str) -> str:
    """The ink, dark or light, that reads better on `fill`."""
    return max(DARK_INK, LIGHT_INK, key=lambda ink: contrast(ink, fill))
