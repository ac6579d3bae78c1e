"""Whether a window can open here: Qt itself ends the process without a helpful message."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Mapping

from app.environment.system_libraries import (
    QT_LIBRARIES,
    WAYLAND_LIBRARIES,
    X11_LIBRARIES,
    how_to_install,
    loads,
    missing,
)

_NO_DISPLAY = "go on without one: brokerscope run first-session"


def _answers(display: str) -> bool:
    """Whether an X server answers at `display`, asked with Qt's own library for it."""
    x11 = ctypes.CDLL("libX11.so.6")
    x11.XOpenDisplay.restype = ctypes.c_void_p
    x11.XOpenDisplay.argtypes = [ctypes.c_char_p]
    opened = x11.XOpenDisplay(display.encode())
    if opened:
        x11.XCloseDisplay(ctypes.c_void_p(opened))
    return bool(opened)


def why_no_drawing(platform: str = sys.platform, found: Callable[[str], bool] = loads) -> str:
    """Why Qt cannot even draw without a display, and what to do, in one sentence; "" where it can."""
    return how_to_install(missing(QT_LIBRARIES, found)) if platform.startswith("linux") else ""


def why_no_window(
    environment: Mapping[str, str] = os.environ,
    platform: str = sys.platform,
    found: Callable[[str], bool] = loads,
    answers: Callable[[str], bool] = _answers,
) -> str:
    """Why no window can open here, and what to do, in one sentence; "" where one can.

    Of X11 and Wayland, where both are there, one is enough.
    """
    if not platform.startswith("linux"):
        return ""
    chosen = environment.get("QT_QPA_PLATFORM", "").partition(":")[0]
    display = environment.get("DISPLAY", "")
    if not (chosen or display or environment.get("WAYLAND_DISPLAY")):
        return f"There is no display to open a window on; {_NO_DISPLAY}"
    ways = []
    if chosen.startswith("wayland") or (not chosen and environment.get("WAYLAND_DISPLAY")):
        ways.append(missing(QT_LIBRARIES | WAYLAND_LIBRARIES, found))
    x11 = chosen == "xcb" or (not chosen and display != "")
    if x11:
        ways.append(missing(QT_LIBRARIES | X11_LIBRARIES, found))
    if not ways:
        return how_to_install(missing(QT_LIBRARIES, found))
    if all(ways):
        return how_to_install(min(ways, key=len))
    if x11 and len(ways) == 1 and not answers(display):
        return f"There is no X server at DISPLAY={display} to open a window on; {_NO_DISPLAY}"
    return ""
