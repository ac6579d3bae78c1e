"""System libraries that Qt loads by name, and that may be missing.

Standard library only: `.ci/bootstrap.py` asks, too.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping

import resources

_TABLE: dict[str, dict[str, str]] = resources.table("system_libraries.toml")
QT_LIBRARIES, X11_LIBRARIES, WAYLAND_LIBRARIES = _TABLE["always"], _TABLE["x11"], _TABLE["wayland"]


def loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def missing(needed: Mapping[str, str], found: Callable[[str], bool] = loads) -> dict[str, str]:
    return {library: package for library, package in needed.items() if not found(library)}


def install_command(packages: Iterable[str], prefix: str = "sudo ") -> str:
    names = " ".join(sorted(set(packages)))
    return f"{prefix}apt-get update && {prefix}apt-get install -y --no-install-recommends {names}"


def how_to_install(lacking: Mapping[str, str], *, debian: bool | None = None) -> str:
    """One sentence that names the `lacking` packages and the command to install them; "" for none."""
    if not lacking:
        return ""
    what = ", ".join(sorted(lacking))
    if debian is None:
        debian = shutil.which("apt-get") is not None
    if not debian:
        return f"Qt needs {what}, which this system lacks; install the packages that contain them."
    return f"Qt needs {what}, which this system lacks; install with: {install_command(lacking.values())}"


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
    """Why Qt cannot even draw without a display, and what to do, in one sentence; "" if it can."""
    return how_to_install(missing(QT_LIBRARIES, found)) if platform.startswith("linux") else ""


def why_no_window(
    instead: str,
    environment: Mapping[str, str] = os.environ,
    platform: str = sys.platform,
    found: Callable[[str], bool] = loads,
    answers: Callable[[str], bool] = _answers,
) -> str:
    """Why no window can open here, and what to do, in one sentence; "" if one can. `instead` is a command that needs
    no display.

    Of X11 and Wayland, where both are there, one is enough.
    """
    if not platform.startswith("linux"):
        return ""
    chosen = environment.get("QT_QPA_PLATFORM", "").partition(":")[0]
    display = environment.get("DISPLAY", "")
    if not (chosen or display or environment.get("WAYLAND_DISPLAY")):
        return f"There is no display to open a window on; continue without one: {instead}"
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
        return f"There is no X server at DISPLAY={display} to open a window on; continue without one: {instead}"
    return ""
