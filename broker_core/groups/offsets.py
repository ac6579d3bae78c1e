"""Committed offsets: read from memory, kept in SQLite, one SQLite commit per engine tick."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Mapping
from contextlib import closing, suppress
from pathlib import Path
from types import MappingProxyType

import msgspec

from broker_core.errors import BrokerError, ErrorCode
from broker_core.groups.protocol import TopicPartition

_SCHEMA = """
CREATE TABLE IF NOT EXISTS offsets (
    grp TEXT NOT NULL, topic TEXT NOT NULL, partition INTEGER NOT NULL,
    "offset" INTEGER NOT NULL, metadata TEXT NOT NULL, leader_epoch INTEGER NOT NULL,
    PRIMARY KEY (grp, topic, partition)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS groups (
    grp TEXT PRIMARY KEY, generation INTEGER NOT NULL, members INTEGER NOT NULL) WITHOUT ROWID;
"""
_QUERIES = (
    'SELECT grp, topic, partition, "offset", metadata, leader_epoch FROM offsets ORDER BY grp, topic, partition',
    "SELECT grp, generation, members FROM groups ORDER BY grp",
)
_DAMAGE = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})


class OffsetAndMetadata(msgspec.Struct, frozen=True, gc=False):
    """A committed offset: the next one to read. `leader_epoch` is -1 where the client named none."""

    offset: int
    metadata: str = ""
    leader_epoch: int = -1


class GroupNumbers(msgspec.Struct, frozen=True, gc=False):
    """What must not start again at 0 after a restart, so that old members stay fenced."""

    generation: int = 0
    members: int = 0


class OffsetStore:
    """Offsets by group and partition, and each group's numbers.

    `path` is a file or ":memory:". Calls change memory; `flush` writes what changed since. Not thread-safe:
    the broker calls it under its lock. `damage` says in a sentence what happened to a damaged file, "" for
    nothing.
    """

    def __init__(self, path: str | Path = ":memory:", *, durable: bool = False) -> None:
        self._path = str(path)
        self._durable = durable
        self._offsets: dict[str, dict[TopicPartition, OffsetAndMetadata]] = {}
        self._readers: dict[str, dict[str, int]] = {}
        self._numbers: dict[str, GroupNumbers] = {}
        self._changed: dict[tuple[str, str, int], OffsetAndMetadata | None] = {}
        self._changed_numbers: dict[str, GroupNumbers | None] = {}
        self.damage = ""
        try:
            self._connection = self._open()
            self._load()
        except sqlite3.DatabaseError as error:
            if self._path == ":memory:" or not _is_damage(error):
                raise _refused("cannot be opened", self._path, error) from error
            self._rebuild()

    # Offsets.

    def commit(
        self, group: str, topic: str, partition: int, offset: int, metadata: str = "", leader_epoch: int = -1
    ) -> None:
        """Set the committed offset of one partition, forwards or backwards."""
        value = OffsetAndMetadata(offset, metadata, leader_epoch)
        self._put(group, topic, partition, value)
        self._changed[group, topic, partition] = value

    def fetch(self, group: str, topic: str, partition: int) -> OffsetAndMetadata | None:
        """What is committed, or None."""
        committed = self._offsets.get(group)
        return None if committed is None else committed.get((topic, partition))

    def fetch_all(self, group: str) -> Mapping[TopicPartition, OffsetAndMetadata]:
        """Everything that the group has committed; a live view, not a copy."""
        return MappingProxyType(self._offsets.get(group, {}))

    def groups(self) -> list[str]:
        """Groups that have committed something or had members, sorted."""
        return sorted(self._offsets.keys() | self._numbers.keys())

    def groups_of(self, topic: str) -> Collection[str]:
        """Groups that have committed something in `topic`; a live view."""
        return self._readers.get(topic, {}).keys()

    def _put(self, group: str, topic: str, partition: int, value: OffsetAndMetadata) -> None:
        committed = self._offsets.setdefault(group, {})
        if (topic, partition) not in committed:
            partitions = self._readers.setdefault(topic, {})
            partitions[group] = partitions.get(group, 0) + 1
        committed[topic, partition] = value

    def delete(self, group: str, topic: str, partition: int) -> None:
        """Forget one committed offset."""
        if self._offsets.get(group, {}).pop((topic, partition), None) is not None:
            self._changed[group, topic, partition] = None
            partitions = self._readers[topic]
            partitions[group] -= 1
            if not partitions[group]:
                del partitions[group]

    def delete_topic(self, topic: str) -> None:
        """Forget what any group has committed for `topic`."""
        for group, committed in self._offsets.items():
            for partition in [number for name, number in committed if name == topic]:
                self.delete(group, topic, partition)

    def delete_group(self, group: str) -> None:
        """Forget the group."""
        for topic, partition in list(self._offsets.get(group, {})):
            self.delete(group, topic, partition)
        self._offsets.pop(group, None)
        if self._numbers.pop(group, None) is not None:
            self._changed_numbers[group] = None

    # Numbers.

    def numbers(self, group: str) -> GroupNumbers:
        """The group's last generation and member number."""
        return self._numbers.get(group, GroupNumbers())

    def set_numbers(self, group: str, generation: int, members: int) -> None:
        """Remember the group's last generation and member number."""
        self._numbers[group] = self._changed_numbers[group] = GroupNumbers(generation, members)

    # The file.

    def flush(self) -> int:
        """Write what has changed in one SQLite commit; the number of changed rows.

        Raises `BrokerError` (STORAGE_ERROR) where the disk refuses; the changes are kept and written by a
        later call. A file that turns out to be damaged is put aside and written again from memory, without
        loss.
        """
        rows = len(self._changed) + len(self._changed_numbers)
        if rows == 0:
            return 0
        try:
            self._write()
        except sqlite3.Error as error:
            if self._path == ":memory:" or not _is_damage(error):
                raise _refused("cannot be written", self._path, error) from error
            self._connection.close()
            aside = self._quarantine()
            self._connection = self._open()
            self._change_everything()
            self._write()
            self.damage = f"{self._path} was damaged: it is kept as {aside}, and nothing was lost"
        return rows

    def close(self) -> None:
        """Flush and close."""
        self.flush()
        self._connection.close()

    def _open(self) -> sqlite3.Connection:
        # The broker's lock serialises all calls, from whichever thread they come.
        connection = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute(f"PRAGMA synchronous = {'FULL' if self._durable else 'NORMAL'}")
            connection.executescript(_SCHEMA)
        except sqlite3.DatabaseError:
            connection.close()
            raise
        return connection

    def _load(self) -> None:
        try:
            verdict = self._connection.execute("PRAGMA quick_check(1)").fetchone()[0]
            if verdict != "ok":
                raise _Damage(verdict)
            for query in _QUERIES:
                for row in self._connection.execute(query):
                    self._take(row)
        except sqlite3.DatabaseError:
            self._connection.close()
            raise

    def _take(self, row: tuple[object, ...]) -> None:
        match row:
            case (str(group), str(topic), int(partition), int(offset), str(metadata), int(epoch)):
                self._put(group, topic, partition, OffsetAndMetadata(offset, metadata, epoch))
            case (str(group), int(generation), int(members)):
                self._numbers[group] = GroupNumbers(generation, members)
            case _:
                raise _Damage(f"a row makes no sense: {row!r}")

    def _write(self) -> None:
        execute = self._connection.execute
        many = self._connection.executemany
        execute("BEGIN IMMEDIATE")
        try:
            many(
                "INSERT OR REPLACE INTO offsets VALUES (?, ?, ?, ?, ?, ?)",
                [
                    (*key, value.offset, value.metadata, value.leader_epoch)
                    for key, value in self._changed.items()
                    if value is not None
                ],
            )
            many(
                "DELETE FROM offsets WHERE grp = ? AND topic = ? AND partition = ?",
                [key for key, value in self._changed.items() if value is None],
            )
            many(
                "INSERT OR REPLACE INTO groups VALUES (?, ?, ?)",
                [(k, v.generation, v.members) for k, v in self._changed_numbers.items() if v is not None],
            )
            many(
                "DELETE FROM groups WHERE grp = ?",
                [(k,) for k, v in self._changed_numbers.items() if v is None],
            )
            execute("COMMIT")
        except sqlite3.Error:
            if self._connection.in_transaction:
                execute("ROLLBACK")
            raise
        self._changed.clear()
        self._changed_numbers.clear()

    def _change_everything(self) -> None:
        for group, committed in self._offsets.items():
            for (topic, partition), value in committed.items():
                self._changed[group, topic, partition] = value
        self._changed_numbers.update(self._numbers)

    def _quarantine(self) -> str:
        """Move the file and its journals aside; the name it has now."""
        number = 1
        while Path(f"{self._path}.damaged-{number}").exists():
            number += 1
        aside = f"{self._path}.damaged-{number}"
        for suffix in ("", "-wal", "-shm"):
            journal = Path(self._path + suffix)
            if journal.exists():
                journal.replace(aside + suffix)
        return aside

    def _rebuild(self) -> None:
        """Put the damaged file aside and save every row that can still be read."""
        self._offsets.clear()
        self._readers.clear()
        self._numbers.clear()
        aside = self._quarantine()
        for query in _QUERIES:
            # What comes before the damage can be read; what comes behind it is lost.
            with suppress(sqlite3.DatabaseError), closing(sqlite3.connect(f"file:{aside}?mode=ro", uri=True)) as old:
                for row in old.execute(query):
                    with suppress(_Damage):
                        self._take(row)
        self._connection = self._open()
        saved = sum(len(committed) for committed in self._offsets.values())
        self._change_everything()
        self._write()
        self.damage = f"{self._path} was damaged: it is kept as {aside}; {saved} committed offsets were saved from it"


class _Damage(sqlite3.DatabaseError):
    """The file opens but what it says makes no sense."""

    sqlite_errorcode = sqlite3.SQLITE_CORRUPT


def _is_damage(error: sqlite3.Error) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGE


def _refused(what: str, path: str, error: sqlite3.Error) -> BrokerError:
    return BrokerError(ErrorCode.STORAGE_ERROR, f"the offsets in {path} {what} ({error})")
