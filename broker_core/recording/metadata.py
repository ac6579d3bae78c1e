"""`session.json`: what a session is, before a single event is read."""

from __future__ import annotations

import datetime
import os
import platform
import uuid
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import msgspec

from broker_core.errors import BrokerError, ErrorCode
from broker_core.files import private
from broker_core.recording import schema
from broker_core.recording.checksums import CRC32, document_checksum
from broker_core.version import program_version

RUNNING, FINISHED, STOPPED, CRASHED, FAILED = "running", "finished", "stopped", "crashed", "failed"
OBSERVED = "observed"  # the clock of a session over a broker elsewhere
_MOST: Final = (1 << 63) - 1
_Whole = Annotated[int, msgspec.Meta(ge=0, le=_MOST)]
#: In `extra`: what happened to a cluster, as `observation.cluster_tally` counts it.
CLUSTER: Final = "cluster"
KNOWS: Final = "knows"  # in `extra`: the words of what is known in a session over a broker elsewhere


class Metadata(msgspec.Struct, frozen=True, kw_only=True):
    """The content of `session.json`.

    `clock` is "observed" for a broker elsewhere. `ended` is running, finished (by itself), stopped (by a person),
    crashed (nobody closed it) or failed (the recording broke; `error` says how). `duration_ns` is session time,
    `events` counts what was recorded; both are None until the end. `totals` has the fields of `snapshots.Totals`,
    `checksums` the CRC-32 of files beside it that have none of their own.
    """

    format: str = schema.FORMAT
    format_version: int = schema.FORMAT_VERSION
    session_id: str = ""
    scenario: str = ""
    seed: Annotated[int, msgspec.Meta(ge=-_MOST, le=_MOST)] | None = None
    clock: Literal["virtual", "wall", "observed"] = "virtual"
    versions: dict[str, str] = {}
    started_at: str = ""
    ended_at: str | None = None
    ended: Literal["running", "finished", "stopped", "crashed", "failed"] = "running"
    duration_ns: _Whole | None = None
    events: _Whole | None = None
    totals: dict[str, _Whole] | None = None
    error: str = ""
    extra: dict[str, Any] = {}
    checksums: dict[str, int] = {}

    def knows(self, word: str) -> bool:
        """Whether figures of this word of `observation.peer.KNOWABLE` are known: all are of a broker that ran here."""
        known = self.extra.get(KNOWS)
        return word in known if isinstance(known, list) else True


def now_utc() -> str:
    """The wall clock, ISO-8601 in UTC with milliseconds."""
    return utc(datetime.datetime.now(datetime.UTC).timestamp())


def utc(unix_s: float) -> str:
    """A Unix time, ISO-8601 in UTC with milliseconds."""
    at = datetime.datetime.fromtimestamp(unix_s, datetime.UTC)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def new_metadata(**fields: Any) -> Metadata:
    versions = {"brokerscope": program_version(), "python": platform.python_version()}
    return Metadata(session_id=str(uuid.uuid4()), versions=versions, **fields)


def write_metadata(folder: Path, metadata: Metadata) -> None:
    """Replace `session.json` in one step. Raises OSError."""
    document = msgspec.json.decode(msgspec.json.encode(metadata))
    document[CRC32] = document_checksum(document)
    text = msgspec.json.format(msgspec.json.encode(document), indent=2)
    partial = folder / (schema.SESSION_FILE + ".partial")
    with open(partial, "wb", opener=private.opener) as file:
        file.write(text + b"\n")
        file.flush()
        os.fsync(file.fileno())
    partial.replace(folder / schema.SESSION_FILE)


def read_metadata(folder: Path) -> Metadata:
    """The metadata of the session in `folder`. Raises `BrokerError` as `checked_metadata`."""
    return checked_metadata(folder)[0]


def checked_metadata(folder: Path) -> tuple[Metadata, list[str]]:
    """The metadata of the session in `folder` (empty if unreadable beside events), and what is wrong with them and the
    files they vouch for, as sentences. Raises NOT_A_SESSION, UNKNOWN_SESSION_VERSION.
    """
    if not folder.is_dir():
        why = "is not a folder" if folder.exists() else "does not exist"
        raise BrokerError(ErrorCode.NOT_A_SESSION, f"{folder} {why}")
    path = folder / schema.SESSION_FILE
    try:
        document = path.read_bytes()
    except FileNotFoundError:
        raise BrokerError(ErrorCode.NOT_A_SESSION, f"{folder} has no {schema.SESSION_FILE}") from None
    except OSError as error:
        raise BrokerError(ErrorCode.NOT_A_SESSION, f"{path} cannot be read ({error})") from None
    try:
        return _understood(folder, document)
    except BrokerError as error:
        has_events = any(schema.parts(folder, name) or schema.unsealed(folder, name) for name in schema.FOLDERS)
        if error.code is ErrorCode.UNKNOWN_SESSION_VERSION or not has_events:
            raise
        return Metadata(scenario=folder.name, ended="finished"), [
            f"{schema.SESSION_FILE} is damaged: the title, seed, times and totals are not known."
        ]


def _understood(folder: Path, document: bytes) -> tuple[Metadata, list[str]]:
    path = folder / schema.SESSION_FILE
    try:
        raw = msgspec.json.decode(document)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise BrokerError(ErrorCode.NOT_A_SESSION, f"{path} cannot be read ({error})") from None
    if not isinstance(raw, dict) or raw.get("format") != schema.FORMAT:
        raise BrokerError(ErrorCode.NOT_A_SESSION, f"{path} describes something else")
    problem = _metadata_problem(raw)
    if raw.get("format_version") != schema.FORMAT_VERSION and not problem:
        found = str(raw.get("format_version"))[:40]
        raise BrokerError(
            ErrorCode.UNKNOWN_SESSION_VERSION,
            f"{folder} is version {found}, this program reads {schema.FORMAT_VERSION}",
        )
    try:
        metadata = msgspec.convert(raw, Metadata)
    except msgspec.ValidationError as error:
        raise BrokerError(ErrorCode.NOT_A_SESSION, f"{path} cannot be understood ({error})") from None
    return metadata, [problem] if problem else _changed_files(folder, metadata.checksums)


def file_checksum(path: Path) -> int:
    """The CRC-32 of a small file. Raises OSError."""
    return zlib.crc32(path.read_bytes())


def _changed_files(folder: Path, checksums: Mapping[str, int]) -> list[str]:
    """A sentence for each file beside `session.json` that is not as it says."""
    problems = []
    for name, expected in checksums.items():
        try:
            if file_checksum(folder / name) != expected:
                problems.append(f"{name} is damaged: what it says may be wrong.")
        except OSError:
            problems.append(f"{name} is missing.")
    return problems


def _metadata_problem(metadata: Mapping[str, Any]) -> str | None:
    """Why `session.json` is unreliable, in a sentence, or None. Another program's may have no checksum."""
    expected = metadata.get(CRC32)
    # A checksum of the other files covers this one.
    if expected == document_checksum(metadata) or (CRC32 not in metadata and "checksums" not in metadata):
        return None
    return f"{schema.SESSION_FILE} is damaged: its title, seed, times and totals may be wrong."
