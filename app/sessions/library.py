from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from app.environment.paths import sessions_folder
from broker_core.errors import BrokerError
from broker_core.recording import schema
from broker_core.recording.lock import is_recording
from broker_core.recording.metadata import CRASHED, FAILED, FINISHED, RUNNING, STOPPED, Metadata, read_metadata
from widgets.formats import duration
from widgets.i18n import mark, tr

MOST = 200
_ENDS = {
    RUNNING: mark("left open"),
    FINISHED: mark("finished"),
    STOPPED: mark("stopped"),
    CRASHED: mark("the program died"),
    FAILED: mark("the recording failed"),
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
            inside = [path.parent for path in self.parent.glob(f"[!.]*/{schema.SESSION_FILE}")]
        except OSError:
            inside = []
        folders = {path.resolve(): path for path in (*inside, *others)}.values()
        newest = sorted(folders, key=_changed, reverse=True)[:MOST]
        found = [entry for entry in map(entry_of, newest) if entry is not None]
        return sorted(found, key=lambda entry: entry.started_s, reverse=True)

    def left_open(self) -> list[Entry]:
        return [entry for entry in self.entries() if entry.left_open]


def start_of(metadata: Metadata) -> datetime | None:
    """When a session began, in this computer's time zone; None if that cannot be read. Without a zone it is UTC."""
    try:
        began = datetime.fromisoformat(metadata.started_at)
        return (began if began.tzinfo else began.replace(tzinfo=UTC)).astimezone()
    except (ValueError, OverflowError):
        return None


def entry_of(folder: Path) -> Entry | None:
    """The metadata of a folder; None if it holds no readable session."""
    try:
        metadata = read_metadata(folder)
    except BrokerError:
        return None
    recording = is_recording(folder)
    running = metadata.ended == RUNNING
    began = start_of(metadata)
    return Entry(
        folder,
        metadata.scenario or folder.name,
        _changed(folder) if began is None else began.timestamp(),
        tr("at an unknown time") if began is None else began.strftime("%Y-%m-%d %H:%M"),
        "" if metadata.duration_ns is None else duration(metadata.duration_ns),
        tr("being recorded") if running and recording else tr(_ENDS.get(metadata.ended, metadata.ended)),
        left_open=running and not recording,
        recording=running and recording,
    )


def _changed(folder: Path) -> float:
    try:
        return (folder / schema.SESSION_FILE).stat().st_mtime
    except OSError:
        return 0.0
