"""Replies that may be settled later. To wait in the broker is to park a reply with a deadline; no thread sleeps."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Generic, TypeVar

from broker_core.errors import BrokerError

T = TypeVar("T")
U = TypeVar("U")


class Reply(Generic[T]):
    """Settled once with a value or an error. Callbacks run then, in the order in which they were added.

    Tasks of `engine.loop.Loop` can await it.
    """

    __slots__ = ("_callbacks", "_error", "_value", "done")

    def __init__(self) -> None:
        self.done = False
        self._value: T | None = None
        self._error: Exception | None = None
        self._callbacks: list[Callable[[Reply[T]], object]] = []

    @classmethod
    def of(cls, value: T) -> Reply[T]:
        reply: Reply[T] = cls()
        reply.resolve(value)
        return reply

    def resolve(self, value: T) -> bool:
        """Settle with a value; False if it was settled before."""
        if self.done:
            return False
        self._value = value
        self._settle()
        return True

    def fail(self, error: Exception) -> bool:
        """Settle with an error, which `result` raises; False if it was settled before."""
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
        """Call `callback(reply)` when settled; at once if it is settled."""
        if self.done:
            callback(self)
        else:
            self._callbacks.append(callback)

    def map(self, change: Callable[[T], U]) -> Reply[U]:
        """A reply with `change` of the value, or with the same error."""
        return self.chain(lambda value: Reply.of(change(value)))

    def chain(self, go_on: Callable[[T], Reply[U]]) -> Reply[U]:
        """A reply that is settled as that of `go_on(value)`, with the same error, or the BrokerError that it raises."""
        chained: Reply[U] = Reply()

        def settled(done: Reply[T]) -> None:
            if done.error is not None:
                chained.fail(done.error)
                return
            try:
                following = go_on(done.result())
            except BrokerError as error:
                chained.fail(error)
            else:
                following.then(chained.follow)

        self.then(settled)
        return chained

    def follow(self, done: Reply[T]) -> None:
        """Settle as `done`, which is settled."""
        if done.error is not None:
            self.fail(done.error)
        else:
            self.resolve(done.result())

    def __await__(self) -> Generator[Reply[T], None, T]:
        if not self.done:
            yield self
        return self.result()

    @property
    def error(self) -> Exception | None:
        return self._error

    def result(self) -> T:
        """The value. Raises the error, or RuntimeError while pending."""
        if not self.done:
            raise RuntimeError("the reply is not settled yet")
        if self._error is not None:
            raise self._error
        return self._value  # type: ignore[return-value]


def all_done(replies: Sequence[Reply[T]]) -> Reply[None]:
    """A reply that is settled when all `replies` are, with values or errors."""
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
