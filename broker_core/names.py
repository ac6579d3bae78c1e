from __future__ import annotations

import re
from collections.abc import Container
from itertools import count
from typing import TypeVar

from broker_core.errors import BrokerError, ErrorCode
from broker_core.limits import MAX_NAME_CHARS

T = TypeVar("T")

CLUSTER_ID = "brokerscope"
SUBJECT_PATTERN = r"^[^\x00-\x1f\x7f]{1,249}$"
_ALLOWED = re.compile(r"[a-zA-Z0-9._-]+")
# Device names on Windows, with any extension.
_RESERVED = frozenset(
    {"con", "prn", "aux", "nul", *(f"com{n}" for n in "123456789"), *(f"lpt{n}" for n in "123456789")}
)


def check_name(name: str, what: str = "topic", code: ErrorCode = ErrorCode.INVALID_TOPIC) -> str:
    """Return `name` where it is a valid directory name on every system.

    Raises `code` for anything but 1 to 249 of `a-zA-Z0-9._-`, for `.` and `..`, and for reserved
    names.
    """
    if not isinstance(name, str) or not _ALLOWED.fullmatch(name) or len(name) > MAX_NAME_CHARS:
        raise BrokerError(
            code, f"{what} {str(name)[:60]!r} may have 1 to {MAX_NAME_CHARS} letters, digits, '.', '_' and '-'"
        )
    if name in {".", ".."} or name.partition(".")[0].lower() in _RESERVED or name.endswith("."):
        raise BrokerError(code, f"{what} {name!r} is reserved by the file system")
    return name


def free_name(name: str, what: str, taken: Container[str]) -> str:
    """`name`, or the first like "rule-1" for "". Raises INVALID_REQUEST if it is taken, INVALID_TOPIC if invalid."""
    if not name:
        return next(free for number in count(1) if (free := f"{what}-{number}") not in taken)
    if check_name(name, what) in taken:
        raise BrokerError(ErrorCode.INVALID_REQUEST, f"there is already a {what} {name}; end that first")
    return name


def check_subject(name: str) -> str:
    """Return `name` if it can be the subject of a schema: files that a schema imports are called by their paths.

    Raises `BrokerError` (INVALID_TOPIC) for anything but 1 to 249 characters without control characters.
    """
    if not re.fullmatch(SUBJECT_PATTERN, name):
        raise BrokerError(
            ErrorCode.INVALID_TOPIC,
            f"subject {name[:60]!r} may have 1 to {MAX_NAME_CHARS} characters, none of them a control character",
        )
    return name


class ByName(dict[str, T]):
    """A dict by name whose `takes` ignores case, because not every file system distinguishes it."""

    def __init__(self) -> None:
        super().__init__()
        self._lower: set[str] = set()

    def __setitem__(self, name: str, thing: T) -> None:
        super().__setitem__(name, thing)
        self._lower.add(name.lower())

    def __delitem__(self, name: str) -> None:
        super().__delitem__(name)
        self._lower.discard(name.lower())

    def takes(self, name: str) -> bool:
        return name.lower() not in self._lower
