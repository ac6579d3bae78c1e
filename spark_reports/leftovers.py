"""What a job that was killed could not clear away itself is cleared by the next one."""

from __future__ import annotations

import os
import shutil
from pathlib import Path


def clear(folder: Path, prefix: str) -> None:
    """Remove folders and files of `folder` named `prefix` and the process number of a job that is gone."""
    for path in folder.glob(f"{prefix}[0-9]*"):
        number = path.name.removeprefix(prefix).partition("-")[0].partition(".")[0]
        if number.isdecimal() and not _alive(int(number)):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)


def _alive(process: int) -> bool:
    if os.name != "posix":
        return True  # asking would end it there
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
