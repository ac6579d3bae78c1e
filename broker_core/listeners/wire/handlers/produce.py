"""Publishing: batches in, and what became of each."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from broker_core.broker.broker import Broker, Published
from broker_core.clock import NS_PER_MS
from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.access.access import Operation
from broker_core.listeners.wire.rows import Caller, How, Need, Row, Waiting, kind_of, nothing
from broker_core.replies import Reply
from broker_core.wire import produce as api
from broker_core.wire.batches import decode_messages
from broker_core.wire.body import Done

# Where nobody can say when there will be room again.
THROTTLE_MS = 100
MOST_THROTTLE_MS = 10_000
NOWHERE = -1


def init_producer(caller: Caller, request: api.InitProducer) -> api.ProducerIdentity:
    """An id that is kept before it is told."""
    given = caller.host.admin(lambda _now: caller.broker.producer_ids.register(request.name))
    return api.ProducerIdentity(*given)


class _Outcomes:
    """What becomes of the batches of one request; `whole` is there when it is known of all."""

    __slots__ = ("_caller", "_found", "_left", "_request", "whole")

    def __init__(self, caller: Caller, request: api.Produce) -> None:
        self._caller = caller
        self._request = request
        self._left = len(request.batches)
        self._found: list[Published | api.Produced | None] = [None] * self._left
        self.whole: Reply[None] = Reply()
        if not self._left:
            self.whole.resolve(None)

    def came(self, place: int, outcome: Published | api.Produced) -> None:
        """What became of the batch at `place`; the first word counts."""
        if self._found[place] is None:
            self._found[place] = outcome
            self._left -= 1
            if not self._left:
                self.whole.resolve(None)

    def stored(self, place: int, count: int, done: Reply[Published | None]) -> None:
        """The broker's word about `count` messages in the batch at `place`."""
        caller, batch, error = self._caller, self._request.batches[place], done.error
        if error is None:
            self.came(place, done.result() or Published(batch.topic, batch.partition, NOWHERE, (), count))
            return
        if not isinstance(error, BrokerError):
            error = BrokerError(ErrorCode.INTERNAL_ERROR, type(error).__name__)
        self.came(place, _refusal(caller.broker, caller.host.loop.now_ns, batch, count, error))

    def answer(self, _whole: None) -> api.ProduceReply:
        """For the wire."""
        return api.ProduceReply(self._caller.broker.revision, tuple(map(_produced, self._found)))


def produce(caller: Caller, request: api.Produce, now_ns: int) -> Waiting:
    """Every batch by itself: an error of one says nothing of the others."""
    outcomes = _Outcomes(caller, request)
    for place, batch in enumerate(request.batches):
        try:
            messages, stamp = decode_messages(batch.batch)
            caller.connection.messages_in += len(messages)
            reply = caller.appends.publish_batch(
                now_ns,
                batch.topic,
                batch.partition,
                messages,
                size_bytes=len(batch.batch),
                client=request.client,
                producer=stamp,
                on_appended=None if request.acks == "all" else partial(outcomes.came, place),
                deadline_ns=now_ns + request.timeout_ms * NS_PER_MS,
            )
        except BrokerError as error:
            caller.appends.flush(now_ns)  # what came before is answered before
            outcomes.came(place, _refusal(caller.broker, now_ns, batch, 0, error))
            continue
        if not reply.done:
            caller.producers.add(request.client)
        reply.then(partial(outcomes.stored, place, len(messages)))
        if request.acks == 0:
            outcomes.came(place, Published(batch.topic, batch.partition, NOWHERE, (), len(messages)))
    return Waiting(outcomes.whole, outcomes.answer)


def _refusal(broker: Broker, now_ns: int, batch: api.ProducedBatch, count: int, error: BrokerError) -> api.Produced:
    throttle_ms = throttle_of(broker, now_ns, batch.topic, count) if error.code is ErrorCode.THROTTLED else 0
    return api.Produced(batch.topic, batch.partition, NOWHERE, count, (), error.code.code, error.about, throttle_ms)


def throttle_of(broker: Broker, now_ns: int, name: str, count: int) -> int:
    """How long a producer that was refused should wait, in ms; from the rate limit, where there is one."""
    try:
        gate = broker.topic_view(now_ns, name).gate
    except BrokerError:
        return 0
    if gate is None or gate.tokens is None or not gate.rate_limit_per_s:
        return THROTTLE_MS
    missing = max(0.0, count - gate.tokens)
    return min(MOST_THROTTLE_MS, math.ceil(missing / gate.rate_limit_per_s * 1_000)) or THROTTLE_MS


def _produced(outcome: Any) -> api.Produced:
    if isinstance(outcome, api.Produced):
        return outcome
    found: Published = outcome
    return api.Produced(found.topic, found.partition, found.offset, found.count, found.missed_by)


def leave(caller: Caller, request: api.LeaveProducer, now_ns: int) -> Done:
    """See `Broker.disconnect`; for who has published by this connection."""
    if request.client in caller.producers:
        caller.producers.discard(request.client)
        caller.broker.disconnect(now_ns, request.client)
    return Done()


def _topics(broker: Broker, request: api.Produce) -> list[Need]:
    names = {batch.topic for batch in request.batches}
    return [(Operation.WRITE, kind_of(broker, name), name) for name in names]


ROWS = (
    Row(api.InitProducer, How.SLOW, nothing, init_producer),
    Row(api.Produce, How.WAITS, _topics, produce, appends=True),
    Row(api.LeaveProducer, How.AT_ONCE, nothing, leave),
)
