"""What bodies are made of: MessagePack arrays of fields in order; a later version may add fields at the end."""

from __future__ import annotations

from typing import Annotated

import msgspec

Int32 = Annotated[int, msgspec.Meta(ge=0, le=(1 << 31) - 1)]
Int64 = Annotated[int, msgspec.Meta(ge=0, le=(1 << 62))]
Signed64 = Annotated[int, msgspec.Meta(ge=-(1 << 62), le=(1 << 62))]
Millis = Annotated[int, msgspec.Meta(ge=0, le=(1 << 31) - 1)]
Name = Annotated[str, msgspec.Meta(max_length=1_024)]


class Body(msgspec.Struct, frozen=True, array_like=True):
    """A request or a reply."""


class Done(Body, frozen=True):
    """The reply that says no more than that."""


class ErrorBody(Body, frozen=True):
    """Why a request was not served: `code` is that of an `ErrorCode`. `throttle_ms`: wait so long before the next."""

    code: int
    about: str
    throttle_ms: int = 0
