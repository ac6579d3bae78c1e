from __future__ import annotations

from collections import Counter

import msgspec

from broker_core.broker import browsing
from broker_core.broker.broker import Broker, Handlers
from broker_core.errors import BrokerError
from broker_core.limits import MAX_FETCH_BYTES
from broker_core.log.partition_log import PartitionLog
from broker_core.operations import browse
from broker_core.queues.states import LeaseState
from broker_core.snapshots import DeadLetterView, LeaseView

_LETTERS = 100  # of one answer
_SPANS = 1_000
_KEYS = 5_000  # read for one answer, and one batch more
_WORDS = {LeaseState.ACQUIRED: "In flight", LeaseState.DELAYED: "Delayed"}


def _names(broker: Broker) -> list[str]:
    queues = [broker.queues.queue(name) for name in broker.queues.names()]
    # A subscription has no log of its own: it reads that of its topic.
    logs = [queue.name for queue in queues if queue.levels.tables[0].log.topic == queue.name]
    return list(dict.fromkeys((*broker.topics.names(), *logs, *(queue.dead_letters.name for queue in queues))))


def _describe_logs(broker: Broker, _now_ns: int, request: browse.DescribeLogs, _client: str) -> browse.PartitionStates:
    places = [(name, number) for name in _names(broker) for number in range(broker.logs.partition_count(name))]
    end = request.first + request.most
    found = [_state(broker.logs.partition(*place)) for place in places[request.first : end]]
    return browse.PartitionStates(partitions=found, more=end < len(places))


def _state(log: PartitionLog) -> browse.PartitionState:
    return browse.PartitionState(
        topic=log.topic,
        partition=log.partition,
        start_offset=log.start_offset,
        end_offset=log.end_offset,
        size_bytes=log.size_bytes,
        segments=tuple(each.view() for each in log.segments),
        lost=tuple((one.start_offset, one.end_offset, one.cause) for one in log.lost),
        read_only=log.read_only,
        compacted_to=log.compacted_to,
        config=log.config,
        notes=log.recovery.notes,
    )


def _find_offsets(broker: Broker, _now_ns: int, request: browse.FindOffsets, _client: str) -> list[browse.Bounds]:
    topic, number = request.topic, request.partition
    numbers = range(broker.logs.partition_count(topic)) if number is None else (number,)
    return [browsing.offsets_of(broker.logs.partition(topic, number), request) for number in numbers]


def _browse_messages(broker: Broker, _now_ns: int, request: browse.BrowseMessages, _client: str) -> browse.MergeStep:
    logs = {number: broker.logs.partition(request.topic, number) for number in request.cursors}
    return browsing.step(logs, request, browsing.asked_test(request.filter), broker.schemas.registry)


def _describe_message(broker: Broker, _now_ns: int, request: browse.DescribeMessage, _client: str) -> browse.Present:
    held = []
    for name in broker.queues.names():
        for table in broker.queues.queue(name).levels.tables:
            if (table.log.topic, table.log.partition) != (request.topic, request.partition):
                continue
            span = table.index.get(request.offset)
            if span is not None:
                held.append(
                    browse.Held(
                        queue=name,
                        state=_WORDS.get(span.state, "Ready"),
                        holder=span.lease.holder,
                        attempt=span.lease.attempts,
                        until_ns=span.lease.deadline_ns,
                    )
                )
            elif request.offset >= table.next_offset:
                held.append(browse.Held(queue=name, state="Ready"))
    try:
        message = broker.logs.partition(request.topic, request.partition).message(request.offset)
        readable = None if message.value is None else broker.schemas.registry.readable(message.value)
    except BrokerError as error:
        return browse.Present(held=tuple(held), why=str(error))
    return browse.Present(message=message, held=tuple(held), readable=readable)


def _count_keys(broker: Broker, _now_ns: int, request: browse.CountKeys, _client: str) -> list[browse.BatchKeys]:
    log = broker.logs.partition(request.topic, request.partition)
    found: list[browse.BatchKeys] = []
    left = _KEYS
    for first, count in request.batches:
        keys = None
        if first >= log.start_offset:
            if first + count > log.high_watermark:
                continue
            if left <= 0:
                break
            left -= count
            stored = log.read(first, max_messages=count, max_bytes=MAX_FETCH_BYTES, end_offset=first + count)
            keys = list(Counter(message.key for message in stored).items()) if len(stored) == count else None
        found.append(browse.BatchKeys(first=first, keys=keys))
    return found


def _list_leases(broker: Broker, _now_ns: int, request: browse.ListLeases, _client: str) -> browse.LeasesPage:
    queue = broker.queues.queue(request.queue)
    found: list[LeaseView] = []
    left, level, offset = _SPANS, request.level, request.offset
    tables = queue.levels.tables
    while level < len(tables):
        table = tables[level]
        offset = max(offset, table.first_open_offset)
        while offset < table.next_offset:
            if not left:
                return browse.LeasesPage(leases=tuple(found), level=level, offset=offset)
            left -= 1
            span = table.index.get(offset)
            if span is not None and span.state is LeaseState.ACQUIRED:
                found.append(queue.lease_view(table, offset, span))
            offset += 1
        level, offset = level + 1, 0
    return browse.LeasesPage(leases=tuple(found), level=-1, offset=-1)


def _read_dead_letters(
    broker: Broker, _now_ns: int, request: browse.ReadDeadLetters, _client: str
) -> browse.DeadLetterPage:
    dead_letters = broker.queues.dead_letters(request.queue)
    found: list[DeadLetterView] = []
    sizes: dict[int, int] = {}
    looked, left_bytes = 0, MAX_FETCH_BYTES
    for offset in request.offsets[:_LETTERS]:
        if left_bytes <= 0:
            break
        looked += 1
        try:
            letter = dead_letters.get(offset)
        except BrokerError:
            continue  # redriven, purged or damaged since
        left_bytes -= len(letter.value or b"")
        if letter.value is not None and request.most_bytes is not None and len(letter.value) > request.most_bytes:
            sizes[offset] = len(letter.value)
            letter = msgspec.structs.replace(letter, value=letter.value[: request.most_bytes])
        found.append(letter)
    return browse.DeadLetterPage(letters=tuple(found), looked=looked, sizes=sizes)


HANDLERS: Handlers = {
    browse.ListLogs: lambda b, now_ns, r, _client: [
        browse.LogName(name=name, partitions=b.logs.partition_count(name)) for name in _names(b)
    ],
    browse.DescribeLogs: _describe_logs,
    browse.FindOffsets: _find_offsets,
    browse.BrowsePartition: lambda b, now_ns, r, _client: browsing.page(
        b.logs.partition(r.topic, r.partition), r.first, r.end, b.schemas.registry
    ),
    browse.BrowseMessages: _browse_messages,
    browse.DescribeMessage: _describe_message,
    browse.CountKeys: _count_keys,
    browse.ListLeases: _list_leases,
    browse.ListDeadOffsets: lambda b, now_ns, r, _client: [*b.queues.dead_letters(r.queue).offsets(r.queue)],
    browse.ReadDeadLetters: _read_dead_letters,
}
