from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from app.environment.paths import sessions_folder
from broker_core.errors import BrokerError
from broker_core.recording import metadata as meta
from broker_core.recording import schema
from broker_core.recording.lock import is_recording
from widgets.formats import duration
from widgets.i18n import mark, tr

MOST = 200
_ENDS = {
    meta.RUNNING: mark("left open"),
    meta.FINISHED: mark("finished"),
    meta.STOPPED: mark("stopped"),
    meta.CRASHED: mark("the program died"),
    meta.FAILED: mark("the recording failed"),
}


@dataclass(frozen=True)
class Entry:
    """One session folder, from its metadata alone. `left_open`: not being recorded, and never sealed."""

    folder: Path
    title: str
    started_s: float
    started: str
    lasted: str
    end: str
    left_open: bool
    recording: bool


class Library:
    """The folders in `parent` (None: the user's own), and others that were opened."""

    def __init__(self, parent: Path | None = None) -> None:
        self.parent = sessions_folder() if parent is None else parent

    def entries(self, others: Iterable[Path] = ()) -> list[Entry]:
        """The newest first, at most `MOST`, those that were changed last; folders that are no sessions are left out."""
        try:
            inside = [path for path in self.parent.iterdir() if _is_session(path)]
        except OSError:
            inside = []
        folders = {path.resolve(): path for path in (*inside, *others)}.values()
        newest = sorted(folders, key=_changed, reverse=True)[:MOST]
        found = [entry for entry in map(entry_of, newest) if entry is not None]
        return sorted(found, key=lambda entry: entry.started_s, reverse=True)

    def left_open(self) -> list[Entry]:
        return [entry for entry in self.entries() if entry.left_open]


def entry_of(folder: Path) -> Entry | None:
    """The metadata of a folder; None if it holds no readable session."""
    try:
        metadata = meta.read_metadata(folder)
    except BrokerError:
        return None
    recording = is_recording(folder)
    running = metadata.ended == meta.RUNNING
    try:
        began = datetime.fromisoformat(metadata.started_at).astimezone()
        started_s, started = began.timestamp(), began.strftime("%Y-%m-%d %H:%M")
    except ValueError:
        started_s, started = _changed(folder), tr("at an unknown time")
    return Entry(
        folder,
        metadata.scenario or folder.name,
        started_s,
        started,
        "" if metadata.duration_ns is None else duration(metadata.duration_ns),
        tr("being recorded") if running and recording else tr(_ENDS.get(metadata.ended, metadata.ended)),
        left_open=running and not recording,
        recording=running and recording,
    )


def _is_session(path: Path) -> bool:
    return not path.name.startswith(".") and (path / schema.SESSION_FILE).is_file()


def _changed(folder: Path) -> float:
    try:
        return (folder / schema.SESSION_FILE).stat().st_mtime
    except OSError:
        return 0.0
