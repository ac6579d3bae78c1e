from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import msgspec

from broker_core.errors import BrokerError, ErrorCode
from broker_core.files import checked_root, private
from broker_core.recording import schema
from broker_core.recording.lock import LOCK_FILE
from broker_core.recording.metadata import STOPPED, now_utc, write_metadata
from broker_core.recording.reader import open_session, seal

TRIES = 3  # a segment may be sealed, and its stream go, while it is copied


def copy_session(source: Path, target: Path, said: Callable[[float, str], object] = lambda _part, _file: None) -> Path:
    """Copy a session to `target`, which must be empty or missing, and make it whole. `said(fraction, file name)` is
    called for every file; if it raises, the copy is removed. Raises NOT_A_SESSION, FOLDER_NOT_EMPTY, STORAGE_ERROR.
    """
    target = checked_root(target)
    recording = open_session(source).recording
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise BrokerError(ErrorCode.FOLDER_NOT_EMPTY, f"cannot copy the session to {target}; give another folder")
    if target.resolve().is_relative_to(source.resolve()):
        raise BrokerError(ErrorCode.INVALID_REQUEST, f"a session cannot be copied into itself, to {target}")
    try:
        _copy_files(source, target, said, TRIES if recording else 1)
    except BaseException as error:
        shutil.rmtree(target, ignore_errors=True)
        if isinstance(error, OSError):
            about = f"the session cannot be copied to {target}: {error.strerror or error}"
            raise BrokerError(ErrorCode.STORAGE_ERROR, about) from None
        raise
    copied = seal(target)
    if recording:
        # It did not crash: it was copied while it was recorded.
        metadata = msgspec.structs.replace(copied.metadata, ended=STOPPED, ended_at=now_utc())
        write_metadata(target, metadata)
    return target


def _copy_files(source: Path, target: Path, said: Callable[[float, str], object], tries: int) -> None:
    while True:
        tries -= 1
        try:
            files = [path for path in sorted(source.rglob("*")) if path.is_file() and path.name != LOCK_FILE]
            for place, path in enumerate(files):
                said(place / len(files), path.name)
                there = target / path.relative_to(source)
                for above in reversed(there.relative_to(target).parents):
                    private.make_directory(target / above)
                shutil.copyfile(path, private.create(there))
                shutil.copystat(path, there)
                there.chmod(private.FILE_MODE)
            for name in (*schema.FOLDERS, schema.UNSEALED):
                private.make_directory(target / name)  # an empty folder has no file that would make it
            return
        except FileNotFoundError:
            if not tries:
                raise
