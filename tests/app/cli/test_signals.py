"""Signals that ask a command to end are raised where it runs, and none of them is lost."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
import threading
from queue import Empty, Queue
from types import FrameType
from typing import Any

import pytest

from app.cli.signals import Ended, ended_by_signals, exit_of_interrupt


class Interrupting(io.RawIOBase):
    """As an HTTP response that is garbage; the signal arrives while its finalizer closes it."""

    def __init__(self, number: signal.Signals) -> None:
        self._number = number

    def close(self) -> None:
        if not self.closed:
            os.kill(os.getpid(), self._number)
        super().close()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_that_arrives_in_a_finalizer_ends_the_command(number: signal.Signals) -> None:
    with pytest.raises(Ended) as caught, ended_by_signals():
        Interrupting(number)
        threading.Event().wait(30)
    assert exit_of_interrupt(caught.value) == 128 + number


@pytest.mark.parametrize(
    ("step", "event"),
    [("__enter__", "return"), ("__exit__", "call"), ("_release_save", "return"), ("_acquire_restore", "call")],
)
def test_a_signal_that_arrives_as_a_lock_is_taken_or_given_back_does_not_leave_it_locked(step: str, event: str) -> None:
    interrupted = getattr(threading.Condition, step).__code__

    def interrupt(frame: FrameType, traced: str, _arg: object) -> Any:
        if frame.f_code is interrupted and traced == event:
            sys.settrace(None)
            handler: Any = signal.getsignal(signal.SIGINT)
            handler(signal.SIGINT, frame)
        return interrupt

    queue: Queue[int] = Queue()
    with pytest.raises(Ended), ended_by_signals():
        sys.settrace(interrupt)
        queue.put(1)
        queue.get()
        with contextlib.suppress(Empty):
            queue.get(timeout=0.001)
        threading.Event().wait(30)
    assert queue.mutex.acquire(blocking=False)


def test_a_signal_that_arrives_as_a_condition_has_given_back_its_reentrant_lock_waits() -> None:
    condition = threading.Condition()

    def interrupt(frame: FrameType, traced: str, called: Any) -> None:
        if traced == "c_return" and called.__name__ == "_release_save":
            sys.setprofile(None)
            handler: Any = signal.getsignal(signal.SIGINT)
            handler(signal.SIGINT, frame)

    with pytest.raises(Ended), ended_by_signals():
        sys.setprofile(interrupt)
        with condition:
            condition.wait(0.001)
        threading.Event().wait(30)


def test_a_command_that_has_the_interrupt_is_not_interrupted_again() -> None:
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGALRM)}
    with ended_by_signals():
        try:
            os.kill(os.getpid(), signal.SIGINT)
            threading.Event().wait(30)
        except KeyboardInterrupt as interrupt:
            for _ in range(3):
                signal.pause()  # until the next repeat
            assert isinstance(interrupt, Ended)
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert {number: signal.getsignal(number) for number in before} == before
