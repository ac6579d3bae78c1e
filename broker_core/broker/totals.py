"""What topics and queues have counted, as one value."""

from __future__ import annotations

from collections.abc import Iterable

from broker_core.broker.logs import Topic
from broker_core.queues.queue import Queue
from broker_core.snapshots import Totals


def totals_of(topics: Iterable[Topic], queues: Iterable[Queue]) -> Totals:
    """Counted where it happens, not from the event stream, so that the two can be compared. Without groups."""
    topics, queues = tuple(topics), tuple(queues)
    gates = [topic.gate.counts for topic in topics if topic.gate is not None]
    counts = [queue.counts for queue in queues]
    return Totals(
        published=sum(topic.published for topic in topics),
        delivered=sum(each.delivered for each in counts),
        acknowledged=sum(each.acknowledged for each in counts),
        redelivered=sum(each.redelivered for each in counts),
        dead_lettered=sum(each.dead_lettered for each in counts) + sum(topic.dead_lettered for topic in topics),
        redriven=sum(queue.dead_letters.redriven(queue.name) for queue in queues)
        + sum(topic.dead_letters.redriven() for topic in topics if topic.dead_letters is not None),
        rejected=sum(each.rejected for each in gates) + sum(topic.refused for topic in topics),
        dropped=sum(each.dropped for each in gates),
        expired=sum(each.expired for each in counts),
        evicted=sum(each.evicted for each in counts),
        purged=sum(each.purged for each in counts),
    )
