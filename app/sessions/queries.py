from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any, Protocol, TypeVar

from PySide6.QtCore import QObject, Qt, Signal

from app.sessions.core_sentences import error_text
from broker_core.errors import BrokerError, ErrorCode
from broker_core.operations.request import Request
from widgets.i18n import mark, tr

T = TypeVar("T")

NOT_KEPT = mark("A recording contains the events of messages, not the messages: start it again (Ctrl+R) to see them.")
NEVER_KEPT = mark("A recording contains the events of messages, not the messages. {why}")


class Replies(QObject):
    """Brings what other threads have found into the window's, unless it was dropped before."""

    _came = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._round = 0
        # Queued: an answer that is there at once must not ask the next question from inside the first.
        self._came.connect(self._answer, Qt.ConnectionType.QueuedConnection)

    def drop(self) -> None:
        self._round += 1

    def bring(self, found: Future[T], then: Callable[[Future[T]], object]) -> None:
        """Call `then(found)` when it is done, at once if it is."""
        if found.done():
            then(found)
        else:
            self._queue(found, then)

    def _queue(self, found: Future[T], then: Callable[[Future[T]], object]) -> None:
        now = self._round

        def report(done: Future[T]) -> None:
            with suppress(RuntimeError):  # the window is gone
                self._came.emit((now, done, then))

        found.add_done_callback(report)

    def follow(
        self, found: Future[T], then: Callable[[T], object], failed: Callable[[BrokerError], object] | None = None
    ) -> None:
        """Call `then(result)`, or `failed` with a `BrokerError`; any other error is raised."""

        def answer(done: Future[T]) -> None:
            error = done.exception()
            if error is None:
                then(done.result())
            elif isinstance(error, BrokerError) and failed is not None:
                failed(error)
            else:
                raise error

        self._queue(found, answer)

    def work(
        self,
        name: str,
        do: Callable[[], T],
        then: Callable[[T], object],
        failed: Callable[[BrokerError], object] | None = None,
    ) -> None:
        """`do()` in a thread of its own called `name`; what comes of it is followed."""
        worker = ThreadPoolExecutor(1, thread_name_prefix=name)
        self.follow(worker.submit(do), then, failed)
        worker.shutdown(wait=False)

    def _answer(self, came: tuple[int, Future[Any], Callable[[Future[Any]], object]]) -> None:
        asked_in, done, then = came
        if asked_in == self._round:
            then(done)


class Asked(Protocol):
    def ask(self, request: Request[T]) -> Future[T]:
        """The answer to `request`, which changes nothing; at once where the session has ended."""

    def why_no_branch(self) -> str:
        """Why the session cannot be run again; "" if it can."""


class HasSource(Protocol):
    @property
    def source(self) -> Asked: ...


class Answers(Replies):
    def __init__(self, of: HasSource, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._of = of

    def ask(
        self, request: Request[T], then: Callable[[T], object], failed: Callable[[str], object] = lambda _sentence: None
    ) -> None:
        """`failed` is called with the sentence of a `BrokerError`."""

        def tell(error: BrokerError) -> None:
            if error.code is not ErrorCode.CLOSED:
                failed(error_text(error))
            elif why := self._of.source.why_no_branch():
                failed(tr(NEVER_KEPT, why=why))
            else:
                failed(tr(NOT_KEPT))

        self.follow(self._of.source.ask(request), then, tell)
