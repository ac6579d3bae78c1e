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


_BY_STATUS = {404: Exit.NOT_FOUND, 422: Exit.USAGE}
# Where HTTP's status means something else.
_OWN = {
    **dict.fromkeys((ErrorCode.REQUEST_TIMED_OUT, ErrorCode.CONNECTION_LOST, ErrorCode.CLOSED), Exit.UNREACHABLE),
    **dict.fromkeys((ErrorCode.OFFSET_OUT_OF_RANGE, ErrorCode.NOT_A_SESSION), Exit.NOT_FOUND),
    **dict.fromkeys((ErrorCode.INVALID_PARTITIONS, ErrorCode.INVALID_CONFIG), Exit.USAGE),
    **dict.fromkeys((ErrorCode.INVALID_REQUEST, ErrorCode.INVALID_SCHEMA), Exit.USAGE),
    ErrorCode.UNREADABLE: Exit.REFUSED,
}


def exit_of(error: BrokerError) -> Exit:
    return _OWN.get(error.code) or _BY_STATUS.get(error.code.status, Exit.REFUSED)


def summary() -> str:
    return "exit codes:\n" + "\n".join(f"  {code.value:<5}{code.about}" for code in Exit)
