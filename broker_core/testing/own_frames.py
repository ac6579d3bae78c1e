"""Frames of this package in the traceback of a test: left out where its own line and a sentence say all."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

import pytest

from broker_core.errors import BrokerError
from broker_core.testing.program import ProgramEndedError

_PACKAGE = Path(__file__).parent.parent
_BORDER = _PACKAGE / "settings.py"  # where the arguments of a call are checked
_SENTENCES = (BrokerError, TimeoutError, ProgramEndedError)


def leave_out_own_frames(failed: pytest.ExceptionInfo[BaseException], root: Path) -> None:
    """Leave them out of what a test below `root` has raised, unless it is a test of this package.

    They stay where this package has raised what is no sentence, which is a bug of it.
    """
    trace = list(_frames(failed.tb))
    last = _file(trace[-1])
    bug = last.is_relative_to(_PACKAGE) and last != _BORDER and not isinstance(failed.value, _SENTENCES)
    if bug or _PACKAGE.is_relative_to(root):
        return
    # pytest shows where its own begin, which are the first.
    kept = [each for each in trace if not _file(each).is_relative_to(_PACKAGE)]
    for each, following in zip(kept, [*kept[1:], None], strict=True):
        each.tb_next = following


def _frames(trace: TracebackType | None) -> Iterator[TracebackType]:
    while trace is not None:
        yield trace
        trace = trace.tb_next


def _file(trace: TracebackType) -> Path:
    return Path(trace.tb_frame.f_code.co_filename)
