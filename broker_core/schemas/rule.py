from __future__ import annotations

from typing import Annotated, Literal

from broker_core.settings import Settings, about


class SchemaRule(Settings, frozen=True, forbid_unknown_fields=True):
    """Values of the topic must be valid under the schema of `subject`; `mode` is the handling of invalid ones.

    refuse: the producer gets INVALID_RECORD. dead_letter (topics only): the message is appended to the dead letter
    queue `<topic>.dlq` with the reason, and the producer gets its offset there.
    """

    subject: Annotated[str, about("values must be accepted by the schema of this subject", flag="--schema")]
    mode: Annotated[
        Literal["refuse", "dead_letter"],
        about("what happens to other values: they are refused or become dead letters", flag="--schema-mode"),
    ] = "refuse"
