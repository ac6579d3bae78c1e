"""Commands that wait say so once, for a person: on standard error, so that standard output stays clean for programs."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

PATIENCE_S = 1.0  # what comes sooner needs no explanation


def note(sentence: str, *, as_json: bool = False) -> None:
    """Tell a person. Not where a program reads JSON and nobody looks: it may have joined the two streams."""
    if not as_json or sys.stderr.isatty():
        print(sentence, file=sys.stderr, flush=True)


def tell_typist(what: str) -> None:
    """A person at a terminal is told that `what` is to be typed, and how that ends; a pipe is not."""
    if sys.stdin.isatty():
        note(f"Type {what}; Ctrl+D at the beginning of a line ends it, Ctrl+C gives up.")


class Quiet:
    """How long nothing has come; the first time that this is long, somebody is told what is waited for.

    `what()` says what that is, `timeout_s` after how long it is over.
    """

    def __init__(self, what: Callable[[], str], timeout_s: float | None, *, as_json: bool = False) -> None:
        self._what = what
        self._timeout_s = timeout_s
        self._as_json = as_json
        self._heard_s = time.monotonic()
        self._told = False

    def poll_s(self, short_s: float, long_s: float) -> float:
        """How long to wait for the next message: `long_s` once it has been told what is waited for."""
        left_s = long_s if self._timeout_s is None else self._timeout_s - (time.monotonic() - self._heard_s)
        return max(0.0, min(long_s if self._told else short_s, left_s))

    def heard(self) -> None:
        """Something came."""
        self._heard_s = time.monotonic()

    def over(self) -> bool:
        """Whether it was quiet for too long. Asked every now and then, it tells that it waits."""
        quiet_s = time.monotonic() - self._heard_s
        if self._timeout_s is not None and quiet_s >= self._timeout_s:
            return True
        if not self._told and quiet_s >= PATIENCE_S:
            self._told = True
            limit = "" if self._timeout_s is None else f", for {self._timeout_s:g} s at most"
            note(f"Waiting for {self._what()}{limit}; Ctrl+C ends it.", as_json=self._as_json)
        return False
