"""Fetches and takes from afar: they wait at the broker, through lost connections too, until their deadline."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from broker_core.clients.remote.calls import Call
from broker_core.clients.remote.link import Link
from broker_core.clock import NS_PER_S
from broker_core.engine.loop import Loop
from broker_core.errors import BrokerError, ErrorCode
from broker_core.groups.protocol import TopicPartition
from broker_core.messages import StoredMessage
from broker_core.queues.lease import Lease
from broker_core.replies import Reply
from broker_core.wire.body import Body
from broker_core.wire.fetch import Fetch, Messages, ReadRecords
from broker_core.wire.queues import Take

_MARGIN_S = 10.0  # for the answer, after the wait is over
_LEAST_S = 0.02  # less is not waited for anew
_AWAY = frozenset({ErrorCode.CONNECTION_LOST, ErrorCode.REQUEST_TIMED_OUT})


class RemotePartition:
    """What clients do with `Broker.partition(topic, partition)`: look at its messages, for nobody."""

    start_offset = 0  # the broker begins at the first one that is still there

    def __init__(self, link: Link, topic: str, partition: int, shift_ns: Callable[[], int]) -> None:
        self._link = link
        self._place = (topic, partition)
        self._shift_ns = shift_ns

    def read(self, offset: int, *, max_messages: int = 500) -> list[StoredMessage]:
        """At most `max_messages` from `offset` on. Waits."""
        body = ReadRecords(*self._place, offset, max_messages)
        return self._link.ask(body, Messages, repeat=True).stored(self._shift_ns())


class Reading:
    """Under the host's lock. `shift_ns()` is how much later the client's session times are than the broker's."""

    def __init__(self, link: Link, loop: Loop, shift_ns: Callable[[], int]) -> None:
        self._link = link
        self._loop = loop
        self._shift_ns = shift_ns
        self._calls: dict[Reply[Any], Call] = {}
        self.most_wait_s = 60.0  # at the broker, for one answer

    def fetch(
        self,
        group: str,
        client: str,
        positions: Mapping[TopicPartition, int],
        *,
        max_messages: int,
        deadline_ns: int,
    ) -> Reply[list[StoredMessage]]:
        """See `Broker.fetch`."""
        places = tuple((topic, partition, offset) for (topic, partition), offset in positions.items())
        reply: Reply[list[StoredMessage]] = Reply()
        if not places and deadline_ns <= self._loop.now_ns:
            reply.resolve([])
        else:
            body = Fetch(group, client, places, max_messages, 0)
            self._send(reply, body, deadline_ns, lambda answer: answer.stored(self._shift_ns()))
        return reply

    def take(
        self, queue: str, holder: str, *, max_messages: int, deadline_ns: int | None, weight: int
    ) -> Reply[list[Lease]]:
        """See `Queue.take`."""
        if max_messages < 1:
            raise BrokerError(ErrorCode.INVALID_REQUEST, f"max_messages is {max_messages}; it must be at least 1")
        reply: Reply[list[Lease]] = Reply()
        body = Take(queue, holder, max_messages, 0, weight)
        self._send(reply, body, deadline_ns, lambda answer: [self._shifted(lease) for lease in answer.leases])
        return reply

    def cancel(self, reply: Reply[list[Any]]) -> None:
        """It waits no longer: [] where nothing has come yet."""
        call = self._calls.pop(reply, None)
        if call is not None:
            self._link.abandon(call)
            reply.resolve([])

    def _send(
        self, reply: Reply[list[Any]], body: Body, deadline_ns: int | None, read: Callable[[Any], list[Any]]
    ) -> None:
        wait_s = 0.0 if deadline_ns is None else max(0.0, (deadline_ns - self._loop.now_ns) / NS_PER_S)
        self._wait(reply, body, time.monotonic() + wait_s, wait_s, read)

    def _wait(
        self, reply: Reply[list[Any]], body: Body, end_s: float, left_s: float, read: Callable[[Any], list[Any]]
    ) -> None:
        """Ask once, and where the broker waits no longer than this, again, until `end_s`."""
        wait_s = min(left_s, self.most_wait_s)
        until_s = time.monotonic() + wait_s
        body = msgspec.structs.replace(body, wait_ms=round(wait_s * 1_000))

        def done(answer: Any, error: BrokerError | None) -> None:
            self._calls.pop(reply, None)
            found = read(answer) if error is None else []
            now_s = time.monotonic()
            if error is not None and (error.code not in _AWAY or not left_s):
                reply.fail(error)
            elif found or now_s < until_s or end_s - now_s < _LEAST_S or self._link.leaving:
                # It has come, somebody has ended the wait, or the time is over.
                reply.resolve(found)
            else:
                self._wait(reply, body, end_s, end_s - now_s, read)

        call = self._link.post(body, done, repeat=True, wait_s=wait_s, timeout_s=_MARGIN_S)
        if not call.finished:
            self._calls[reply] = call

    def _shifted(self, lease: Lease) -> Lease:
        shift_ns = self._shift_ns()
        message = msgspec.structs.replace(lease.message, published_ns=lease.message.published_ns + shift_ns)
        return msgspec.structs.replace(lease, deadline_ns=lease.deadline_ns + shift_ns, message=message)
