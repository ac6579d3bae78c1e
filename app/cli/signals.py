"""A polite kill ends a command as Ctrl+C does: what it holds is given back, groups are left."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

from app.environment.exits import Exit

_EXITS = {signal.SIGTERM: Exit.TERMINATED}
if hasattr(signal, "SIGHUP"):
    _EXITS[signal.SIGHUP] = Exit.HUNG_UP


class Ended(KeyboardInterrupt):
    """A signal asks the command to end."""

    def __init__(self, code: Exit) -> None:
        super().__init__()
        self.code = code


def exit_of_interrupt(error: KeyboardInterrupt) -> Exit:
    """The code of a command that Ctrl+C or a signal has ended."""
    return error.code if isinstance(error, Ended) else Exit.INTERRUPTED


def end_signals() -> list[signal.Signals]:
    """Those that ask to end; what is ignored, as by nohup, stays so."""
    return [number for number in _EXITS if signal.getsignal(number) is not signal.SIG_IGN]


@contextlib.contextmanager
def ended_by_signals() -> Iterator[None]:
    """While inside, the signals that ask to end raise `Ended`; the second one ends the process at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, _frame: FrameType | None) -> None:
        signal.signal(number, signal.SIG_DFL)
        raise Ended(_EXITS[signal.Signals(number)])

    before = {number: signal.signal(number, end) for number in end_signals()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
