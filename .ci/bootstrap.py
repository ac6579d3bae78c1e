"""Make this checkout ready to run: system libraries, virtual environment, Python packages.

Standard library only, because it runs before anything is installed. A second call with nothing changed
reads two small files and returns.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import importlib.util
import os
import platform
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from app.environment.system_libraries import QT_LIBRARIES, WAYLAND_LIBRARIES, X11_LIBRARIES, install_command, missing  # noqa: E402 - one table for setup and program; it needs nothing installed

VENV = ROOT / ".venv"
STAMP = VENV / ".brokerscope-installed"
PACKAGES = ("app", "broker_core", "resources", "spark_reports", "widgets")
INPUTS = (ROOT / "pyproject.toml", ROOT / ".ci" / "constraints.txt")

NO_DISPLAY = (
    "There is no display here (neither DISPLAY nor WAYLAND_DISPLAY is set): go on without a window by\n"
    "    make setup && .venv/bin/python main.py run first-session --speed max"
)


class SetupError(Exception):
    """What stands in the way, and the one command that removes it."""


def has_display(system: str, environ: Mapping[str, str]) -> bool:
    """Whether a window can open; only Linux needs to be asked, and a chosen Qt platform is believed."""
    names = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    return system != "Linux" or any(environ.get(name) for name in names)


def libraries_needed(system: str, environ: Mapping[str, str], window: bool) -> dict[str, str]:
    """Shared libraries that must load, each with its Debian package; more of them for a real window."""
    if system != "Linux":
        return {}
    needed = dict(QT_LIBRARIES)
    if window and environ.get("DISPLAY"):
        needed |= X11_LIBRARIES
    if window and environ.get("WAYLAND_DISPLAY"):
        needed |= WAYLAND_LIBRARIES
    return needed


def root_prefix() -> str | None:
    """What to put before a command that needs root: nothing, ``sudo -n``, or None where we may not."""
    if os.geteuid() == 0:
        return ""
    sudo = shutil.which("sudo")
    if sudo and subprocess.run([sudo, "-n", "true"], capture_output=True, check=False).returncode == 0:
        return "sudo -n "
    return None


def install_system(lacking: Mapping[str, str]) -> None:
    """Install what ``lacking`` names (what is missing -> Debian package), or say how to.

    Raises:
        SetupError: this is no Debian, we may not install, or apt-get failed.
    """
    if not lacking:
        return
    what = ", ".join(sorted(lacking))
    if shutil.which("apt-get") is None:
        raise SetupError(f"Missing on this system: {what}. Install the packages that hold them.")
    prefix = root_prefix()
    if prefix is None:
        raise SetupError(f"Missing on this system: {what}. Install them by\n    {install_command(lacking.values())}")
    command = install_command(lacking.values(), prefix)
    print(f"Installing {what}", flush=True)
    environ = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    if subprocess.run(["sh", "-c", command], env=environ, stdout=subprocess.DEVNULL, check=False).returncode:
        raise SetupError(f"Could not install {what}. The command was\n    {command}")


def stamp_for(place: str, contents: Iterable[bytes]) -> str:
    """Two lines: where and by which Python the environment is made, and a hash of what it is made from."""
    digest = hashlib.sha256()
    for content in contents:
        digest.update(hashlib.sha256(content).digest())
    return f"{place}\n{digest.hexdigest()}\n"


def step_needed(wanted: str, present: str | None, python_works: bool) -> str | None:
    """``"create"`` the environment, ``"update"`` its packages, or None when it is as wanted.

    No stamp means that an install was interrupted: half-unpacked packages look complete to pip, so the
    environment is made anew.
    """
    if present is None or not python_works or present.splitlines()[:1] != wanted.splitlines()[:1]:
        return "create"
    return None if present == wanted else "update"


def run(command: list[str], failure: str) -> None:
    """Run a command whose output the user should see; its failure becomes a SetupError."""
    if subprocess.run(command, cwd=ROOT, check=False).returncode:
        raise SetupError(f"{failure} The command was\n    {shlex.join(command)}")


def install_packages() -> None:
    """Bring .venv to what pyproject.toml and the constraints ask for."""
    place = f"{platform.python_version()} {VENV}"
    wanted = stamp_for(place, (path.read_bytes() for path in INPUTS))
    present = STAMP.read_text() if STAMP.exists() else None
    python = VENV / "bin" / "python"
    step = step_needed(wanted, present, python.exists())
    if step is None:
        return
    if VENV.is_symlink():  # what is cleared behind a link is somebody else's
        raise SetupError(
            f".venv is a link to {VENV.resolve()}, which is not the environment of this checkout: remove the link and "
            f"call make again, which makes one."
        )
    STAMP.unlink(missing_ok=True)
    print("Installing the Python packages into .venv (about 1 GB, a few minutes the first time)", flush=True)
    if step == "create":
        run([sys.executable, "-m", "venv", "--clear", str(VENV)], "Could not make .venv.")
    install = [str(python), "-m", "pip", "install", "--disable-pip-version-check"]
    install.append("--no-compile")  # most of it is never loaded; what is, Python compiles then
    install.append("--use-pep517")  # keeps the wheel built of pyspark, 456 MB, for the next install
    install += [] if sys.stdout.isatty() else ["--quiet"]  # a person wants to see that it goes on
    install += ["-c", str(INPUTS[1]), "-e", f"{ROOT}[all,dev]"]
    run(install, "Could not install the Python packages; is the network there? Calling make again goes on.")
    for left in ROOT.glob("*.egg-info"):  # pytest would rewrite the asserts of every module that it lists
        shutil.rmtree(left)
    run([str(python), "-m", "compileall", "-q", *PACKAGES], "Could not compile the program.")
    unfinished = STAMP.with_suffix(".new")
    unfinished.write_text(wanted)
    unfinished.replace(STAMP)


def prepare(window: bool) -> None:
    """Everything, in order; ``window`` asks for what a real window needs too.

    Raises:
        SetupError: something is missing that we may not or could not install.
    """
    system = platform.system()
    if window and not has_display(system, os.environ):
        raise SetupError(NO_DISPLAY)
    lacking = missing(libraries_needed(system, os.environ, window))
    if importlib.util.find_spec("ensurepip") is None:  # Debian splits it off, and venv needs it
        lacking["Python's venv"] = f"python3.{sys.version_info.minor}-venv"
    lock = os.open(ROOT / ".ci", os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)  # two terminals calling make at once take turns
    install_system(lacking)
    install_packages()


def main() -> int:
    """Command line; the exit code is 0 when everything is there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--window", action="store_true", help="also what a real window needs")
    try:
        prepare(parser.parse_args().window)
    except SetupError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
