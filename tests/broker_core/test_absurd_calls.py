"""Absurd arguments, one at a time, to every public method: a sentence or a result, and the broker lives on.

A TypeError of Python's own is an answer only where the argument's type is wrong. Hooks that the program itself calls,
and what takes a coroutine or an action for the inside of the host, are no methods for users.
"""

from __future__ import annotations

import contextlib
import inspect
import itertools
import math
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_type_hints

import pytest

import broker_core
from broker_core import BrokerError, Producer
from broker_core.kinds import kind_of
from broker_core.listeners.access.access import Access
from broker_core.listeners.http.listener import HttpListener
from broker_core.listeners.kafka.listener import KafkaListener
from tests.broker_core.absurd_context import MADE, RIGHT, RIGHT_FOR, BrokerFixture
from tests.broker_core.test_public_api import LOADED_LATE
from tests.long_form import both, on

ABSURD: dict[str, Any] = {
    "None": None,
    "NaN": math.nan,
    "infinity": math.inf,
    "-1": -1,
    "0": 0,
    "2**70": 1 << 70,
    "-2**70": -(1 << 70),
    "1e300": 1e300,
    "1.5": 1.5,
    "True": True,
    "no text": "",
    "NUL": "\0",
    "long text": "x" * 100_000,
    "surrogate": "\ud800",
    "..": "..",
    "no bytes": b"",
    "bytes": b"\xff\x00",
    "list": [],
    "list of None": [None],
    "dict": {},
    "dict of None": {None: None},
    "object": object(),
}
if not on:
    ABSURD = {
        name: ABSURD[name]
        for name in ("None", "NaN", "-1", "2**70", "1.5", "no text", "surrogate", "list of None", "object")
    }
HANG_S = 30.0


CLASSES: dict[str, type] = {
    **{name: found for name in broker_core.__all__ if isinstance(found := getattr(broker_core, name), type)},
    "Access": Access,
    "HttpListener": HttpListener,
    "KafkaListener": KafkaListener,
}
# What the broker hands out, or what a user writes: nobody makes one to call it.
HANDED_OUT = {
    "Passage",
    "AvroSchema",
    "Closable",
    "Connection",
    "Connections",
    "GuardConfig",
    "Host",
    "JsonSchema",
    "Middleware",
    "Reply",
    "Rule",
    "Serializer",
}
# What the program calls itself.
INSIDE = {
    *((name, hook) for name in CLASSES for hook in ("before_publish", "before_deliver", "publish_failed")),
    *(("BrokerHost", each) for each in ("call", "admin", "locked", "start", "run", "wait", "waking", "unregister")),
    *(("Chain", each) for each in ("outgoing", "failed", "incoming", "incoming_many")),
    ("HttpListener", "in_loop"),
    *(("KafkaListener", each) for each in ("in_loop", "in_worker", "later")),
    ("Refused", "of"),
    ("SchemaRegistry", "restore"),
}
# Waiting for ever, or for a century, is what these ask for where nothing comes.
WAITS = {("timeout_s", "None"), ("timeout_s", "1e300")}


def _methods() -> Iterator[tuple[str, str]]:
    for name, kind in CLASSES.items():
        if issubclass(kind, BaseException) or hasattr(kind, "__members__") or name in HANDED_OUT:
            continue
        if not hasattr(kind, "__struct_fields__") and inspect.isfunction(vars(kind).get("__init__")):
            yield name, "__init__"
        for method in dir(kind):
            public = not method.startswith("_") and callable(getattr(kind, method)) and (name, method) not in INSIDE
            if public and _parameters(name, method):
                yield name, method


def _parameters(name: str, method: str) -> dict[str, inspect.Parameter]:
    found = dict(inspect.signature(getattr(CLASSES[name], method)).parameters)
    found.pop("self", None)
    if (name, method) == ("Producer", "publish"):
        fields = _parameters(name, "send")
        found |= {each: fields[each] for each in ("headers", "ttl_ms", "priority", "partition")}
    return {each: found[each] for each in found if found[each].kind is not inspect.Parameter.VAR_KEYWORD}


def _call(fixture: BrokerFixture, name: str, method: str, parameter: str, value: Any) -> None:
    needed = {}
    own = CLASSES[name]
    for each, known in _parameters(name, method).items():
        called = name if method == "__init__" else method
        right = RIGHT_FOR.get((called, each)) or RIGHT.get(each)
        if each != parameter and known.default is inspect.Parameter.empty:
            assert right is not None, f"{name}.{method} needs {each}"
            needed[each] = right(fixture)
    needed[parameter] = value
    if method == "__init__":
        made = own(**needed)
        close = getattr(made, "close", None)
        if close is not None and name not in {"HttpListener", "KafkaListener"}:
            close()
        return
    made = MADE[name](fixture) if name in MADE else own()
    result = getattr(made, method)(**needed)
    if isinstance(result, contextlib.AbstractContextManager) and hasattr(result, "gen"):
        with result:
            pass


def _told(fixture: BrokerFixture, name: str, method: str, parameter: str, value: Any) -> tuple[str, bool]:
    """What is wrong with what it raised, "" where nothing is; and whether it was refused."""
    failed: list[BaseException] = []

    def run() -> None:
        try:
            _call(fixture, name, method, parameter, value)
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(HANG_S)
    if thread.is_alive():
        return "hangs", False
    if not failed:
        return "", False
    error = failed[0]
    if isinstance(error, BrokerError):
        text = str(error)
        return (f"tells: {text[:300]}" if len(text) > 1_200 or "fault of its own" in text else ""), True
    if isinstance(error, TypeError):
        hints = get_type_hints(_function(name, method, parameter), None, LOADED_LATE, include_extras=True)
        if parameter in hints and not kind_of(hints[parameter]).accepts(value):
            return "", True
    return f"raises {type(error).__name__}: {error}"[:200], False


def _function(name: str, method: str, parameter: str) -> Any:
    found = getattr(CLASSES[name], method)
    in_send = (name, method) == ("Producer", "publish") and parameter not in inspect.signature(found).parameters
    return inspect.unwrap(Producer.send if in_send else found)


@both
@pytest.mark.parametrize(("name", "method"), list(_methods()))
def test_an_absurd_argument_is_refused_in_a_sentence(
    name: str, method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")  # ".." is a directory, too
    told: dict[str, str] = {}
    fixture: BrokerFixture | None = None
    for parameter, (called, value) in itertools.product(_parameters(name, method), ABSURD.items()):
        if (parameter, called) in WAITS:
            continue
        fixture = fixture or BrokerFixture()
        wrong, refused = _told(fixture, name, method, parameter, value)
        if wrong:
            told[f"{parameter}={called}"] = wrong
        if wrong == "hangs":
            fixture = None  # it cannot be closed either
        elif not refused or (name, method) == ("Delivery", "extend"):
            fixture.close()
            fixture = None
    if fixture is not None:
        assert fixture.host.call(lambda _now: fixture.host.broker.topics.names())
        fixture.close()
    assert not told, "\n".join(f"{name}.{method}({each}) {wrong}" for each, wrong in told.items())
