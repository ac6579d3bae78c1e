"""Types that many requests and answers share."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

MAX_INT = (1 << 53) - 1  # the largest whole number that every JSON reader keeps exact

# As `broker_core.names.check_name` has it: with the names that a file system reserves.
_DEVICES = "[cC][oO][nN]|[pP][rR][nN]|[aA][uU][xX]|[nN][uU][lL]|[cC][oO][mM][1-9]|[lL][pP][tT][1-9]"
NAME_PATTERN = rf"^(?!({_DEVICES})(\.|$))[a-zA-Z0-9._-]{{0,248}}[a-zA-Z0-9_-]$"

Name = Annotated[str, Meta(pattern=NAME_PATTERN, max_length=249, examples=["orders"])]
# Room for the ending of a bin's name.
NewName = Annotated[str, Meta(pattern=NAME_PATTERN.replace("248", "240"), max_length=241, examples=["orders"])]
Version = Annotated[int, Meta(ge=1, le=1_000_000)]
Number = Annotated[int, Meta(ge=0, le=MAX_INT)]
Client = Annotated[str, Meta(pattern=r"^[a-zA-Z0-9._@:-]{0,100}$")]
Offset = Annotated[int, Meta(ge=0, le=MAX_INT)]
Count = Annotated[int, Meta(ge=0, le=MAX_INT)]
Signed = Annotated[int, Meta(ge=-MAX_INT, le=MAX_INT)]
Partition = Annotated[int, Meta(ge=0, le=9_999)]
MaxMessages = Annotated[int, Meta(ge=1, le=10_000)]
Encoding = Literal["text", "base64"]
Cause = Annotated[str, Meta(max_length=500)]


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """An answer."""


class Request(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A body, or the query of a URL; what is not known in it is refused."""


class Problem(Shape, frozen=True, kw_only=True):
    """What went wrong, in one sentence. `error` is a code; with `retriable` the same request may succeed later.

    What was to be published is not stored and will not be, unless it is said to be `possibly_stored`.
    """

    error: str
    message: str
    retriable: bool = False
    possibly_stored: bool | UnsetType = UNSET


class Status(Shape, frozen=True, kw_only=True):
    """It is done."""

    status: Literal["ok"] = "ok"


JsonValue = Any  # any JSON value: text as it is, everything else as JSON
