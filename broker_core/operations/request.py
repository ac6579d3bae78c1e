from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, get_args, get_type_hints

import msgspec
from msgspec import UNSET, UnsetType

from broker_core.errors import BrokerError, ErrorCode
from broker_core.kinds import Kind, kind_of
from broker_core.operations.field_info import field_info

T = TypeVar("T")
S = TypeVar("S", bound=msgspec.Struct)

ADMIN_CLIENT = "admin"  # who asks for an operation, in its events, if nobody else is named


class Input(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A part of a request. Decoding checks types and ranges, and refuses unknown fields."""


class SettingsChanges(Input, Generic[S], frozen=True, kw_only=True, forbid_unknown_fields=True):
    """New values of some fields of an S."""

    if TYPE_CHECKING:

        def __init__(self, **given: Any) -> None: ...
        def __getattr__(self, name: str) -> Any: ...

    def on(self, base: S) -> S:
        """`base` with these. Raises INVALID_CONFIG."""
        given = {name: value for name, value in msgspec.structs.asdict(self).items() if value is not UNSET}
        return msgspec.structs.replace(base, **given)


def changeable(settings: type[msgspec.Struct]) -> dict[str, Any]:
    """The types of the fields that say what they mean, as those of their `SettingsChanges`."""
    fields = msgspec.structs.fields(settings)
    return {each.name: each.type | UnsetType for each in fields if field_info(settings, each.name).about}


class Request(Input, Generic[T], frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The arguments of one operation; T is the type of its result."""


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """The result of an operation, or a part of it."""


class Problem(Result, frozen=True, kw_only=True):
    """An error, in one sentence. `error` is a code; with `retriable` the same request may succeed later.

    A message that was to be published is not stored and never will be, unless it is `possibly_stored`.
    """

    error: str
    message: str
    retriable: bool = False
    possibly_stored: bool | UnsetType = UNSET


class Status(Result, frozen=True, kw_only=True):
    status: Literal["ok"] = "ok"


def result_type(request: type[Request[Any]]) -> Any:
    for base in getattr(request, "__orig_bases__", ()):
        if get_args(base):
            return None if get_args(base)[0] is type(None) else get_args(base)[0]
    raise TypeError(f"{request.__name__} names no result")


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
    hints = get_type_hints(request)
    return tuple((name, kind_of(hints[name])) for name in request.__struct_fields__)
