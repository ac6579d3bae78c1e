"""What can go wrong with a report, as one sentence for its reader."""

from __future__ import annotations

from pathlib import Path


class ReportError(Exception):
    """`str(error)` says what happened, to what, and what to do; `log` is where the details are, if "
    "anywhere."""

    log: Path | None = None


class Cancelled(ReportError):
    """Somebody asked the job to stop, or nobody listens to it any more."""

    def __init__(self) -> None:
        super().__init__("The report was cancelled.")
