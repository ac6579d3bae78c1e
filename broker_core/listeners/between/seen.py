"""What the ports show their observer of the traffic that they pass on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple, Protocol

from broker_core.listeners.connections import Connection
from broker_core.listeners.kafka.apis import APIS
from broker_core.messages import TopicPartition

API_NAMES: Final = {api.key: api.name for api in APIS}


class Seen(NamedTuple):
    """A request, or the answer to it, as it passed at `time_ns`; `answer` is decoded if that was needed anyway."""

    connection: Connection
    client: str
    api_key: int
    version: int
    correlation_id: int
    time_ns: int
    frame: bytes
    is_answer: bool
    answer: Any = None


class Observer(Protocol):
    """Sees the traffic that the ports pass on. `wants` is asked before a frame is kept for it; no method may wait."""

    def wants(self, api_key: int) -> bool: ...
    def put(self, seen: Seen) -> None: ...
    def gone(self, connection: Connection) -> None: ...
    def fetched_by(self, connection: Connection) -> Iterable[TopicPartition]: ...
