"""Whether a window can open here: Qt itself would end the process without a word that helps."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Mapping

# Qt loads this one itself, since 6.5, and many systems lack it.
XCB_CURSOR = "libxcb-cursor.so.0"


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def why_no_window(
    environment: Mapping[str, str] = os.environ,
    platform: str = sys.platform,
    loads: Callable[[str], bool] = _loads,
) -> str:
    """Why no window can open here, and what to do, in one sentence; "" where one can."""
    if not platform.startswith("linux") or environment.get("QT_QPA_PLATFORM"):
        return ""
    if environment.get("WAYLAND_DISPLAY"):
        return ""
    if not environment.get("DISPLAY"):
        return "There is no display to open a window on; go on without one: brokerscope run first-session"
    if not loads(XCB_CURSOR):
        return (
            f"Qt needs {XCB_CURSOR} to open a window; install it (make run does, or: apt-get install libxcb-cursor0)."
        )
    return ""
