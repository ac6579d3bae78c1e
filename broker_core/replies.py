"""A reply that may come later: waiting in the broker is a parked reply with a deadline, never a sleeping thread."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Generic, TypeVar

T = TypeVar("T")
U = TypeVar("U")


class Reply(Generic[T]):
    """Settled once, with a value or an error; callbacks run at that moment, in the order they were added.

    It can be awaited by a task of `engine.loop.Loop`.
    """

    __slots__ = ("_callbacks", "_error", "_value", "done")

    def __init__(self) -> None:
        self.done = False
        self._value: T | None = None
        self._error: Exception | None = None
        self._callbacks: list[Callable[[Reply[T]], object]] = []

    @classmethod
    def of(cls, value: T) -> Reply[T]:
        """A reply that is there already."""
        reply: Reply[T] = cls()
        reply.resolve(value)
        return reply

    def resolve(self, value: T) -> bool:
        """Settle with a value; False where it was settled before."""
        if self.done:
            return False
        self._value = value
        self._settle()
        return True

    def fail(self, error: Exception) -> bool:
        """Settle with an error, which `result` raises; False where it was settled before."""
        if self.done:
            return False
        self._error = error
        self._settle()
        return True

    def _settle(self) -> None:
        self.done = True
        callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback(self)

    def then(self, callback: Callable[[Reply[T]], object]) -> None:
        """Call `callback(reply)` when settled, at once where it is."""
        if self.done:
            callback(self)
        else:
            self._callbacks.append(callback)

    def map(self, change: Callable[[T], U]) -> Reply[U]:
        """A reply with `change` of the value, or with the same error."""
        mapped: Reply[U] = Reply()
        self.then(
            lambda done: mapped.fail(done.error) if done.error is not None else mapped.resolve(change(done.result()))
        )
        return mapped

    def __await__(self) -> Generator[Reply[T], None, T]:
        if not self.done:
            yield self
        return self.result()

    @property
    def error(self) -> Exception | None:
        """The error it was settled with."""
        return self._error

    def result(self) -> T:
        """The value. Raises the error it was settled with, or RuntimeError where nothing came yet."""
        if not self.done:
            raise RuntimeError("the reply is not there yet")
        if self._error is not None:
            raise self._error
        return self._value  # type: ignore[return-value]


def all_done(replies: Sequence[Reply[T]]) -> Reply[None]:
    """There when all of these are, however they were settled."""
    whole: Reply[None] = Reply()
    left = len(replies)

    def count(_done: Reply[T]) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            whole.resolve(None)

    for reply in replies:
        reply.then(count)
    if not replies:
        whole.resolve(None)
    return whole
