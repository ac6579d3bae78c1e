"""The bases of all requests and results."""

from __future__ import annotations

from typing import Any, Generic, Literal, TypeVar, get_args

import msgspec
from msgspec import UNSET, UnsetType

T = TypeVar("T")


class Input(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A part of a request. Decoding checks types and ranges, and refuses unknown fields."""


class Request(Input, Generic[T], frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One operation with its arguments; T is its result. A subclass that is in the catalogue can be asked for."""


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """What an operation gives, or a part of it."""

    @property
    def read_messages(self) -> int:
        """How many messages of a log it holds."""
        return 0


class Problem(Result, frozen=True, kw_only=True):
    """What went wrong, in one sentence. `error` is a code; with `retriable` the same request may succeed later.

    What was to be published is not stored and will not be, unless it is said to be `possibly_stored`.
    """

    error: str
    message: str
    retriable: bool = False
    possibly_stored: bool | UnsetType = UNSET


class Status(Result, frozen=True, kw_only=True):
    """It is done."""

    status: Literal["ok"] = "ok"


def result_type(request: type[Request[Any]]) -> Any:
    """The T of `request`: None where the operation has no result."""
    for base in getattr(request, "__orig_bases__", ()):
        if get_args(base):
            return None if get_args(base)[0] is type(None) else get_args(base)[0]
    raise TypeError(f"{request.__name__} names no result")
