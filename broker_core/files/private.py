"""Files and directories that only their owner may read: 0600 and 0700, whatever the umask of the process is."""

from __future__ import annotations

import logging
import os
import stat
from pathlib import Path

_log = logging.getLogger(__name__)
FILE_MODE = 0o600
DIRECTORY_MODE = 0o700
_OTHERS = 0o077


def opener(path: str, flags: int) -> int:
    """For `open(..., opener=opener)`: a file that is created is its owner's alone."""
    return os.open(path, flags | getattr(os, "O_CLOEXEC", 0), FILE_MODE)


def create(path: Path) -> Path:
    """The path of a file that is there now, for those who can only be given a name."""
    os.close(opener(str(path), os.O_RDWR | os.O_CREAT))
    return path


def make_directory(path: Path) -> None:
    """Make the directory, and those above it, where they are missing; those above are as the umask has them."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.mkdir(mode=DIRECTORY_MODE, exist_ok=True)


def is_open_to_others(directory: Path) -> bool:
    """True where somebody else than its owner may look into it; False where the system has no such modes."""
    return os.name == "posix" and bool(directory.stat().st_mode & _OTHERS)


def close_to_others(directory: Path, foreign: str = "") -> None:
    """What an earlier version or somebody else has left open is its owner's alone from now on, with all that is in it.

    Where that cannot be, or should not because something `foreign` is in it or all may write there, it is said in the
    log.
    """
    if not is_open_to_others(directory):
        return
    if directory.stat().st_mode & stat.S_ISVTX:
        foreign = "what everybody puts there"
    reason = f"it holds {foreign}, which is not the broker's" if foreign else ""
    if not foreign:
        try:
            directory.chmod(DIRECTORY_MODE)
        except OSError as error:
            reason = error.strerror or str(error)
    if reason:
        _log.warning(
            "others on this machine can look into %s (%s); chmod 700 it, or give another one", directory, reason
        )
