"""The SQLite file of committed offsets. Rows have checksums, because SQLite does not detect changed values."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, TypeVar

import crc32c
import msgspec

from broker_core.errors import BrokerError, ErrorCode
from broker_core.files import private
from broker_core.groups.offset_journal import Changes, GroupRow, MembersRow, OffsetRow

R = TypeVar("R", OffsetRow, GroupRow, MembersRow)
MEMORY = ":memory:"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS offsets (
    grp TEXT NOT NULL, topic TEXT NOT NULL, partition INTEGER NOT NULL,
    "offset" INTEGER NOT NULL, metadata TEXT NOT NULL, leader_epoch INTEGER NOT NULL, checksum INTEGER NOT NULL,
    PRIMARY KEY (grp, topic, partition)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS groups (
    grp TEXT PRIMARY KEY, generation INTEGER NOT NULL, members INTEGER NOT NULL, checksum INTEGER NOT NULL)
    WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS members (
    grp TEXT PRIMARY KEY, members BLOB NOT NULL, checksum INTEGER NOT NULL)
    WITHOUT ROWID;
"""
_OFFSETS = "SELECT * FROM offsets ORDER BY grp, topic, partition"
_GROUPS = "SELECT * FROM groups ORDER BY grp"
_MEMBERS = "SELECT * FROM members ORDER BY grp"
# Errors caused by the disk or another process. Any other error of these fixed statements means a corrupt file.
_OUTSIDE = frozenset(
    {
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_PROTOCOL,
        sqlite3.SQLITE_MISUSE,
    }
)


def _checksum(*row: object) -> int:
    return crc32c.crc32c(msgspec.msgpack.encode(row))


class CorruptTable(Exception):
    """The file is not an SQLite database any more, or has invalid rows."""


class OffsetTable:
    """Rows of offsets and groups. Raises `CorruptTable`, or `BrokerError` (STORAGE_ERROR) for disk errors."""

    def __init__(self, path: str, *, durable: bool) -> None:
        self._path = path
        connection: sqlite3.Connection | None = None
        try:
            if path != MEMORY:
                private.create(Path(path))  # SQLite gives its other files the same mode
            # The broker's lock serializes calls from all threads.
            connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            connection.create_function("row_checksum", -1, _checksum, deterministic=True)
            connection.executescript(_SCHEMA)
        except (sqlite3.Error, OSError, UnicodeDecodeError) as error:
            if connection is not None:
                connection.close()
            raise self._fault("cannot be opened", error) from error
        self.connection = connection

    def read(self) -> Changes:
        try:
            verdict = self.connection.execute("PRAGMA quick_check(1)").fetchone()[0]
            if verdict != "ok":
                raise CorruptTable(verdict)
            return Changes(
                [_row(row, OffsetRow) for row in self.connection.execute(_OFFSETS)],
                [_row(row, GroupRow) for row in self.connection.execute(_GROUPS)],
                self.connection.execute("PRAGMA user_version").fetchone()[0],
                [_row(row, MembersRow) for row in self.connection.execute(_MEMBERS)],
            )
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise self._fault("cannot be read", error) from error

    def write(self, changes: Changes) -> None:
        execute, many = self.connection.execute, self.connection.executemany
        try:
            execute("BEGIN IMMEDIATE")
            try:
                many(
                    "INSERT OR REPLACE INTO offsets "
                    "VALUES (?1, ?2, ?3, ?4, ?5, ?6, row_checksum(?1, ?2, ?3, ?4, ?5, ?6))",
                    [
                        (row.group, row.topic, row.partition, row.offset, row.metadata, row.leader_epoch)
                        for row in changes.offsets
                        if row.offset is not None
                    ],
                )
                many(
                    "DELETE FROM offsets WHERE grp = ? AND topic = ? AND partition = ?",
                    [(row.group, row.topic, row.partition) for row in changes.offsets if row.offset is None],
                )
                many(
                    "INSERT OR REPLACE INTO groups VALUES (?1, ?2, ?3, row_checksum(?1, ?2, ?3))",
                    [(row.group, row.generation, row.members) for row in changes.groups if row.generation is not None],
                )
                many(
                    "DELETE FROM groups WHERE grp = ?",
                    [(row.group,) for row in changes.groups if row.generation is None],
                )
                execute(f"PRAGMA user_version = {changes.number}")
                many(
                    "INSERT OR REPLACE INTO members VALUES (?1, ?2, row_checksum(?1, ?2))",
                    [(row.group, row.members) for row in changes.members if row.members],
                )
                many("DELETE FROM members WHERE grp = ?", [(row.group,) for row in changes.members if not row.members])
                execute("COMMIT")
            except sqlite3.Error:
                if self.connection.in_transaction:
                    execute("ROLLBACK")
                raise
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise self._fault("cannot be written", error) from error

    def close(self) -> None:
        self.connection.close()

    def _fault(self, what: str, error: Exception) -> Exception:
        corrupt = not isinstance(error, OSError) and getattr(error, "sqlite_errorcode", 0) & 0xFF not in _OUTSIDE
        if self._path != MEMORY and corrupt:
            return CorruptTable(str(error))
        return BrokerError(ErrorCode.STORAGE_ERROR, f"the offsets in {self._path} {what} ({error})")


def quarantine(path: str) -> str:
    """Rename a corrupt file and its -wal and -shm files. Returns the new name."""
    number = 1
    while Path(f"{path}.damaged-{number}").exists():
        number += 1
    aside = f"{path}.damaged-{number}"
    for suffix in ("", "-wal", "-shm"):
        if Path(path + suffix).exists():
            Path(path + suffix).replace(aside + suffix)
    return aside


def salvage(path: str) -> Changes:
    found = Changes([], [], members=[])
    kinds: tuple[tuple[str, type[Any], list[Any]], ...] = (
        (_OFFSETS, OffsetRow, found.offsets),
        (_GROUPS, GroupRow, found.groups),
        (_MEMBERS, MembersRow, found.members),
    )
    for query, kind, rows in kinds:
        with (
            suppress(sqlite3.Error, UnicodeDecodeError),
            closing(sqlite3.connect(f"{Path(path).absolute().as_uri()}?mode=ro", uri=True)) as old,
        ):
            for row in old.execute(query):
                with suppress(CorruptTable):
                    rows.append(_row(row, kind))
    return found


def _row(row: tuple[object, ...], kind: type[R]) -> R:
    with suppress(msgspec.ValidationError):
        if None not in row and row[-1] == _checksum(*row[:-1]):
            return msgspec.convert(row[:-1], kind)
    raise CorruptTable(f"a row makes no sense: {row!r}")
