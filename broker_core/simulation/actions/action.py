from __future__ import annotations

import base64
from typing import Any, ClassVar, Literal

import msgspec

RecordedEncoding = Literal["utf-8", "base64"]


class Action(msgspec.Struct, frozen=True, tag_field="action", forbid_unknown_fields=True):
    """An action names itself in a field `action`.

    One that is an operation of the catalogue is that request besides, with the same fields. The types of some are wider
    than HTTP allows: what the broker says to a wrong value is a better sentence.
    """

    #: The sentence, with fields of the action in braces; one that depends on more is a `sentence` of its own.
    says: ClassVar[str] = ""

    @property
    def sentence(self) -> str:
        return self.says.format_map(_Fields(self))


class _Fields:
    def __init__(self, action: Action) -> None:
        self._action = action

    def __getitem__(self, name: str) -> Any:
        return getattr(self._action, name)


class Lasting(Action, frozen=True):
    """An action that may end by itself, after `for_s` seconds."""

    @property
    def lasts(self) -> str:
        """ " for 5 s", or nothing if it does not end by itself."""
        for_s = getattr(self, "for_s", None)
        return "" if for_s is None else f" for {for_s:g} s"


def decoded(text: str | None, encoding: RecordedEncoding) -> bytes | None:
    if text is None:
        return None
    return text.encode() if encoding == "utf-8" else base64.b64decode(text, validate=True)
