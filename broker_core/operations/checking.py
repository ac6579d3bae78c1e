"""Type checks of requests that were not decoded, but made by a program."""

from __future__ import annotations

import functools
from typing import get_type_hints

from broker_core.errors import BrokerError, ErrorCode
from broker_core.kinds import Kind, kind_of
from broker_core.operations.request import Input


def check(request: Input) -> None:
    """Raises INVALID_REQUEST for a field with a value of a wrong type, or a word that is not one of its words.

    Ranges and names are checked by the broker, which has errors of its own for them.
    """
    for name, kind in _kinds(type(request)):
        value = getattr(request, name)
        if not kind.accepts(value):
            raise BrokerError(ErrorCode.INVALID_REQUEST, kind.wrong(name, value))
        for part in value if isinstance(value, list | tuple) else (value,):
            if isinstance(part, Input):
                check(part)


@functools.cache
def _kinds(request: type[Input]) -> tuple[tuple[str, Kind], ...]:
    hints = get_type_hints(request, include_extras=True)
    return tuple((name, kind_of(hints[name])) for name in request.__struct_fields__)
