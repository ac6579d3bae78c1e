"""Reading by groups, and by nobody in particular."""

from __future__ import annotations

from broker_core.broker.broker import Broker
from broker_core.clock import NS_PER_MS
from broker_core.errors import BrokerError, ErrorCode
from broker_core.limits import MAX_PARTITION_FETCH_BYTES
from broker_core.listeners.access.access import Operation
from broker_core.listeners.wire.rows import Caller, How, Need, Row, Waiting, kind_of, of_log
from broker_core.messages import StoredMessage
from broker_core.wire import fetch as api
from broker_core.wire.body import Done

MOST_MESSAGES = 10_000


def fetch(caller: Caller, request: api.Fetch, now_ns: int) -> Waiting:
    """See `Broker.fetch`."""
    broker = caller.broker
    positions = {(topic, partition): offset for topic, partition, offset in request.positions}
    wait_ms = min(request.wait_ms, caller.limits.max_wait_ms)
    reply = broker.fetch(
        now_ns,
        request.group,
        request.client,
        positions,
        max_messages=min(request.max_messages, MOST_MESSAGES),
        deadline_ns=now_ns + wait_ms * NS_PER_MS,
    )

    def answer(messages: list[StoredMessage]) -> api.Messages:
        caller.connection.messages_out += len(messages)
        return api.Messages.of(messages)

    return Waiting(reply, answer, parked=True, cancel=lambda: broker.cancel_fetch(reply))


def read(caller: Caller, request: api.ReadRecords, _now_ns: int) -> api.Messages:
    """From the first offset that is still there, where an earlier one was asked for."""
    log = caller.broker.partition(request.topic, request.partition)
    offset = max(request.offset, log.start_offset)
    found = log.read(offset, max_messages=min(request.max_messages, MOST_MESSAGES), max_bytes=MAX_PARTITION_FETCH_BYTES)
    caller.connection.messages_out += len(found)
    return api.Messages.of(found)


def begin(caller: Caller, request: api.BeginReading, _now_ns: int) -> Done:
    """See `Fetches.begin`."""
    caller.broker.partition(request.topic, request.partition)
    caller.broker.fetches.begin(request.group, request.topic, request.partition, request.offset)
    return Done()


def starting_offset(caller: Caller, request: api.StartingOffset, _now_ns: int) -> api.Offset:
    """See `Broker.starting_offset`."""
    return api.Offset(caller.broker.starting_offset(request.group, request.topic, request.partition, request.reset))


def _group_and_topics(broker: Broker, request: api.Fetch) -> list[Need]:
    if len(request.positions) > MOST_POSITIONS:
        raise BrokerError(
            ErrorCode.INVALID_REQUEST, f"{len(request.positions)} partitions; fetch {MOST_POSITIONS} at a time"
        )
    names = {topic for topic, _, _ in request.positions}
    needs: list[Need] = [(Operation.READ, kind_of(broker, name), name) for name in names]
    return [(Operation.READ, "group", request.group), *needs]


def _group_and_topic(broker: Broker, request: api.BeginReading | api.StartingOffset) -> list[Need]:
    return [
        (Operation.READ, "group", request.group),
        (Operation.READ, kind_of(broker, request.topic), request.topic),
    ]


MOST_POSITIONS = 10_000

ROWS = (
    Row(api.Fetch, How.WAITS, _group_and_topics, fetch),
    Row(api.ReadRecords, How.AT_ONCE, of_log(Operation.READ, "topic"), read),
    Row(api.BeginReading, How.AT_ONCE, _group_and_topic, begin),
    Row(api.StartingOffset, How.AT_ONCE, _group_and_topic, starting_offset),
)
