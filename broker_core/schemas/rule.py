"""What a topic does with messages that its schema refuses."""

from __future__ import annotations

from typing import Literal

import msgspec


class SchemaRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Values of the topic must be accepted by `subject`'s schema; `mode` says what becomes of those that are not.

    refuse: the producer gets INVALID_RECORD. dead_letter: the message goes into the topic's bin, with the reason.
    """

    subject: str
    mode: Literal["refuse", "dead_letter"] = "refuse"
