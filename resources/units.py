"""How figures with a unit are written, in the window and in the report alike."""

from __future__ import annotations

import math

KIB = 1024
SIZE_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def three_digits(value: float) -> str:
    """`value` with three significant digits: 1.86, 12.3, 1,250; a whole number without zeros behind its point."""
    digits = 2 if abs(value) < 9.995 else 1 if abs(value) < 99.95 else 0
    text = f"{value:,.{digits}f}"
    # Zeros that come of rounding are digits; those of a whole number are noise.
    exact = abs(float(text.replace(",", "")) - value) < 1e-9 * abs(value)
    return text.rstrip("0").rstrip(".") if "." in text and exact else text


def per_second(rate: float) -> str:
    """How many a second, without a unit: "0", "0.4", "12", "1,250"; an ellipsis for NaN, which is not known yet."""
    if math.isnan(rate):
        return "…"
    return "0" if rate < 0.05 else f"{rate:.1f}" if rate < 9.95 else f"{rate:,.0f}"


def byte_size(size_bytes: float) -> str:
    """Bytes in the binary unit that keeps the number short: "512 B", "3.40 KiB", "12 MiB"."""
    value, place = float(size_bytes), 0
    while abs(value) >= KIB - 0.5 and place < len(SIZE_UNITS) - 1:
        value, place = value / KIB, place + 1
    return f"{three_digits(value) if place else format(value, '.0f')} {SIZE_UNITS[place]}"
