"""A blocking function as a coroutine of the loop: it has its own thread, and only one of the two runs at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from broker_core.engine.loop import TaskCancelledError
from broker_core.replies import Reply

T = TypeVar("T")

MAX_CALLS_AFTER_THE_END = 100


class ActorStopped(BaseException):
    """Raised in a function whose actor has crashed or left. It is no `Exception`: clean up, and let it pass."""


class BlockingThread:
    """Runs `function`, whose calls of `ask` wait in session time.

    Where the coroutine of `run` is cancelled or closed, the call at hand raises `ActorStopped`.
    """

    def __init__(self, function: Callable[[], object], name: str) -> None:
        self._function = function
        self._name = name
        # Binary semaphores: the one of who runs next is released.
        self._turn, self._back = threading.Lock(), threading.Lock()
        self._turn.acquire()
        self._back.acquire()
        self._asked: Callable[[], Coroutine[Reply[Any], None, Any]] | None = None
        self._answer: Reply[Any] = Reply()
        self._error: BaseException | None = None
        self._stopping = self._over = False
        self._late_calls = 0
        self._thread = threading.Thread(target=self._live, name=name, daemon=True)

    async def run(self) -> None:
        """The function from begin to end. Raises what it raises."""
        self._thread.start()
        try:
            self._switch()
            while not self._over:
                assert self._asked is not None
                asked, self._answer = self._asked, Reply()
                try:
                    self._answer.resolve(await asked())
                except TaskCancelledError:
                    raise
                except Exception as error:
                    self._answer.fail(error)
                self._switch()
        finally:
            if not self._over:
                self._stopping = True
                self._switch()
        if self._error is not None:
            raise self._error

    def ask(self, asked: Callable[[], Coroutine[Reply[Any], None, T]]) -> T:
        """From the function: let the loop run `asked` to its end; its result. Raises what it raises."""
        if self._stopping:
            self._late_call()
        else:
            self._asked = asked
            self._back.release()
            self._turn.acquire()
        if self._stopping:
            raise ActorStopped(f"{self._name} was stopped")
        answer: Reply[T] = self._answer
        return answer.result()

    def _late_call(self) -> None:
        self._late_calls += 1
        if self._late_calls > MAX_CALLS_AFTER_THE_END:
            self._error = RuntimeError(
                f"{self._name} does not end: its function goes on after ActorStopped; let that pass where it catches "
                "BaseException"
            )
            self._end()
            self._turn.acquire()  # for good; the thread is a daemon

    def _switch(self) -> None:
        """Let the thread run until it asks or ends."""
        self._turn.release()
        try:
            self._back.acquire()
        except BaseException:  # Ctrl+C, or the end of a test's time, in a function that never calls
            self._over = True
            raise
        if self._over and self._late_calls <= MAX_CALLS_AFTER_THE_END:
            self._thread.join()
        elif self._over and self._error is not None:
            raise self._error

    def _live(self) -> None:
        self._turn.acquire()
        try:
            self._function()
        except ActorStopped:
            pass
        except BaseException as error:
            if not self._stopping:  # an error in a dead process is not an error of the test
                self._error = error
        self._end()

    def _end(self) -> None:
        self._over = True
        self._back.release()
