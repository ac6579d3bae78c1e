"""Effectively once: the effect of a message and its offset are committed in one transaction.

The application stores the offsets beside its effects. After a crash the next reader begins at the offset that was
committed with the last effect. A reader that lost its partition to another without noticing finds inside its own
transaction that the message has been processed.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator, Sequence

from broker_core.clients.group_consumer import GroupConsumer
from broker_core.messages import StoredMessage, TopicPartition
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
    """Offsets of `group` in the application's own SQLite database. One thread at a time may use it.

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
        """The next offset to process, None if no effect has been committed."""
        row = self._connection.execute(_FETCH, (self._group, topic, partition)).fetchone()
        return None if row is None else int(row[0])

    @contextlib.contextmanager
    def applying(self, message: StoredMessage) -> Iterator[bool]:
        """A transaction around the effect of `message`; False if the effect has been committed before.

        The transaction commits effect and offset at the end; an error rolls both back and is raised.
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
        """Seek each of `partitions` to the offset after its last effect. Call it in `on_assigned`."""
        resume_from(consumer, partitions, self.offset)


@checked
def resume_from(
    consumer: GroupConsumer, partitions: Sequence[TopicPartition], offset: Callable[[str, int], int | None]
) -> None:
    """Seek each partition to `offset(topic, partition)` of the application's store; None keeps the position."""
    for topic, partition in partitions:
        found = offset(topic, partition)
        if found is not None:
            consumer.seek(topic, partition, found)
