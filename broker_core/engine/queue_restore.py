"""Queues after a start: their saved states, and what the journal says that has happened since."""

from __future__ import annotations

from broker_core.broker.broker import Broker
from broker_core.engine.data_directory import DataDirectory, KeptQueue
from broker_core.errors import BrokerError
from broker_core.queues.journal import unknown_to
from broker_core.queues.queue_state import QueueState


def restore_queues(now_ns: int, broker: Broker, directory: DataDirectory) -> None:
    """Restore all queues and dead letter queues of `broker`, whose logs are there; what is damaged is reported."""
    of_topics = broker.logs.dead_letters()
    states: dict[str, KeptQueue | None] = {}
    for name in (*broker.queues.names(), *of_topics):
        try:
            states[name] = directory.queue_state(name)
        except BrokerError as error:
            broker.corruption.add(now_ns, str(error))
    journal_offsets = {
        name: 0 if kept is None or kept.queue is None else kept.queue.journal_offset
        for name, kept in states.items()
        if name not in of_topics
    }
    entries = broker.durability.journal.entries(min(journal_offsets.values(), default=0))
    for name, kept in states.items():
        if kept is not None and kept.queue is not None:
            _report_lost(now_ns, broker, name, kept.queue)
            broker.queues.queue(name).restore(now_ns, kept.queue)
        if name in journal_offsets:
            broker.queues.queue(name).replay(now_ns, unknown_to(entries.get(name, []), journal_offsets[name]))
        if kept is not None:
            dead_letters = of_topics[name] if name in of_topics else broker.queues.dead_letters(name)
            dead_letters.restore(kept.dead_letters)


def _report_lost(now_ns: int, broker: Broker, queue: str, state: QueueState) -> None:
    logs = broker.queues.topic_of(queue).log.partitions
    for log, next_offset in zip(logs, state.next_offsets, strict=False):
        if next_offset > log.end_offset:
            sentence = f"the log ends at {log.end_offset}, but {queue} has delivered messages up to {next_offset}"
            broker.corruption.add(now_ns, f"{sentence}: the messages in between are lost", log.topic, log.partition)
