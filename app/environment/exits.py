"""Exit codes of commands. This is the table; --help and the guide show it."""

from __future__ import annotations

import enum

from broker_core.errors import BrokerError, ErrorCode


class Exit(enum.IntEnum):
    def __new__(cls, code: int, about: str) -> Exit:
        member = int.__new__(cls, code)
        member._value_ = code
        member.about = about
        return member

    about: str

    DONE = (0, "done")
    PARTLY = (1, "partly done: something was refused or never arrived, or you answered no")
    USAGE = (2, "the command line, a setting or a file is wrong")
    NOT_FOUND = (3, "something that the command names does not exist")
    REFUSED = (4, "refused by the broker, the data directory or the disk")
    UNREACHABLE = (5, "there is no broker, or it did not answer in time")
    HUNG_UP = (129, "the terminal was closed")
    INTERRUPTED = (130, "interrupted by Ctrl+C")
    BROKEN_PIPE = (141, "the program reading its output has ended")
    TERMINATED = (143, "ended by SIGTERM")


_USAGE = {
    ErrorCode.INVALID_TOPIC,
    ErrorCode.INVALID_PARTITIONS,
    ErrorCode.INVALID_GROUP_ID,
    ErrorCode.INVALID_SESSION_TIMEOUT,
    ErrorCode.INVALID_CONFIG,
    ErrorCode.INVALID_REQUEST,
    ErrorCode.INVALID_SCHEMA,
    ErrorCode.MALFORMED_REQUEST,
    ErrorCode.UNSERIALIZABLE,
}
_NOT_FOUND = {
    ErrorCode.OFFSET_OUT_OF_RANGE,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ErrorCode.UNKNOWN_MEMBER_ID,
    ErrorCode.GROUP_ID_NOT_FOUND,
    ErrorCode.UNKNOWN_QUEUE,
    ErrorCode.NO_DEAD_LETTERS,
    ErrorCode.UNKNOWN_DEAD_LETTER,
    ErrorCode.UNKNOWN_CONSUMER,
    ErrorCode.UNKNOWN_FAULT,
    ErrorCode.UNKNOWN_SUBJECT,
    ErrorCode.UNKNOWN_SCHEMA_VERSION,
    ErrorCode.UNKNOWN_SCHEMA,
    ErrorCode.NOT_A_SESSION,
    ErrorCode.RESOURCE_NOT_FOUND,
}
_UNREACHABLE = {ErrorCode.REQUEST_TIMED_OUT, ErrorCode.CONNECTION_LOST, ErrorCode.CLOSED}


def exit_of(error: BrokerError) -> Exit:
    if error.code in _UNREACHABLE:
        return Exit.UNREACHABLE
    if error.code in _NOT_FOUND:
        return Exit.NOT_FOUND
    return Exit.USAGE if error.code in _USAGE else Exit.REFUSED


def summary() -> str:
    return "exit codes:\n" + "\n".join(f"  {code.value:<5}{code.about}" for code in Exit)
