"""What may be missing: system libraries that Qt asks for by name, and packages of extras.

Standard library only: `.ci/bootstrap.py` asks, too.
"""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import sys
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

import resources

_TABLE: dict[str, dict[str, str]] = tomllib.loads(resources.path("system_libraries.toml").read_text(encoding="utf-8"))
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


DISTRIBUTION = "brokerscope"
Extra = Literal["gui", "report"]
_NEEDED_BY: dict[Extra, str] = {"gui": "The window", "report": "The report"}


def _requirements() -> Sequence[str]:
    from importlib import metadata  # loads a mail parser: a sixth of what --help takes

    try:
        return metadata.requires(DISTRIBUTION) or ()
    except metadata.PackageNotFoundError:  # a source tree that was never installed promises nothing
        return ()


def packages(
    extra: Literal["", "gui", "report"], requirements: Callable[[], Sequence[str]] = _requirements
) -> list[str]:
    """The packages that pyproject.toml declares for an extra, or for no extra."""
    marks = ((line, re.search(r"""extra == ['"](\w+)['"]""", line)) for line in requirements())
    of_extra = [line for line, mark in marks if (mark[1] if mark else "") == extra]
    return [re.split(r"[^A-Za-z0-9_.-]", line, maxsplit=1)[0] for line in of_extra]


def version_of(distribution: str) -> str:
    from importlib import metadata

    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return ""


def why_missing(
    extra: Extra,
    requirements: Callable[[], Sequence[str]] = _requirements,
    installed: Callable[[str], object] = version_of,
) -> str:
    """One sentence that names the missing packages of `extra` and the command to install them; "" if none is
    missing."""
    absent = [name for name in packages(extra, requirements) if not installed(name)]
    if not absent:
        return ""
    verb = "is" if len(absent) == 1 else "are"
    return (
        f"{_NEEDED_BY[extra]} needs {' and '.join(absent)}, which {verb} not installed; install with: "
        f"pip install '{DISTRIBUTION}[{extra}]'"
    )
