"""A tap on the bytes that go to a cluster, and everything that can be asked of one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from broker_core.errors import BrokerError
from broker_core.observation.guard import WRITES
from broker_core.observation.kafka.connection import BrokerConnection
from broker_core.operations.observe import WaitUntil
from tests.broker_core.operations.test_absurd_requests import OF_BROKER, RIGHT, made

WRITING = {api.key for apis in WRITES.values() for api in apis.values()}


def tap(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The API key of each request on its way to the socket, from now on."""
    keys: list[int] = []
    connected = BrokerConnection._connected

    class Tap:
        def __init__(self, inner: Any) -> None:
            self._inner = inner

        def sendall(self, frame: Any) -> None:
            keys.append(int.from_bytes(bytes(frame[4:6]), "big"))
            self._inner.sendall(frame)

        def __getattr__(self, name: str) -> Any:
            return getattr(self._inner, name)

    monkeypatch.setattr(BrokerConnection, "_connected", lambda *place: Tap(connected(*place)))
    return keys


def ask_everything(ask: Callable[[Any], Any]) -> Counter[bool]:
    """Each request of the catalogue; how many were answered, and how many refused. None of them waits."""
    asked = Counter[bool]()
    for entry in OF_BROKER:
        if entry.request is WaitUntil:
            continue
        fields = msgspec.structs.fields(entry.request)
        name = next((field.name for field in fields if field.required), "")
        try:
            ask(made(entry.request, name, RIGHT[name]) if name else entry.request())
        except BrokerError:
            asked[False] += 1
        else:
            asked[True] += 1
    return asked
