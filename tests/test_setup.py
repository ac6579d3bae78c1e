"""The setup helper decides rightly what is missing and what to do about it."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from app.environment import system_libraries

HELPER = Path(__file__).parent.parent / ".ci" / "bootstrap.py"


@pytest.fixture(scope="module")
def helper() -> ModuleType:
    spec = importlib.util.spec_from_file_location("bootstrap", HELPER)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("system", "environ", "answer"),
    [
        ("Linux", {}, False),
        ("Linux", {"DISPLAY": ""}, False),
        ("Linux", {"DISPLAY": ":0"}, True),
        ("Linux", {"WAYLAND_DISPLAY": "wayland-0"}, True),
        ("Linux", {"QT_QPA_PLATFORM": "offscreen"}, True),
        ("Darwin", {}, True),
    ],
)
def test_has_display(helper, system, environ, answer):
    assert helper.has_display(system, environ) is answer


def test_a_window_needs_more_than_the_tests(helper):
    tests = helper.libraries_needed("Linux", {"DISPLAY": ":0"}, window=False)
    x11 = helper.libraries_needed("Linux", {"DISPLAY": ":0"}, window=True)
    wayland = helper.libraries_needed("Linux", {"WAYLAND_DISPLAY": "wayland-0"}, window=True)
    assert tests.keys() < x11.keys() and "libxcb-cursor.so.0" in x11
    assert tests.keys() < wayland.keys() and "libxcb-cursor.so.0" not in wayland
    assert helper.libraries_needed("Darwin", {}, window=True) == {}


def test_missing_keeps_what_does_not_load(helper):
    needed = {"libfound.so": "found", "liblost.so": "lost"}
    assert helper.missing(needed, lambda library: library == "libfound.so") == {"liblost.so": "lost"}
    assert helper.missing({"libno-such-library.so.77": "none"}) != {}


def test_setup_and_program_read_one_table(helper):
    assert helper.QT_LIBRARIES is system_libraries.QT_LIBRARIES
    assert helper.install_command is system_libraries.install_command


def test_one_command_names_each_package_once(helper):
    command = helper.install_command(["libgl1", "libegl1", "libgl1"])
    assert command == ("sudo apt-get update && sudo apt-get install -y --no-install-recommends libegl1 libgl1")


def test_where_we_may_not_install_the_command_is_said(helper, monkeypatch):
    monkeypatch.setattr(helper.shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(helper, "root_prefix", lambda: None)
    with pytest.raises(helper.SetupError, match=r"libEGL\.so\.1(.|\n)*sudo apt-get .* libegl1"):
        helper.install_system({"libEGL.so.1": "libegl1"})


def test_without_apt_the_libraries_are_named(helper, monkeypatch):
    monkeypatch.setattr(helper.shutil, "which", lambda name: None)
    with pytest.raises(helper.SetupError, match=r"libEGL\.so\.1"):
        helper.install_system({"libEGL.so.1": "libegl1"})


def test_the_stamp_follows_place_and_contents(helper):
    stamp = helper.stamp_for("3.11.2 here", [b"a", b"b"])
    assert stamp == helper.stamp_for("3.11.2 here", [b"a", b"b"])
    others = [helper.stamp_for("3.11.2 there", [b"a", b"b"]), helper.stamp_for("3.11.2 here", [b"ab", b""])]
    assert stamp not in others


def test_steps(helper):
    old, new = helper.stamp_for("here", [b"1"]), helper.stamp_for("here", [b"2"])
    assert helper.step_needed(new, new, python_works=True) is None
    assert helper.step_needed(new, old, python_works=True) == "update"
    assert helper.step_needed(new, None, python_works=True) == "create", "an interrupted install starts anew"
    assert helper.step_needed(new, "", python_works=True) == "create", "an empty stamp is no stamp"
    assert helper.step_needed(new, new, python_works=False) == "create"
    assert helper.step_needed(new, helper.stamp_for("moved", [b"2"]), python_works=True) == "create"


def test_an_environment_behind_a_link_is_left_alone(helper, monkeypatch, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "kept").touch()
    (tmp_path / ".venv").symlink_to(other)
    monkeypatch.setattr(helper, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(helper, "STAMP", tmp_path / ".venv" / "stamp")
    monkeypatch.setattr(helper, "run", lambda command, failure: pytest.fail(f"{command} was run"))
    with pytest.raises(helper.SetupError, match="remove the link"):
        helper.install_packages()
    assert (other / "kept").exists()


def test_a_window_without_a_display_ends_with_the_way_on():
    hidden = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    environ = {name: value for name, value in os.environ.items() if name not in hidden}
    command = [sys.executable, "-I", str(HELPER), "--window"]
    ended = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    if sys.platform == "linux":
        assert ended.returncode == 1
        assert "no display" in ended.stderr and "main.py run" in ended.stderr
