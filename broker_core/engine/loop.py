"""An event loop without a clock: tasks, timers, and a time that its driver advances.

Ready actions run first in, first out, before the next timer; timers fire in the order of (time, creation). The order
of execution is therefore the same at any speed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any

from broker_core.clock import ns_from_s
from broker_core.replies import Reply
from broker_core.timers import Timers


class TaskCancelledError(Exception):
    """Raised inside a cancelled task. The task cleans up and lets it propagate."""


class Task:
    """A coroutine that the loop runs; `finished` is settled with what it returns or raises."""

    __slots__ = ("_cancelled", "_coroutine", "_due", "_held", "_loop", "_waiting_for", "finished", "name")

    def __init__(self, loop: Loop, coroutine: Coroutine[Reply[Any], None, Any], name: str) -> None:
        self._loop = loop
        self._coroutine = coroutine
        self._waiting_for: Reply[Any] | None = None
        self._held = self._due = self._cancelled = False
        self.name = name
        self.finished: Reply[Any] = Reply()

    def cancel(self) -> None:
        """Raise `TaskCancelledError` inside the task at the next turn. No effect on a finished task."""
        if not self.finished.done:
            self._waiting_for = None
            self._cancelled = True
            self._loop.call_soon(self._throw)

    def hold(self) -> None:
        """Suspend the task until `release`. Replies that it waits for may be settled during that time."""
        self._held = True

    def release(self) -> None:
        self._held = False
        if self._due:
            self._due = False
            self._loop.call_soon(self.start)

    def _throw(self) -> None:
        self._cancelled = False
        if not self.finished.done:
            self._run(lambda: self._coroutine.throw(TaskCancelledError()))

    def _resume(self, reply: Reply[Any]) -> None:
        # Ignore replies that are settled after a cancel.
        if reply is self._waiting_for:
            self._loop.call_soon(self.start)

    def close(self) -> None:
        """Close the coroutine: only its `finally` blocks still run."""
        self._waiting_for = None
        self._coroutine.close()
        self.finished.resolve(None)

    def start(self) -> None:
        if self._cancelled:
            return
        if self._held:
            self._due = True
        elif not self.finished.done:
            self._run(lambda: self._coroutine.send(None))

    def _run(self, advance: Callable[[], Reply[Any]]) -> None:
        try:
            awaited = advance()
        except StopIteration as stop:
            self.finished.resolve(stop.value)
        except TaskCancelledError:
            self.finished.resolve(None)
        except Exception as error:
            self.finished.fail(error)
            self._loop.failures.append((self, error))
        else:
            self._waiting_for = awaited
            awaited.then(self._resume)


class Loop:
    """Runs tasks in session time. Only `run_next` and `advance_to` change `now_ns`."""

    def __init__(self) -> None:
        self.now_ns = 0
        self.steps = 0  # actions and timers run so far: the position of an action in a run
        self.timers = Timers()
        self._ready: deque[Callable[[], object]] = deque()
        self._tasks: dict[Task, None] = {}
        self.failures: list[tuple[Task, Exception]] = []

    def call_soon(self, action: Callable[[], object]) -> None:
        self._ready.append(action)

    def call_next(self, action: Callable[[], object]) -> None:
        self._ready.appendleft(action)

    def spawn(self, coroutine: Coroutine[Reply[Any], None, Any], name: str) -> Task:
        task = Task(self, coroutine, name)
        self._tasks[task] = None
        task.finished.then(lambda _finished: self._tasks.pop(task, None))
        self.call_soon(task.start)
        return task

    def close(self) -> None:
        self._ready.clear()
        for task in list(self._tasks):
            task.close()
        self._ready.clear()

    def wait_ns(self, delay_ns: int) -> Reply[None]:
        reply: Reply[None] = Reply()
        self.timers.at(self.now_ns + max(0, delay_ns), lambda _at: reply.resolve(None))
        return reply

    def sleep(self, seconds: float) -> Reply[None]:
        return self.wait_ns(ns_from_s(seconds))

    def wait_until_ns(self, deadline_ns: int) -> Reply[None]:
        return self.wait_ns(deadline_ns - self.now_ns)

    def is_due(self, time_ns: int) -> bool:
        """Whether an action is ready, or a timer is due by `time_ns`."""
        if self._ready:
            return True
        deadline_ns = self.timers.next_deadline_ns()
        return deadline_ns is not None and deadline_ns <= time_ns

    def next_ns(self) -> int | None:
        return self.now_ns if self._ready else self.timers.next_deadline_ns()

    def run_next(self, until_ns: int) -> bool:
        """Run one ready action, or advance to the next timer and fire it. False if nothing is due by `until_ns`.

        Raises the uncaught error of a task.
        """
        self.steps += 1
        if self._ready:
            self._ready.popleft()()
        else:
            deadline_ns = self.timers.next_deadline_ns()
            if deadline_ns is None or deadline_ns > until_ns:
                self.steps -= 1
                return False
            self.now_ns = max(self.now_ns, deadline_ns)
            self.timers.fire_next(deadline_ns)
        if self.failures:
            raise self.failures.pop(0)[1]
        return True

    def advance_to(self, time_ns: int) -> None:
        """Advance the time. Nothing may be due before `time_ns`."""
        self.now_ns = max(self.now_ns, time_ns)

    def run_until(self, until_ns: int) -> None:
        while self.run_next(until_ns):
            pass
        self.advance_to(until_ns)


async def first_of(*replies: Reply[Any]) -> Reply[Any]:
    """Wait until one of `replies` is settled and return it; of several, the first. The others stay pending."""
    settled: Reply[None] = Reply()
    for reply in replies:
        reply.then(lambda _reply: settled.resolve(None))
    await settled
    return next(reply for reply in replies if reply.done)
