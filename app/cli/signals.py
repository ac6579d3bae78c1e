"""Signals that end a command as Ctrl+C does: what it holds is given back, groups are left."""

from __future__ import annotations

import contextlib
import signal
import threading
import weakref
from collections.abc import Iterator
from types import FrameType

from app.environment.exits import Exit

_EXITS = {signal.SIGINT: Exit.INTERRUPTED, signal.SIGTERM: Exit.TERMINATED}
if hasattr(signal, "SIGHUP"):
    _EXITS[signal.SIGHUP] = Exit.HUNG_UP
_HAS_TIMER = hasattr(signal, "setitimer")
_REPEAT_S = 0.2
_LOCKING = frozenset(
    getattr(threading.Condition, name).__code__
    for name in ("__enter__", "__exit__", "_release_save", "_acquire_restore", "wait")
)  # `wait` calls an RLock's `_release_save` itself, which is in C, and then has its `saved_state`


class Ended(KeyboardInterrupt):
    def __init__(self, code: Exit) -> None:
        super().__init__()
        self.code = code


def exit_of_interrupt(error: KeyboardInterrupt) -> Exit:
    return error.code if isinstance(error, Ended) else Exit.INTERRUPTED


def end_signals() -> list[signal.Signals]:
    return [number for number in _EXITS if signal.getsignal(number) is not signal.SIG_IGN]


@contextlib.contextmanager
def ended_by_signals() -> Iterator[None]:
    """Inside, signals that ask to end raise `Ended`, and the second one of a kind ends the process at once.

    A signal that arrives in a finalizer loses its exception: Python drops what a finalizer raises, and an HTTP response
    that is garbage is closed by one. So `Ended` is raised again while no code has it, until the block is left.
    Nor is it raised while a queue takes or gives back its lock, which would stay locked: closing it would never end.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    last: weakref.ref[Ended] | None = None
    code = Exit.INTERRUPTED

    def new() -> Ended:
        nonlocal last
        error = Ended(code)
        last = weakref.ref(error)
        return error

    def raise_dropped(_number: int, frame: FrameType | None) -> None:
        if _HAS_TIMER and frame is not None and frame.f_code in _LOCKING and "saved_state" not in frame.f_locals:
            return
        if last is None or last() is None:
            raise new()  # made elsewhere, for the traceback keeps what is local here

    def end(number: int, frame: FrameType | None) -> None:
        nonlocal code
        signal.signal(number, signal.SIG_DFL)
        code = _EXITS[signal.Signals(number)]
        if _HAS_TIMER:
            signal.setitimer(signal.ITIMER_REAL, _REPEAT_S, _REPEAT_S)
        raise_dropped(number, frame)

    before = {number: signal.signal(number, end) for number in end_signals()}
    if _HAS_TIMER:
        before[signal.SIGALRM] = signal.signal(signal.SIGALRM, raise_dropped)
    try:
        yield
    finally:
        if _HAS_TIMER:
            signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in before.items():
            signal.signal(number, handler)
