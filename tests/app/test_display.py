"""Whether a window can open."""

import pytest

from app.display import why_no_window


@pytest.mark.parametrize(
    ("environment", "platform", "loads", "words"),
    [
        ({}, "linux", True, "no display"),
        ({"DISPLAY": ":0"}, "linux", False, "libxcb-cursor"),
        ({"DISPLAY": ":0"}, "linux", True, ""),
        ({"WAYLAND_DISPLAY": "wayland-0"}, "linux", False, ""),
        ({"QT_QPA_PLATFORM": "offscreen"}, "linux", False, ""),
        ({}, "darwin", False, ""),
        ({}, "win32", False, ""),
    ],
)
def test_the_reason_is_said_before_qt_ends_the_process(
    environment: dict[str, str], platform: str, loads: bool, words: str
) -> None:
    why = why_no_window(environment, platform, lambda _library: loads)
    assert (words in why) if words else (why == "")
