"""Effectively once: the effect of a message and the offset behind it are committed together, or neither is.

The application keeps the offsets where it keeps its effects. Whatever dies between reading and committing, the next
reader begins at the offset that was committed with the last effect; and a reader that lost its partition to another
without knowing finds, inside the same transaction, that its message has been dealt with.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator, Sequence

from broker_core.clients.group_consumer import GroupConsumer
from broker_core.groups.protocol import TopicPartition
from broker_core.messages import StoredMessage
from broker_core.settings import checked, checked_class

_SCHEMA = """
CREATE TABLE IF NOT EXISTS brokerscope_offsets (
    grp TEXT NOT NULL, topic TEXT NOT NULL, partition INTEGER NOT NULL, next_offset INTEGER NOT NULL,
    PRIMARY KEY (grp, topic, partition)) WITHOUT ROWID
"""
_FETCH = "SELECT next_offset FROM brokerscope_offsets WHERE grp = ? AND topic = ? AND partition = ?"
_STORE = "INSERT OR REPLACE INTO brokerscope_offsets VALUES (?, ?, ?, ?)"


@checked_class()
class SqliteEffects:
    """Offsets of `group` beside the effects in the application's own database. One thread at a time.

    with effects.applying(message) as fresh:
        if fresh:
            connection.execute("UPDATE accounts ...")
    """

    def __init__(self, connection: sqlite3.Connection, group: str) -> None:
        self._connection = connection
        self._group = group
        connection.execute(_SCHEMA)
        connection.commit()

    def offset(self, topic: str, partition: int) -> int | None:
        """The offset behind the last message whose effect is there; None where there is none."""
        row = self._connection.execute(_FETCH, (self._group, topic, partition)).fetchone()
        return None if row is None else int(row[0])

    @contextlib.contextmanager
    def applying(self, message: StoredMessage) -> Iterator[bool]:
        """One transaction around the effect of `message`; False where that is there already, and is not to be made.

        Committed at the end, with the offset; an error undoes both and is raised.
        """
        connection = self._connection
        connection.execute("BEGIN IMMEDIATE")
        try:
            stored = self.offset(message.topic, message.partition)
            fresh = stored is None or message.offset >= stored
            yield fresh
            if fresh:
                connection.execute(_STORE, (self._group, message.topic, message.partition, message.offset + 1))
        except BaseException:
            connection.rollback()
            raise
        connection.commit()

    def resume(self, consumer: GroupConsumer, partitions: Sequence[TopicPartition]) -> None:
        """Read each of `partitions` from behind its last effect: what `on_assigned` has to do."""
        resume_from(consumer, partitions, self.offset)


@checked
def resume_from(
    consumer: GroupConsumer, partitions: Sequence[TopicPartition], offset: Callable[[str, int], int | None]
) -> None:
    """Seek to where an offset store of the application's own says; where it says None, the position stays."""
    for topic, partition in partitions:
        found = offset(topic, partition)
        if found is not None:
            consumer.seek(topic, partition, found)
