"""The catalogue is whole: each operation says all that the listeners, the command line and clients elsewhere need."""

from __future__ import annotations

import ast
import builtins
import inspect
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, get_args, get_origin, get_type_hints

import msgspec
import pytest

from broker_core.broker import handlers
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
from broker_core.replies import Reply
from tests.broker_core.clients.virtual_broker import VirtualBroker

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
        assert all(hasattr(entry.request, name) for name in {right.field, right.preview} - {""})
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


def returned(call: ast.expr, names: dict[str, Any]) -> Any:
    """What an expression of a handler gives: an object if it is one of `names` or a part of it, else the type that the
    function it calls is declared to return.
    """
    match call:
        case ast.Name():
            return names.get(call.id) or getattr(builtins, call.id)
        case ast.Attribute():
            return getattr(returned(call.value, names), call.attr)
        case ast.Call():
            called = returned(call.func, names)
            return called if isinstance(called, type) else get_type_hints(called)["return"]
        case ast.List() | ast.ListComp():
            return list
    raise AssertionError(f"{ast.unparse(call)}: say here what it gives, or write a function that is declared")


def lambdas(part: Any) -> Iterator[tuple[Any, ast.expr]]:
    """The handlers in the table of a module that are written there, by request."""
    for table in ast.walk(ast.parse(inspect.getsource(part))):
        for key, value in zip(table.keys, table.values, strict=True) if isinstance(table, ast.Dict) else ():
            if key is not None and isinstance(value, ast.Lambda):
                yield returned(key, vars(part)), value.body


def test_only_what_is_parked_is_answered_later():
    """A handler that returns a reply would hold up the listener's loop, unless its entry says so."""
    named = {kind: get_type_hints(each)["return"] for kind, each in HANDLERS.items() if each.__name__ != "<lambda>"}
    here = {"b": VirtualBroker().broker}
    modules = [module for _, module in inspect.getmembers(handlers, inspect.ismodule) if hasattr(module, "HANDLERS")]
    written = {kind: returned(body, vars(part) | here) for part in modules for kind, body in lambdas(part)}
    assert named.keys() ^ written.keys() == HANDLERS.keys(), "each is declared, or resolved"
    later = {kind for kind, given in (named | written).items() if Reply in {given, *get_args(given), get_origin(given)}}
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
