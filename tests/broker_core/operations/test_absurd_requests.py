"""Absurd values in the fields of requests, one at a time: a sentence or a result, and the broker lives on."""

from __future__ import annotations

import contextlib
import itertools
from typing import Any

import msgspec
import pytest

from broker_core.access import Acl, ClientQuota
from broker_core.errors import BrokerError, ConfigError
from broker_core.guarded.offsets import OffsetsPlan
from broker_core.guarded.redrive import Choice, RedrivePlan
from broker_core.operations.catalogue import CATALOGUE
from broker_core.operations.dead_letters import Edit
from broker_core.operations.entry import Entry
from broker_core.operations.groups import PartitionPlace
from broker_core.operations.guarded import RedriveTopic, SetOffsets
from broker_core.operations.observe import WaitUntil
from broker_core.operations.request import Input
from broker_core.operations.schemas import DiffSchemas, SchemaText
from broker_core.schemas.rule import SchemaRule
from tests.broker_core.absurd_context import TEXT, BrokerFixture
from tests.broker_core.test_absurd_calls import ABSURD
from tests.long_form import both

# What is right for a field that has no default, by its name.
RIGHT: dict[str, Any] = {
    "effect": "drop",
    "fault": "fault-1",
    "name": "new",
    "topic": "t",
    "queue": "q",
    "group": "g",
    "subject": "numbers",
    "partition": 0,
    "total": 3,
    "before": {"0": 1},
    "rule": SchemaRule(subject="numbers"),
    "form": "earliest",
    "mode": "FULL",
    "text": SchemaText(schema=TEXT),
    "version": 1,
    "schema": TEXT,
    "offset": 0,
    "by_ms": 1,
    "condition": "messages = 0",
    "client": "c",
    "unix_ms": 1 << 42,
    "first": 0,
    "end": 9,
    "cursors": {0: 0},
    "batches": [(0, 1)],
    "offsets": [0],
    "acls": (Acl("ann", "read", "topic", "t"),),
    "quota": ClientQuota("producer_byte_rate", 1.0, "ann"),
    "key": "producer_byte_rate",
    "user": "ann",
    "partitions": [PartitionPlace(topic="t")],
    "holder": "worker",
    "attempt": 1,
    "act": "ack",
    "plan": None,
}
PARTS: dict[str, type[Input]] = {"edits": Edit, "partitions": PartitionPlace}
OF_BROKER = [entry for entry in CATALOGUE if entry.served_by == "broker"]


def made(kind: type[Input], name: str, value: Any) -> Any:
    """`kind` with `value` in the field `name`, and what is right in the others."""
    fields = msgspec.structs.fields(kind)
    right = {field.name: RIGHT[field.name] for field in fields if field.required}
    if kind is RedriveTopic:
        right["plan"] = RedrivePlan(
            cluster="", choice=Choice(topic="t"), rate_per_s=1.0, transactional=False, parts=(), targets=(), stays={}
        )
    if kind is SetOffsets:
        right["plan"] = OffsetsPlan(cluster="", group="g", says="", changes=())
    if kind is DiffSchemas:
        right["before"] = 1
    if kind is WaitUntil:
        right["timeout_ms"] = 1
    return kind(**{**right, name: value})


def absurd(kind: type[Input]) -> list[Any]:
    """Every field of `kind` with every absurd value, and every field of the structs in its fields."""
    found = []
    for field, value in itertools.product(msgspec.structs.fields(kind), ABSURD.values()):
        with contextlib.suppress(ConfigError):  # what is a struct of settings, too, is refused when it is made
            found.append(made(kind, field.name, value))
    for field in msgspec.structs.fields(kind):
        inner = field.type
        for part in (inner, *getattr(inner, "__args__", ())):
            if isinstance(part, type) and issubclass(part, Input):
                found += [made(kind, field.name, each) for each in absurd(part)]
        if field.name in PARTS:
            found += [made(kind, field.name, [each]) for each in absurd(PARTS[field.name])]
            found += [made(kind, field.name, (each,)) for each in absurd(PARTS[field.name])]
    return found


@both
@pytest.mark.parametrize("entry", OF_BROKER, ids=lambda entry: entry.name)
def test_an_absurd_field_is_refused_in_a_sentence(entry: Entry):
    told: dict[str, str] = {}
    fixture = BrokerFixture()
    for request in absurd(entry.request):
        try:
            fixture.host.ask(request)
        except BrokerError as error:
            if len(str(error)) > 1_200 or "fault of its own" in str(error):
                told[repr(request)[:300]] = str(error)[:200]
            continue
        except Exception as error:
            told[repr(request)[:300]] = f"{type(error).__name__}: {error}"[:200]
        fixture.close()
        fixture = BrokerFixture()
    assert fixture.host.call(lambda _now: fixture.host.broker.topics.names())
    fixture.close()
    assert not told, "\n".join(f"{request}: {what}" for request, what in told.items())
