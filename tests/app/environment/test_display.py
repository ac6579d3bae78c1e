"""Whether a window can open."""

import pytest

from app.environment.system_libraries import (
    QT_LIBRARIES,
    WAYLAND_LIBRARIES,
    X11_LIBRARIES,
    how_to_install,
    why_no_drawing,
    why_no_window,
)

ALL: frozenset[str] = frozenset({*QT_LIBRARIES, *X11_LIBRARIES, *WAYLAND_LIBRARIES})
NO_X11 = ALL - set(X11_LIBRARIES)
X11 = {"DISPLAY": ":0"}
BOTH = {**X11, "WAYLAND_DISPLAY": "wayland-0"}


@pytest.mark.parametrize(
    ("environment", "platform", "there", "words"),
    [
        ({}, "linux", ALL, "There is no display to open a window on; continue without one: brokerscope watch a:1"),
        (X11, "linux", ALL - {"libxcb-cursor.so.0"}, "Qt needs libxcb-cursor.so.0, which"),
        (X11, "linux", ALL - {"libEGL.so.1", "libGL.so.1"}, "Qt needs libEGL.so.1, libGL.so.1, which"),
        (X11, "linux", ALL, ""),
        (X11, "linux", ALL - set(WAYLAND_LIBRARIES), ""),
        (BOTH, "linux", NO_X11, ""),
        (BOTH, "linux", NO_X11 - {"libwayland-egl.so.1"}, "Qt needs libwayland-egl.so.1, which"),
        ({"WAYLAND_DISPLAY": "wayland-0"}, "linux", NO_X11, ""),
        ({"QT_QPA_PLATFORM": "offscreen"}, "linux", NO_X11, ""),
        ({"QT_QPA_PLATFORM": "offscreen"}, "linux", frozenset(), "libEGL.so.1"),
        ({"QT_QPA_PLATFORM": "xcb", **X11}, "linux", NO_X11, "libxcb.so.1"),
        ({}, "darwin", frozenset(), ""),
        ({}, "win32", frozenset(), ""),
    ],
)
def test_the_reason_is_said_before_qt_ends_the_process(
    environment: dict[str, str], platform: str, there: frozenset[str], words: str
) -> None:
    why = why_no_window("brokerscope watch a:1", environment, platform, there.__contains__, lambda _display: True)
    assert (words in why) if words else (why == "")
    assert "\n" not in why


def test_a_display_that_nobody_answers_at_is_none() -> None:
    why = why_no_window(
        "brokerscope run a", {"DISPLAY": ":4711"}, "linux", lambda _library: True, lambda _display: False
    )
    assert why.startswith("There is no X server at DISPLAY=:4711") and "brokerscope run a" in why


def test_the_command_is_the_one_of_make_run() -> None:
    lacking = {"libEGL.so.1": "libegl1", "libGL.so.1": "libgl1"}
    command = "sudo apt-get update && sudo apt-get install -y --no-install-recommends libegl1 libgl1"
    assert how_to_install(lacking, debian=True).endswith(f"install with: {command}")
    assert "apt-get" not in how_to_install(lacking, debian=False)


def test_drawing_needs_no_display_and_a_part_of_the_libraries() -> None:
    assert why_no_drawing("linux", NO_X11.__contains__) == ""
    assert "libGL.so.1" in why_no_drawing("linux", (ALL - {"libGL.so.1"}).__contains__)
