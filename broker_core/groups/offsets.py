"""Committed offsets: read from memory, kept in SQLite, one SQLite commit per engine tick."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from types import MappingProxyType

import msgspec

from broker_core.errors import BrokerError
from broker_core.files import DiskFiles, FileSystem
from broker_core.groups.offset_journal import Changes, GroupRow, OffsetJournal, OffsetRow
from broker_core.groups.offset_table import MEMORY, DamagedTable, OffsetTable, quarantine, salvage
from broker_core.groups.protocol import TopicPartition


class OffsetAndMetadata(msgspec.Struct, frozen=True, gc=False):
    """A committed offset: the next one to read. `leader_epoch` is -1 where the client named none."""

    offset: int
    metadata: str = ""
    leader_epoch: int = -1


class GroupNumbers(msgspec.Struct, frozen=True, gc=False):
    """What must not start again at 0 after a restart, so that old members stay fenced."""

    generation: int = 0
    members: int = 0


class FlushTicket:
    """What one flush writes, done without the broker's lock."""

    def __init__(
        self, changes: Changes, everything: Changes | None, table: OffsetTable, journal: OffsetJournal | None
    ) -> None:
        self.changes = changes
        self.error: BrokerError | DamagedTable | None = None
        self._everything = everything
        self._table = table
        self._journal = journal

    def run(self) -> None:
        """Wait for the disk. Never raises: `OffsetStore.end_flush` does."""
        try:
            if self._journal is not None:
                if self._everything is not None:
                    self._journal.rewrite(self._everything)
                else:
                    self._journal.append(self.changes)
            self._table.write(self.changes)
        except (BrokerError, DamagedTable) as error:
            self.error = error


class OffsetStore:
    """Offsets by group and partition, and each group's numbers.

    `path` is a file or ":memory:". Calls change memory; `flush` writes what changed since, first to a journal
    beside the file, from which a damaged file is rebuilt. `durable` waits for the disk at each flush. Not
    thread-safe: the broker calls it under its lock. `damage` says in a sentence what happened to a damaged
    file, "" for nothing.
    """

    def __init__(self, path: str | Path = MEMORY, *, durable: bool = False) -> None:
        self._path = str(path)
        self._durable = durable
        self._offsets: dict[str, dict[TopicPartition, OffsetAndMetadata]] = {}
        self._readers: dict[str, dict[str, int]] = {}  # topic -> group -> committed partitions
        self._numbers: dict[str, GroupNumbers] = {}
        self._changed: set[tuple[str, str, int]] = set()
        self._changed_groups: set[str] = set()
        self.damage = ""
        self._journal: OffsetJournal | None = None
        if self._path != MEMORY:
            place = Path(self._path)
            self._journal = OffsetJournal(DiskFiles(place.parent), f"{place.name}.journal", durable=durable)
        self._table = self._open()

    @classmethod
    def looked_at(cls, path: Path, files: FileSystem) -> OffsetStore:
        """What the file `path` holds, for who only reads: changes stay in memory. `files` is the directory of it."""
        store = cls()
        journal = OffsetJournal(files, f"{path.name}.journal", durable=False)
        # The journal is written first: it has what the file has, and is read without a lock or a file beside it.
        if not store._replay(journal):
            store._apply(salvage(str(path)))
        return store

    # Offsets.

    def commit(
        self, group: str, topic: str, partition: int, offset: int, metadata: str = "", leader_epoch: int = -1
    ) -> None:
        """Set the committed offset of one partition, forwards or backwards."""
        self._put(group, topic, partition, OffsetAndMetadata(offset, metadata, leader_epoch))
        self._changed.add((group, topic, partition))

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

    def delete(self, group: str, topic: str, partition: int) -> None:
        """Forget one committed offset."""
        if self._drop(group, topic, partition):
            self._changed.add((group, topic, partition))

    def delete_topic(self, topic: str) -> None:
        """Forget what any group has committed for `topic`."""
        for group in sorted(self.groups_of(topic)):
            for partition in [number for name, number in self._offsets[group] if name == topic]:
                self.delete(group, topic, partition)

    def delete_group(self, group: str) -> None:
        """Forget the group."""
        for topic, partition in list(self._offsets.get(group, {})):
            self.delete(group, topic, partition)
        self._offsets.pop(group, None)
        if self._numbers.pop(group, None) is not None:
            self._changed_groups.add(group)

    # Numbers.

    def numbers(self, group: str) -> GroupNumbers:
        """The group's last generation and member number."""
        return self._numbers.get(group, GroupNumbers())

    def set_numbers(self, group: str, generation: int, members: int) -> None:
        """Remember the group's last generation and member number."""
        self._numbers[group] = GroupNumbers(generation, members)
        self._changed_groups.add(group)

    # The file.

    def flush(self) -> int:
        """Write what has changed in one SQLite commit; the number of changed rows.

        Raises `BrokerError` (STORAGE_ERROR) where the disk refuses; the changes are kept and written by a
        later call. A file that turns out to be damaged is put aside and written again from memory, without
        loss.
        """
        ticket = self.begin_flush()
        if ticket is None:
            return 0
        ticket.run()
        self.end_flush(ticket)
        return len(ticket.changes)

    def begin_flush(self) -> FlushTicket | None:
        """What has changed since the last flush; None for nothing. One flush at a time.

        Call `run` of the ticket in any thread, without the broker's lock, then give it to `end_flush` under it.
        """
        changes = self._changes()
        if len(changes) == 0:
            return None
        self._changed.clear()
        self._changed_groups.clear()
        everything = self._everything() if self._journal is not None and self._journal.overgrown else None
        return FlushTicket(changes, everything, self._table, self._journal)

    def end_flush(self, ticket: FlushTicket) -> None:
        """Take note of what a ticket has done. Raises as `flush` does."""
        if isinstance(ticket.error, DamagedTable):
            self._table.close()
            aside = quarantine(self._path)
            self._table = OffsetTable(self._path, durable=self._durable)
            self._table.write(self._everything())
            self.damage = f"{self._path} was damaged: it is kept as {aside}, and nothing was lost"
        elif ticket.error is not None:
            self._changed.update((row.group, row.topic, row.partition) for row in ticket.changes.offsets)
            self._changed_groups.update(row.group for row in ticket.changes.groups)
            raise ticket.error

    def close(self) -> None:
        """Flush and close."""
        self.flush()
        self._table.close()
        if self._journal is not None:
            self._journal.close()

    def _open(self) -> OffsetTable:
        table: OffsetTable | None = None
        lost = self._journal is not None and self._journal.exists() and not Path(self._path).exists()
        try:
            table = OffsetTable(self._path, durable=self._durable)
            self._apply(table.read())
        except DamagedTable:
            if table is not None:
                table.close()
            table = self._rebuild(quarantine(self._path))
        else:
            if lost:
                self._replay(self._journal)
                table.write(self._everything())
                self.damage = f"{self._path} was missing: it is rebuilt from its journal"
        if self._journal is not None:
            self._journal.rewrite(self._everything())
        return table

    def _rebuild(self, aside: str) -> OffsetTable:
        """A new file, from what can be read of the old one and, on top of it, from the journal."""
        found = salvage(aside)
        self._apply(found)
        replayed = self._replay(self._journal)
        source = "its journal" if replayed else f"{len(found.offsets)} offsets that could still be read"
        self.damage = f"{self._path} was damaged: it is kept as {aside}, and a new one is rebuilt from {source}"
        table = OffsetTable(self._path, durable=self._durable)
        table.write(self._everything())
        return table

    def _replay(self, journal: OffsetJournal | None) -> bool:
        """Apply the journal; False where there is none. Its first frame is everything there was."""
        whole = False
        if journal is not None and journal.exists():
            for changes in journal.read():
                if not whole:
                    self._offsets.clear()
                    self._readers.clear()
                    self._numbers.clear()
                whole = True
                self._apply(changes)
        return whole

    def _apply(self, changes: Changes) -> None:
        for row in changes.offsets:
            if row.offset is None:
                self._drop(row.group, row.topic, row.partition)
            else:
                value = OffsetAndMetadata(row.offset, row.metadata, row.leader_epoch)
                self._put(row.group, row.topic, row.partition, value)
        for each in changes.groups:
            if each.generation is None:
                self._numbers.pop(each.group, None)
            else:
                self._numbers[each.group] = GroupNumbers(each.generation, each.members)

    def _put(self, group: str, topic: str, partition: int, value: OffsetAndMetadata) -> None:
        committed = self._offsets.setdefault(group, {})
        if (topic, partition) not in committed:
            partitions = self._readers.setdefault(topic, {})
            partitions[group] = partitions.get(group, 0) + 1
        committed[topic, partition] = value

    def _drop(self, group: str, topic: str, partition: int) -> bool:
        committed = self._offsets.get(group, {})
        if committed.pop((topic, partition), None) is None:
            return False
        if not committed:
            del self._offsets[group]
        partitions = self._readers[topic]
        partitions[group] -= 1
        if not partitions[group]:
            del partitions[group]
        return True

    def _changes(self) -> Changes:
        # Sorted, so that the journal's bytes are the same in the same run.
        return Changes(
            [self._row(*key) for key in sorted(self._changed)],
            [self._group_row(group) for group in sorted(self._changed_groups)],
        )

    def _everything(self) -> Changes:
        return Changes(
            [self._row(group, *key) for group, committed in self._offsets.items() for key in committed],
            [self._group_row(group) for group in self._numbers],
        )

    def _row(self, group: str, topic: str, partition: int) -> OffsetRow:
        value = self.fetch(group, topic, partition)
        if value is None:
            return OffsetRow(group, topic, partition, None)
        return OffsetRow(group, topic, partition, value.offset, value.metadata, value.leader_epoch)

    def _group_row(self, group: str) -> GroupRow:
        numbers = self._numbers.get(group)
        return GroupRow(group, None) if numbers is None else GroupRow(group, numbers.generation, numbers.members)
