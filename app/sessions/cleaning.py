from __future__ import annotations

import re
import shutil
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from app.sessions.bookmarks import Bookmarks
from app.sessions.stored import BRANCHED_FROM, origin_of
from broker_core.errors import BrokerError
from broker_core.files import private
from broker_core.messages import grouped
from broker_core.recording import schema
from broker_core.recording.lock import is_recording
from broker_core.recording.metadata import Metadata, read_metadata

KEPT_FILE = "kept"  # an empty file beside a recording: somebody opened it, or made something of it
_GOING = ".removing-"
_NAMED_BY_US = re.compile(r"\d{4}-\d\d-\d\d-\d{6}-")


class Limits(NamedTuple):
    """How many recordings are kept, and how many bytes of them; 0 for no limit."""

    recordings: int
    size_bytes: int


class Recording(NamedTuple):
    """A recording in the folder of sessions. `spared`: somebody named, bookmarked, opened or used it, or it is being
    recorded. `repeats` is the same for runs that do the same for as long as they last, None if a person or a program
    took part.
    """

    folder: Path
    changed_ns: int
    size_bytes: int
    spared: bool
    repeats: tuple[object, ...] | None


class Cleaned(NamedTuple):
    recordings: int
    size_bytes: int


def keep(folder: Path) -> None:
    """Never remove this recording. Nothing happens where the folder cannot be written: it is not ours then."""
    with suppress(OSError):
        private.create(folder / KEPT_FILE)


def recordings(parent: Path, spared: Collection[Path] = ()) -> list[Recording]:
    found = []
    try:
        folders = [path for path in parent.iterdir() if not path.is_symlink() and not path.name.startswith(".")]
    except OSError:
        return []
    for folder in folders:
        with suppress(OSError, BrokerError):
            found.append(_recording(folder, read_metadata(folder), spared))
    origins = {origin for _, origin in found}
    plain = [one._replace(spared=one.spared or one.folder.name in origins) for one, _ in found]
    return sorted(plain, key=lambda one: one.changed_ns, reverse=True)


def to_remove(found: list[Recording], limits: Limits) -> list[Recording]:
    """The recordings of `found` (newest first) to remove. The newest that is not spared always stays."""
    free = [one for one in found if not one.spared]
    alike = grouped((one.repeats, one) for one in free if one.repeats is not None)
    # Of runs that do the same the newest stays, to be compared with, and the longest, which has all that they have.
    going = [
        one for same in alike.values() for one in same[1:] if one is not max(same, key=lambda each: each.size_bytes)
    ]
    left = [one for one in found if one not in going]
    count, size_bytes = len(left), sum(one.size_bytes for one in left)
    for one in reversed([one for one in free[1:] if one not in going]):
        if not (0 < limits.recordings < count or 0 < limits.size_bytes < size_bytes):
            break
        going.append(one)
        count, size_bytes = count - 1, size_bytes - one.size_bytes
    return going


def clean(parent: Path, limits: Limits, spared: Collection[Path]) -> Cleaned:
    """Remove what can go; `spared` stays besides. What cannot be removed stays, and is tried again the next time."""
    for left in parent.glob(f"{_GOING}*"):
        shutil.rmtree(left, ignore_errors=True)
    count = size_bytes = 0
    for one in to_remove(recordings(parent, spared), limits):
        aside = one.folder.with_name(f"{_GOING}{one.folder.name}")
        try:
            one.folder.rename(aside)  # first: half a recording is never listed
        except OSError:
            continue
        shutil.rmtree(aside, ignore_errors=True)
        count, size_bytes = count + 1, size_bytes + one.size_bytes
    return Cleaned(count, size_bytes)


def _recording(folder: Path, metadata: Metadata, spared: Collection[Path]) -> tuple[Recording, str]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    actions, bookmarks = folder / schema.ACTIONS_FILE, Bookmarks(folder)
    has_actions = actions.exists() and actions.stat().st_size > 0
    by_itself = not any(metadata.extra.get(each) for each in ("outside_clients", BRANCHED_FROM)) and not has_actions
    mine = (
        folder.resolve() in spared
        or (folder / KEPT_FILE).exists()
        or _NAMED_BY_US.match(folder.name) is None
        or is_recording(folder)
        or bool(bookmarks.all() or bookmarks.problem)
    )
    recording = Recording(
        folder,
        (folder / schema.SESSION_FILE).stat().st_mtime_ns,
        sum(path.stat().st_size for path in files),
        mine,
        (metadata.scenario, metadata.seed, metadata.checksums.get(schema.SCENARIO_FILE)) if by_itself else None,
    )
    return recording, origin_of(metadata)
