"""Notes on standard error: what is waited for, and what a person at a terminal should know."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

PATIENCE_S = 1.0  # what comes sooner needs no explanation


def note(sentence: str, *, as_json: bool = False) -> None:
    """Print `sentence` on standard error, so that standard output has results only; with `as_json` only on a terminal,
    for a program may join the streams.
    """
    if not as_json or sys.stderr.isatty():
        print(sentence, file=sys.stderr, flush=True)


def tell_typist(what: str) -> None:
    """On a terminal, print that `what` is to be typed, and how to end the input."""
    if sys.stdin.isatty():
        note(f"Type {what}; Ctrl+D at the beginning of a line ends it, Ctrl+C gives up.")


class Quiet:
    """The time without a message; the first time that it is long, a note says what is waited for.

    `what()` says what that is, `timeout_s` after how long it is over.
    """

    def __init__(self, what: Callable[[], str], timeout_s: float | None, *, as_json: bool = False) -> None:
        self._what = what
        self._timeout_s = timeout_s
        self._as_json = as_json
        self._heard_s = time.monotonic()
        self._told = False

    def poll_s(self, short_s: float, long_s: float) -> float:
        """How long to wait for the next message: `short_s` before the note, `long_s` after it."""
        left_s = long_s if self._timeout_s is None else self._timeout_s - (time.monotonic() - self._heard_s)
        return max(0.0, min(long_s if self._told else short_s, left_s))

    def heard(self) -> None:
        self._heard_s = time.monotonic()

    def over(self) -> bool:
        """Whether nothing has come for `timeout_s`. Prints the note when it is due, so call it regularly."""
        quiet_s = time.monotonic() - self._heard_s
        if self._timeout_s is not None and quiet_s >= self._timeout_s:
            return True
        if not self._told and quiet_s >= PATIENCE_S:
            self._told = True
            limit = "" if self._timeout_s is None else f", for {self._timeout_s:g} s at most"
            note(f"Waiting for {self._what()}{limit}; Ctrl+C ends it.", as_json=self._as_json)
        return False
