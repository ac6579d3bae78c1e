"""Regular expressions of schemas and subscriptions in linear time, by RE2.

JSON Schema uses the dialect of ECMA-262. Constructs that RE2 does not support (back references, look-around) are
refused when the schema is registered. Rejected, 2026-11: Python's `re` with a list of dangerous patterns, which is
never complete; `^(a+)+$` on 50,000 characters takes RE2 a millisecond.
"""

from __future__ import annotations

import re

import re2

from broker_core.limits import MAX_PATTERN_CHARS

_WORK_PER_STEP = 2_500  # RE2's instructions times characters in the time of one check in Python
_OPTIONS = re2.Options()
_OPTIONS.log_errors = False
_OPTIONS.never_capture = True
_OPTIONS.max_mem = 1_048_576  # enough for \p{L}; limits the program, and so the time per character


class InvalidPatternError(ValueError):
    """The pattern is refused. `str()` is a sentence without a full stop."""


class Pattern:
    """A compiled pattern. JSON Schema uses `found_in`, subscriptions use `matches`."""

    __slots__ = ("_compiled", "_program_size")

    def __init__(self, source: str) -> None:
        """Raises InvalidPatternError."""
        if len(source) > MAX_PATTERN_CHARS:
            raise InvalidPatternError(f"the pattern has more than {MAX_PATTERN_CHARS} characters")
        try:
            self._compiled = re2.compile(_translated(source), _OPTIONS)
        except re2.error as error:
            reason = error.args[0].decode(errors="replace") if error.args else "unknown"
            raise InvalidPatternError(f"the pattern cannot be checked in bounded time ({reason})") from None
        self._program_size: int = self._compiled.programsize

    def steps(self, text: str) -> int:
        """The maximum cost of a search in `text`, in steps of a validation."""
        return 1 + len(text) * self._program_size // _WORK_PER_STEP

    def found_in(self, text: str) -> bool:
        return self._compiled.search(text) is not None

    def matches(self, text: str) -> bool:
        return self._compiled.fullmatch(text) is not None


def _translated(source: str) -> str:
    """Translate `\\u0041` and `\\cA` to RE2's `\\x{0041}`."""

    def changed(escape: re.Match[str]) -> str:
        if escape[1]:
            return f"\\x{{{escape[1]}}}"
        return f"\\x{{{ord(escape[2]) % 32:02x}}}" if escape[2] else escape[0]

    return re.sub(r"\\u([0-9a-fA-F]{4})|\\c([a-zA-Z])|\\.", changed, source, flags=re.DOTALL)
