"""Changes to a dead letter on redrive."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec
from msgspec import UNSET, UnsetType

from broker_core.kinds import Range
from broker_core.limits import MAX_PRIORITIES
from broker_core.messages import Headers, Message
from broker_core.settings import CallArguments, TimeMsOrZero


class DeadLetterEdit(CallArguments, frozen=True):
    """The fields to change; unset fields stay as they are. None removes a value, key or time to live.

    `headers` replaces all headers; () removes them.
    """

    value: bytes | UnsetType | None = UNSET
    key: bytes | UnsetType | None = UNSET
    headers: Headers | UnsetType = UNSET
    ttl_ms: TimeMsOrZero | UnsetType | None = UNSET
    priority: Annotated[int, Range(0, MAX_PRIORITIES - 1)] | UnsetType = UNSET

    def applied_to(self, message: Message) -> Message:
        """`message` with the changes."""
        named = {name: getattr(self, name) for name in self.__struct_fields__}
        return msgspec.structs.replace(message, **{name: each for name, each in named.items() if each is not UNSET})


Edits = Mapping[int, Message | DeadLetterEdit]  # by offset in the dead letter queue; a Message replaces the whole
