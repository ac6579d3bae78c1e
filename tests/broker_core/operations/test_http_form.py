"""A request that a client sends is the request that the listener reads, whatever is in its fields."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.flow.config import FlowConfig
from broker_core.operations.catalogue import CATALOGUE, entry_of
from broker_core.operations.dead_letters import Edit, Redrive
from broker_core.operations.groups import CommitPlace, PartitionPlace, ResetOffsets, Seek
from broker_core.operations.http_form import HttpParts, form_of
from broker_core.operations.messages import PublishBatch, PublishMessages, Record
from broker_core.operations.observe import ListSlowReaders
from broker_core.operations.queues import Peek
from broker_core.operations.request import Request
from broker_core.operations.schemas import DeleteSubject, SetCompatibility
from broker_core.operations.topics import ConfigureTopic, CreateTopic, ListTopics, LogSettings, SetSchemaRule
from broker_core.schemas.rule import SchemaRule

REQUESTS: list[Request[Any]] = [
    CreateTopic(name="orders", partitions=3, log=LogSettings(retention_ms=None), flow=FlowConfig(max_messages=7)),
    ConfigureTopic(topic="orders", log=LogSettings(segment_ms=None)),
    SetSchemaRule(topic="orders", rule=SchemaRule(subject="order", mode="dead_letter")),
    PublishMessages(topic="orders", batch=PublishBatch(messages=[Record(value={"book": 7}, key="a")])),
    ResetOffsets(group="billing", form="group", from_group="shop", partitions=[PartitionPlace(topic="orders")]),
    Seek(group="billing", member="0123", place=CommitPlace(topic="orders", partition=1, offset=7)),
    Redrive(queue="mail", offsets=[1], edits=(Edit(offset=1, value=None, headers={"x": None}),)),
    SetCompatibility(subject="order", mode=None),
    DeleteSubject(subject="order", permanent=True),
    Peek(queue="mail", max_messages=3, encoding="base64"),
    ListSlowReaders(max_lag=3, max_lag_ms=5_000),
    ListTopics(),
]


def read(request: Request[Any], parts: HttpParts) -> Request[Any]:
    """What the listener makes of `parts`."""
    entry = entry_of(request)
    form = form_of(entry)
    names = [piece.strip("{}") for piece in entry.path.split("/")]
    pieces = dict(zip(names, map(unquote, parts.path.split("/")), strict=True))
    path = {name: msgspec.convert(pieces[name], kind, strict=False) for name, kind in form.path.items()}
    rest = None
    if form.query is not None:
        rest = msgspec.convert(parts.query, form.query, strict=False)
    elif form.body is not None:
        assert parts.body is not None
        rest = msgspec.json.decode(parts.body, type=form.body)
    return form.request(path, rest)


@pytest.mark.parametrize("request_", REQUESTS, ids=lambda each: type(each).__name__)
def test_a_request_comes_as_it_went(request_: Request[Any]):
    assert read(request_, form_of(entry_of(request_)).parts(request_)) == request_


@given(st.text(alphabet="abcXYZ019._-", min_size=1, max_size=20), st.integers(1, 1_000))
def test_names_and_numbers_come_as_they_went(name: str, number: int):
    queue = f"q{name}-"
    request = Peek(queue=queue, max_messages=number)
    assert read(request, form_of(entry_of(request)).parts(request)) == request


@pytest.mark.parametrize("entry", CATALOGUE, ids=lambda entry: entry.name)
def test_every_field_travels_once(entry):
    form = form_of(entry)
    fields = {field.name for field in msgspec.structs.fields(entry.request)}
    sent = dict(entry.renamed)
    rest = {sent.get(name, name) for name in fields - form.path.keys()}
    carrier = form.query if form.query is not None else form.body
    if entry.body:
        assert fields - form.path.keys() == {entry.body}
    else:
        assert rest == ({field.name for field in msgspec.structs.fields(carrier)} if carrier is not None else set())
