"""System libraries that Qt asks for by name. Standard library only: `.ci/bootstrap.py` reads this table, too."""

from __future__ import annotations

import ctypes
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping

# Library -> the Debian package that holds it (read off Qt's own files with objdump).
QT_LIBRARIES = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libX11.so.6": "libx11-6",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
    "libfreetype.so.6": "libfreetype6",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libgthread-2.0.so.0": "libglib2.0-0",
    "libzstd.so.1": "libzstd1",
    "libstdc++.so.6": "libstdc++6",
}
X11_LIBRARIES = {
    "libX11-xcb.so.1": "libx11-xcb1",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libxcb.so.1": "libxcb1",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-glx.so.0": "libxcb-glx0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-render.so.0": "libxcb-render0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-shm.so.0": "libxcb-shm0",
    "libxcb-sync.so.1": "libxcb-sync1",
    "libxcb-util.so.1": "libxcb-util1",
    "libxcb-xfixes.so.0": "libxcb-xfixes0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
}
WAYLAND_LIBRARIES = {
    "libwayland-client.so.0": "libwayland-client0",
    "libwayland-cursor.so.0": "libwayland-cursor0",
    "libwayland-egl.so.1": "libwayland-egl1",
}


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


_NO_DISPLAY = "continue without one: brokerscope run first-session"


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
    environment: Mapping[str, str] = os.environ,
    platform: str = sys.platform,
    found: Callable[[str], bool] = loads,
    answers: Callable[[str], bool] = _answers,
) -> str:
    """Why no window can open here, and what to do, in one sentence; "" if one can.

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
