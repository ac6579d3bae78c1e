from __future__ import annotations

import fcntl
import os
from pathlib import Path

from broker_core.files import private
from broker_core.recording import schema

LOCK_FILE = "recording.lock"


class SessionLock:
    """The lock of one session folder, held from `acquire` to `release` or to the end of the process."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / schema.UNSEALED / LOCK_FILE
        self._descriptor: int | None = None

    def acquire(self) -> bool:
        """False if another process holds it. Raises OSError if the folder cannot be written."""
        private.make_directory(self._path.parent)
        descriptor = private.opener(str(self._path), os.O_RDWR | os.O_CREAT)
        if not _locked(descriptor):
            os.close(descriptor)
            return False
        self._descriptor = descriptor
        return True

    def release(self) -> None:
        if self._descriptor is not None:
            self._path.unlink(missing_ok=True)
            os.close(self._descriptor)
            self._descriptor = None


def is_recording(folder: Path) -> bool:
    try:
        descriptor = os.open(folder / schema.UNSEALED / LOCK_FILE, os.O_RDWR)
    except OSError:
        return False
    try:
        return not _locked(descriptor)
    finally:
        os.close(descriptor)


def _locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
