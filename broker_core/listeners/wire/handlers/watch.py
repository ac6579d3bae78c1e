"""Looking on."""

from __future__ import annotations

from broker_core.listeners.access.access import Operation
from broker_core.listeners.wire.rows import Caller, How, Row, Waiting, of_broker
from broker_core.wire import watch as api
from broker_core.wire.topics import Names

MOST_EVENTS = 1_000


def tail(caller: Caller, request: api.TailEvents, now_ns: int) -> Waiting:
    """See `EventTail`."""
    tail = caller.tail
    start = tail.next_seq if request.from_seq < 0 else min(request.from_seq, tail.next_seq)
    wait_ms = min(request.wait_ms, caller.limits.max_wait_ms)
    reply = tail.wait(now_ns, start, wait_ms)

    def answer(_nothing: None) -> api.Events:
        return caller.host.call(lambda _now: api.Events(*tail.read(start, min(request.max_events, MOST_EVENTS))))

    return Waiting(reply, answer, parked=True, cancel=lambda: tail.cancel(reply))


def metrics(caller: Caller, _request: api.Metrics, now_ns: int) -> api.MetricsReply:
    """The figures of the broker as a whole."""
    broker = caller.broker
    return api.MetricsReply(
        now_ns,
        broker.totals(),
        len(broker.topic_names()),
        len(broker.queue_names()),
        len(broker.groups.groups()),
        caller.connections.count(),
    )


def slow_readers(caller: Caller, request: api.SlowReaders, now_ns: int) -> api.SlowReadersReply:
    """See `Broker.slow_readers`."""
    return api.SlowReadersReply(caller.broker.slow_readers(now_ns, request.max_lag, request.max_lag_ns))


def damage(caller: Caller, _request: api.ListDamage, _now_ns: int) -> Names:
    """The oldest first."""
    return Names(tuple(caller.broker.damage.sentences))


ROWS = (
    Row(api.TailEvents, How.WAITS, of_broker(Operation.READ), tail),
    Row(api.Metrics, How.AT_ONCE, of_broker(Operation.READ), metrics),
    Row(api.SlowReaders, How.AT_ONCE, of_broker(Operation.READ), slow_readers),
    Row(api.ListDamage, How.AT_ONCE, of_broker(Operation.READ), damage),
)
