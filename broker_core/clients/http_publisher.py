"""A publisher over HTTP, which sends again what a full broker has refused."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from broker_core.clients.http_broker import HttpBroker
from broker_core.errors import BrokerError, ErrorCode
from broker_core.operations.messages import Placed, PublishBatch, PublishMessages, Record
from broker_core.operations.values import base64_of
from broker_core.plurals import counted
from broker_core.settings import TimeS, checked_class

_PATIENCE_S = 2.0  # a longer wait is told
_LONGEST_WAIT_S = 60.0  # of one request
_BATCH_MESSAGES = 5_000
_BATCH_BYTES = 1 << 20
_PAUSES_S = (0.1, 0.3, 1.0)  # before what was refused is sent again; the last one for ever


@checked_class()
class HttpPublisher:
    """Publishes to `topic`, a topic or a queue, one batch at a time, so that messages stay in order.

    A message waits for room up to `timeout_s`. With `at_once`, one for which a limit leaves no room is refused with
    THROTTLED. `on_placed` is called with what became of each message that was not refused;
    `on_wait()` once, at the first long wait; `on_created(partitions)` if the broker has made the topic.
    """

    def __init__(
        self,
        broker: HttpBroker,
        topic: str,
        *,
        client_id: str = "",
        timeout_s: TimeS = 120.0,
        at_once: bool = False,
        on_placed: Callable[[Placed], object] = lambda _placed: None,
        on_wait: Callable[..., object] = lambda: None,
        on_created: Callable[..., object] = lambda _partitions: None,
    ) -> None:
        self._broker, self._topic, self._client_id = broker, topic, client_id
        self._timeout_s, self._at_once = timeout_s, at_once
        self._on_placed, self._on_wait, self._on_created = on_placed, on_wait, on_created
        self._records: list[Record] = []
        self._bytes = 0
        self._has_waited = False

    def send(self, value: bytes, key: bytes | None = None, **fields: Any) -> None:
        """Add a message; `fields` are the `ttl_ms`, `priority` and `partition` of a `Record`. Raises as `flush`."""
        try:
            record = Record(value=value.decode(), key=None if key is None else key.decode(), **fields)
        except UnicodeDecodeError:
            record = Record(value=base64_of(value), key=base64_of(key), encoding="base64", **fields)
        self._records.append(record)
        self._bytes += len(key or b"") + len(value)
        if len(self._records) >= _BATCH_MESSAGES or self._bytes >= _BATCH_BYTES:
            self.flush()

    def flush(self) -> None:
        """Send what was added, and wait until all of it is stored. Raises why a message was not.

        The messages before that one are stored; those behind it may be, and are not sent again. REQUEST_TIMED_OUT is
        for those that got no room in time; an error with `possibly_stored`, for those of which no answer says what
        became of them.
        """
        left, self._records, self._bytes = self._records, [], 0
        count = len(left)  # sent at once
        began_s = time.monotonic()
        tries = 0
        while left:
            left_s = began_s + self._timeout_s - time.monotonic()
            try:
                refused = self._publish(left[:count], left_s)
            except BrokerError as error:
                final = {ErrorCode.CONNECTION_LOST, *([ErrorCode.THROTTLED] if self._at_once else [])}
                if error.code in final or not error.retriable or error.possibly_stored:
                    raise
            else:
                left, tries = refused + left[count:], 0
                # The first one that is refused says why when it is sent by itself.
                count = 1 if refused else len(left)
                continue
            if left_s <= 0:
                what = f"{counted(len(left), 'message')} for {self._topic}, after {self._timeout_s:g} s"
                raise BrokerError(ErrorCode.REQUEST_TIMED_OUT, f"{what}; it is withdrawn, and not stored")
            if not self._has_waited and time.monotonic() - began_s >= _PATIENCE_S:
                self._has_waited = True
                self._on_wait()
            time.sleep(min(_PAUSES_S[min(tries, len(_PAUSES_S) - 1)], max(0.0, left_s)))
            tries += 1

    def _publish(self, records: list[Record], left_s: float) -> list[Record]:
        """Publish `records`; returns those of several that were refused. Raises why one or all were refused."""
        wait_s = min(max(left_s, 0.001), _LONGEST_WAIT_S if self._has_waited else _PATIENCE_S)
        batch = PublishBatch(messages=records, producer_id=self._client_id, timeout_ms=max(1, round(wait_s * 1_000)))
        published = self._broker.ask(PublishMessages(topic=self._topic, batch=batch))
        if published.created_partitions:
            self._on_created(published.created_partitions)
        refused = []
        for sent, found in zip(records, published.messages, strict=True):
            if found.status in ErrorCode.__members__:
                refused.append(sent)
            else:
                self._on_placed(found)
        for found in published.messages:
            if found.possibly_stored is True:
                raise BrokerError(ErrorCode[found.status], f"a message for {self._topic}", possibly_stored=True)
        return refused
