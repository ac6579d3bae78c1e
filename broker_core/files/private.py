"""Files and directories for their owner only: modes 0600 and 0700, independent of the umask."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

FILE_MODE = 0o600
DIRECTORY_MODE = 0o700
_OTHERS = 0o077


def opener(path: str, flags: int) -> int:
    """For `open(..., opener=opener)`: a new file gets mode 0600."""
    return os.open(path, flags | getattr(os, "O_CLOEXEC", 0), FILE_MODE)


def create(path: Path) -> Path:
    """Create the file with mode 0600, for libraries that take a path. Returns `path`."""
    os.close(opener(str(path), os.O_RDWR | os.O_CREAT))
    return path


def replace(path: Path, data: bytes, *, mode: int = FILE_MODE) -> None:
    """Write `data` beside `path` first: whoever reads that meanwhile, or finds the disk full, has what was there."""
    path = path.resolve()
    partial = path.with_name(f".{path.name[:40]}.{os.getpid()}-{threading.get_ident()}")  # shorter than the longest
    try:
        create(partial).write_bytes(data)
        partial.chmod(mode)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def make_directory(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.mkdir(mode=DIRECTORY_MODE, exist_ok=True)


def close_to_others(directory: Path, foreign: str = "") -> None:
    """Remove the access of other users, or log a warning: if that fails, or the directory has a `foreign` file."""
    if os.name != "posix" or not directory.stat().st_mode & _OTHERS:  # others have no such modes
        return
    if directory.stat().st_mode & stat.S_ISVTX:
        foreign = "everyone's files"
    reason = f"it contains {foreign}, which does not belong to the broker" if foreign else ""
    if not foreign:
        try:
            directory.chmod(DIRECTORY_MODE)
        except OSError as error:
            reason = error.strerror or str(error)
    if reason:
        import logging  # seldom needed, and a command of 0.1 s would wait for it

        logging.getLogger(__name__).warning(
            "other users of this machine can read %s (%s); chmod 700 it, or use another one", directory, reason
        )
