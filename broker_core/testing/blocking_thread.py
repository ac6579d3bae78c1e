"""A blocking function as a coroutine of the loop: it has its own thread, and only one of the two runs at a time."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Coroutine, Iterator
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
        self._callback: tuple[Callable[[], object], Reply[None]] | None = None  # and whether it is over
        self._error: BaseException | None = None
        self._stopping = self._over = self._at_once = False
        self._late_calls = 0
        self._thread = threading.Thread(target=self._live, name=name, daemon=True)

    async def run(self) -> None:
        """The function from begin to end. Raises what it raises."""
        self._thread.start()
        try:
            await self._answer_until(lambda: self._over)
        finally:
            if not self._over:
                self._stopping = True
                self._switch()
        if self._error is not None:
            raise self._error

    async def _answer_until(self, over: Callable[[], bool]) -> None:
        """Give the thread its turn, and answer what it asks, until `over`."""
        self._switch()
        while not over():
            assert self._asked is not None
            asked, answer = self._asked, Reply[Any]()
            try:
                answer.resolve(await asked())
            except TaskCancelledError:
                raise
            except Exception as error:
                answer.fail(error)
            self._answer = answer
            self._switch()

    async def call_back(self, function: Callable[[], object]) -> None:
        """For what `ask` runs: call `function` in the thread, where it may `ask`, too. `ask` raises its error."""
        over = Reply[None]()
        self._callback = (function, over)
        await self._answer_until(lambda: over.done or self._over)

    def ask(self, asked: Callable[[], Coroutine[Reply[Any], None, T]]) -> T:
        """For code in the thread: have the event loop run `asked()`, and return its result or raise its error."""
        if self._at_once:
            return _result(asked())
        if self._stopping:
            self._late_call()
        else:
            self._asked = asked
            self._give_turn()
        failed: Exception | None = None
        while not self._stopping and self._callback is not None:
            (function, over), self._callback = self._callback, None
            try:
                function()
            except Exception as error:
                failed = failed or error
            over.resolve(None)
            self._give_turn()
        if self._stopping:
            raise ActorStopped(f"{self._name} was stopped")
        if failed is not None:
            raise failed
        answer: Reply[T] = self._answer
        return answer.result()

    @contextlib.contextmanager
    def at_once(self) -> Iterator[None]:
        """Within the context, the loop's thread runs what it asks itself: it must not wait."""
        self._at_once = True
        try:
            yield
        finally:
            self._at_once = False

    def _give_turn(self) -> None:
        self._back.release()
        self._turn.acquire()

    def _late_call(self) -> None:
        self._late_calls += 1
        if self._late_calls > MAX_CALLS_AFTER_THE_END:
            self._error = RuntimeError(
                f"{self._name} does not end: its function continues after ActorStopped; re-raise that exception if it "
                "catches BaseException"
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


def _result(coroutine: Coroutine[Reply[Any], None, T]) -> T:
    try:
        coroutine.send(None)
    except StopIteration as stop:
        found: T = stop.value
        return found
    coroutine.close()
    raise RuntimeError("a member that is taken out of its group cannot wait in its listener")
