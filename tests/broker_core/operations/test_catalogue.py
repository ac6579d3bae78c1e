"""The catalogue is whole: each operation says all that the listeners, the command line and clients elsewhere need."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import msgspec
import pytest

from broker_core.broker.handlers import HANDLERS
from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.http.catalogue_routes import BY_HAND, catalogue_routes
from broker_core.operations.access import CreateAcls, DeleteAcls, ListAcls, SetUser
from broker_core.operations.catalogue import CATALOGUE, entry_of
from broker_core.operations.entry import Entry
from broker_core.operations.faults import BeginFault
from broker_core.operations.observe import ObserveBroker
from broker_core.operations.request import Request
from broker_core.operations.topics import CreateTopic

each_entry = pytest.mark.parametrize("entry", CATALOGUE, ids=lambda entry: entry.name)


@each_entry
def test_an_entry_says_what_it_is(entry: Entry):
    assert entry.verb in {"GET", "POST", "PUT", "PATCH", "DELETE"}
    assert entry.path.startswith("/v1/")
    assert entry.title
    assert not entry.title.endswith(".")
    assert entry.help.startswith(f"{entry.title}.")
    assert entry.tag
    assert entry.rights or entry.visible, "somebody must be asked whether they may"


@each_entry
def test_an_entry_names_fields_that_are_there(entry: Entry):
    fields = {field.name for field in msgspec.structs.fields(entry.request)}
    assert set(re.findall(r"{(\w+)}", entry.path)) <= fields
    for right in entry.rights:
        assert (right.field == "") == (right.kind == "broker")
        assert {right.field, right.preview} - {""} <= fields
    assert {entry.body} - {""} <= fields
    assert {name for name, _sent in entry.renamed} <= fields
    if entry.visible is not None:
        rows = entry.result
        if entry.visible.field:
            rows = {field.name: field.type for field in msgspec.structs.fields(rows)}[entry.visible.field]
        assert entry.visible.name in rows.__args__[0].__struct_fields__


@each_entry
def test_what_changes_something_is_no_get(entry: Entry):
    assert (entry.saved == "nothing") or entry.verb != "GET"
    assert (entry.result is None) == (entry.status == 204)
    assert entry.saved != "catalog" or entry.mode == "slow", "saving waits for the disk"


def test_names_and_routes_are_there_once():
    assert [name for name, count in Counter(entry.name for entry in CATALOGUE).items() if count > 1] == []
    assert [route for route, count in Counter(entry.route for entry in CATALOGUE).items() if count > 1] == []
    assert len({entry.request for entry in CATALOGUE}) == len(CATALOGUE)


def test_each_operation_is_answered_in_one_place():
    of_broker = {entry.request for entry in CATALOGUE if entry.served_by == "broker"}
    assert HANDLERS.keys() == of_broker
    # The listener may refuse these, or adds to them what it knows.
    handed_on = {BeginFault, ObserveBroker, ListAcls, CreateAcls, DeleteAcls, SetUser}
    of_listener = {entry.request for entry in CATALOGUE if entry.served_by == "listener"}
    assert BY_HAND.keys() == of_listener | handed_on
    assert [(route.method, route.path) for route in catalogue_routes()] == [
        (entry.verb, entry.path) for entry in CATALOGUE
    ]


def test_only_what_is_parked_is_answered_later():
    """A handler that returns a reply would hold up the listener's loop, unless its entry says so."""
    later = {kind for kind, handler in HANDLERS.items() if handler.__annotations__["return"].startswith("Reply")}
    assert later == {entry.request for entry in CATALOGUE if entry.mode == "parked" and entry.served_by == "broker"}


def test_every_request_is_in_the_catalogue():
    def below(kind: type[Any]) -> set[type[Any]]:
        found = {kind for kind in kind.__subclasses__() if kind.__module__.startswith("broker_core.operations")}
        return found | {each for one in found for each in below(one)}

    assert below(Request) == {entry.request for entry in CATALOGUE}


def test_the_entry_of_a_request_is_found():
    assert entry_of(CreateTopic(name="orders")).name == "create_topic"
    assert entry_of(CreateTopic).name == "create_topic"
    with pytest.raises(BrokerError) as caught:
        entry_of(Request())
    assert caught.value.code is ErrorCode.INVALID_REQUEST
