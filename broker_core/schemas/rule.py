"""What a topic does with messages that its schema refuses."""

from __future__ import annotations

from typing import Literal

from broker_core.settings import Settings


class SchemaRule(Settings, frozen=True, forbid_unknown_fields=True):
    """Values of the topic must be accepted by `subject`'s schema; `mode` says what becomes of those that are not.

    refuse: the producer gets INVALID_RECORD. dead_letter, for topics: the message goes into the bin `<topic>.dlq`, with
    the reason, and that is what the producer is told.
    """

    subject: str
    mode: Literal["refuse", "dead_letter"] = "refuse"
