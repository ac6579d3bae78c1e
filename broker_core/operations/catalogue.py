"""Every operation, once. HTTP's routes, OpenAPI, access checks, options of the command line come from here."""

from __future__ import annotations

from typing import Any

from broker_core.errors import ErrorCode, must
from broker_core.operations import (
    access,
    browse,
    clock,
    dead_letters,
    faults,
    groups,
    guarded,
    messages,
    observe,
    queues,
    schemas,
    topics,
)
from broker_core.operations.entry import Entry
from broker_core.operations.request import Request

CATALOGUE: tuple[Entry, ...] = (
    *topics.ENTRIES,
    *browse.ENTRIES,
    *messages.ENTRIES,
    *groups.ENTRIES,
    *queues.ENTRIES,
    *dead_letters.ENTRIES,
    *guarded.ENTRIES,
    *schemas.ENTRIES,
    *access.ENTRIES,
    *observe.ENTRIES,
    *faults.ENTRIES,
    *clock.ENTRIES,
)
_BY_REQUEST: dict[type[Request[Any]], Entry] = {entry.request: entry for entry in CATALOGUE}


def entry_of(request: Request[Any] | type[Request[Any]]) -> Entry:
    """The entry of a request, or of its type. Raises INVALID_REQUEST for what is not in the catalogue."""
    kind = request if isinstance(request, type) else type(request)
    about = f"{kind.__name__} is no operation of the catalogue"
    return must(_BY_REQUEST.get(kind), ErrorCode.INVALID_REQUEST, about)
