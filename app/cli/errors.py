from __future__ import annotations

from app.environment.exits import Exit
from broker_core.errors import BrokerError, ErrorCode

# Where to look for what there is, by what there is not.
_HINTS = {
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: "brokerscope topics list says what there is, topics create makes one",
    ErrorCode.UNKNOWN_QUEUE: "brokerscope queues list says what there is, queues create makes one",
    ErrorCode.GROUP_ID_NOT_FOUND: "brokerscope groups list says what there is",
    ErrorCode.UNKNOWN_SUBJECT: "brokerscope schemas list says what there is, schemas register makes one",
    ErrorCode.UNKNOWN_SCHEMA_VERSION: "brokerscope schemas describe says which there are",
    ErrorCode.NO_DEAD_LETTERS: "brokerscope schemas rule TOPIC --subject SUBJECT --mode dead_letter sets one",
    ErrorCode.UNKNOWN_DEAD_LETTER: "brokerscope dlq list says what there is",
    ErrorCode.RESOURCE_NOT_FOUND: "brokerscope acls, quotas or users list says what there is",
    ErrorCode.DIRECTORY_IN_USE: "or go through its broker with --broker",
    ErrorCode.UNAUTHORIZED: "give --token-file, or set $BROKERSCOPE_TOKEN",
    ErrorCode.NON_EMPTY_GROUP: "brokerscope groups members lists them",
}


class CommandError(Exception):
    """A command cannot do what it was asked for; one sentence says why, and what to do."""

    def __init__(self, sentence: str, code: Exit = Exit.USAGE) -> None:
        super().__init__(sentence)
        self.code = code


def with_hint(error: BrokerError) -> str:
    hint = _HINTS.get(error.code)
    return str(error) if hint is None else f"{str(error).rstrip('.')}; {hint}."
