from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from broker_core.recording import schema
from spark_reports.errors import NotFound, ReportError
from spark_reports.sessions import corruption

MAX_SCENARIO_CHARS = 1_000_000


class NotASession(NotFound):
    """There is no `session.json` of ours, or none that can be read."""


@dataclass(frozen=True)
class SessionInfo:
    """Data known before any event is read. `problems` are sentences about why it is incomplete, `notes` anything else.
    `parts` are the files to read, as Spark takes them; `scenario` is "" if unreadable.
    """

    location: str
    metadata: dict[str, Any]
    problems: tuple[str, ...] = ()
    parts: dict[str, list[str]] = field(default_factory=dict)
    scenario: str = ""
    notes: tuple[str, ...] = ()
    events: int = 0

    def knows(self, word: str) -> bool:
        return word in self.metadata.get("extra", {}).get(schema.KNOWS, (word,))

    @property
    def sentences(self) -> tuple[str, ...]:
        """Problems and notes, for the reader of the report."""
        return (*self.problems, *self.notes)


def inspect(location: str) -> SessionInfo:
    """Judge a session folder without Spark, before Java starts. Raises `ReportError`: not a session, an
    unknown version, still recording, or not sealed.
    """
    folder = Path(location)
    if not folder.is_dir():
        raise NotFound(f"There is no session at {location}: the folder does not exist.")
    metadata, problems = _told(folder, location)
    if any(schema.unsealed(folder, name) for name in schema.FOLDERS):
        raise ReportError(
            f"The session {location} is still being recorded or was never closed: stop it, or open it once to repair "
            "it."
        )
    judged = {name: corruption.judged(folder, name) for name in schema.FOLDERS}
    wrong = [problem for one in judged.values() for problem in one.problems]
    events = sum(part.events for one in judged.values() for part in one.parts)
    if not problems and not wrong:
        wrong += corruption.counted(events, metadata)
    problems += wrong
    ended = metadata.get("ended")
    if ended == "crashed":
        problems.append(schema.DIED)
    if ended == "failed":
        problems.append(f"The recording failed before the end. {metadata.get('error', '')}".strip())
    if metadata.get("extra", {}).get("gaps"):
        problems.append("Not everything was observed: gaps are marked among the events and on the time axes.")
    # Plain paths: Spark decodes no %20.
    parts = {name: [f"file://{part.path.resolve().as_posix()}" for part in one.parts] for name, one in judged.items()}
    return SessionInfo(location, metadata, tuple(problems), parts, _scenario(folder), events=events)


def _scenario(folder: Path) -> str:
    try:
        with (folder / schema.SCENARIO_FILE).open(encoding="utf-8", errors="replace") as file:
            return file.read(MAX_SCENARIO_CHARS)
    except OSError:
        return ""


DAMAGED = "is damaged"


def _told(folder: Path, location: str) -> tuple[dict[str, Any], list[str]]:
    """The valid parts of `session.json`, and its errors as sentences. Raises `ReportError` if it is no session's."""
    why = DAMAGED
    try:
        text = (folder / schema.SESSION_FILE).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise NotASession(f"{location} is not a session: it has no {schema.SESSION_FILE}.") from None
    except PermissionError:
        text, why = "", "may not be read (no permission)"
    except (OSError, UnicodeDecodeError):
        text = ""
    try:
        metadata = parse_metadata(location, text)
    except NotASession:
        if not any(schema.parts(folder, name) for name in schema.FOLDERS):
            if why != DAMAGED:
                raise ReportError(f"The {schema.SESSION_FILE} of {location} {why}.") from None
            raise
        return {}, [f"{schema.SESSION_FILE} {why}: the title, seed, times and totals are not known."]
    believed = corruption.believed(metadata)
    changed = schema.changed_files(folder, believed.get("checksums", {}))
    return believed, [*corruption.untrue(metadata), *changed]


def parse_metadata(location: str, text: str) -> dict[str, Any]:
    """`session.json` as a dict. Raises `NotASession`, and `ReportError` for a version that is not known."""
    try:
        metadata = json.loads(text)
    except (ValueError, RecursionError):
        raise NotASession(f"{location} is not a session: its {schema.SESSION_FILE} cannot be read.") from None
    if not isinstance(metadata, dict) or metadata.get("format") != schema.FORMAT:
        raise NotASession(f"{location} is not a session: its {schema.SESSION_FILE} describes something else.")
    version = metadata.get("format_version")
    if version == schema.FORMAT_VERSION or schema.metadata_problem(metadata):
        return metadata  # what is damaged may tell any version
    told = f"The session {location} has format version {str(version)[:40]}, "
    if isinstance(version, int) and version > schema.FORMAT_VERSION:
        raise ReportError(f"{told}and this program reads {schema.FORMAT_VERSION}: update Brokerscope.")
    raise ReportError(
        f"{told}which does not exist: there is {schema.FORMAT_VERSION}. Its {schema.SESSION_FILE} was changed."
    )
