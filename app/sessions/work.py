from __future__ import annotations

from collections.abc import Callable


class Cancelled(Exception):
    """Raised by `Work.report` once the job was cancelled: the work tidies up and lets it pass."""


class Work:
    """The argument of a `Job`'s function: reports progress, and learns of cancellation."""

    def __init__(self, report: Callable[[float, str], object]) -> None:
        self._report = report
        self.cancelled = False

    def report(self, fraction: float, message: str) -> None:
        """`fraction` is done, `message` comes next. Raises `Cancelled` after a cancellation."""
        if self.cancelled:
            raise Cancelled
        self._report(fraction, message)
