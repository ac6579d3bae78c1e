from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain
from typing import TypeVar

from broker_core.broker.logs import Logs, Topic
from broker_core.errors import BrokerError, ErrorCode
from broker_core.files import FileSystem
from broker_core.log.group_commit import GroupCommit, Round
from broker_core.log.partition_log import PartitionLog
from broker_core.log.topic_log import TopicLog
from broker_core.queues.journal import Journal
from broker_core.replies import Reply, all_done
from broker_core.transactions.transaction import StateLog

T = TypeVar("T")


class Durability:
    """`syncs` holds the replies that wait for a sync; `journal` is shared by all queues, `states` by transactions.

    `on_corrupt(now_ns, sentence)` is told what is wrong in the journal.
    """

    def __init__(self, files: FileSystem, logs: Logs, on_corrupt: Callable[[int, str], object]) -> None:
        self.syncs = GroupCommit()
        self.journal = Journal(files, self.syncs, logs.config, logs.epoch_ms, on_corrupt)
        self.states = StateLog(files, self.syncs, logs.config, logs.epoch_ms)
        self._logs = logs
        logs.on_removed(self._forget)

    def all_logs(self) -> Iterable[PartitionLog]:
        return chain(self._logs.partitions(), self.journal.logs, self.states.logs)

    def journal_of(self, log: TopicLog) -> Journal | None:
        """The journal for a queue that reads `log`; None for a queue that is kept in memory."""
        return None if "memory" in {self._logs.config.durability, log.config.durability} else self.journal

    def settle(
        self, now_ns: int, log: PartitionLog, end_offset: int, reply: Reply[T], result: Callable[[int], T]
    ) -> None:
        """Resolve `reply` with `result(time)` once everything below `end_offset` is as durable as the log promises."""
        if log.high_watermark >= end_offset:
            reply.resolve(result(now_ns))
        else:
            self.settle_all(now_ns, [(log, end_offset)], reply, result)

    def settle_all(
        self, now_ns: int, ends: Iterable[tuple[PartitionLog, int]], reply: Reply[T], result: Callable[[int], T]
    ) -> None:
        """Resolve `reply` when each log is durable up to its end offset; fail it if a sync fails."""
        waits = [self.syncs.durable(log, end_offset) for log, end_offset in ends]

        def synced(_all: Reply[None]) -> None:
            failed = next((each.error for each in waits if each.error is not None), None)
            if failed is not None:
                reply.fail(failed)
            else:
                reply.resolve(result(max(now_ns, self.syncs.synced_ns)))

        all_done(waits).then(synced)

    def end_sync(self, now_ns: int, done: Round) -> None:
        """`done` is a round of `syncs` whose tickets have run: resolve the replies, and serve the readers."""
        self.syncs.synced_ns = now_ns
        for log in self.syncs.end(done):
            # Dead letters and redrives have no reply; they are readable now too.
            topic = self._logs.get(log.topic)
            if topic is not None and topic.queue is not None:
                topic.queue.appended(now_ns)

    def note_unsynced(self) -> None:
        """Include appends without a waiting reply in the next round; called once in every tick."""
        self.syncs.note(self.all_logs())

    def close(self) -> None:
        self.states.close()
        self.journal.close()

    def _forget(self, topic: Topic) -> None:
        gone = BrokerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"{topic.name} was deleted")
        for log in topic.log.partitions:
            self.syncs.forget(log, gone)
