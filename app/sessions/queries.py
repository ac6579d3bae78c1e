from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, Protocol, TypeVar

from PySide6.QtCore import QObject, Qt, Signal

from broker_core.errors import BrokerError, ErrorCode
from broker_core.operations.request import Request
from widgets.i18n import mark, tr

T = TypeVar("T")

NOT_KEPT = mark("A recording contains the events of messages, not the messages: start it again (Ctrl+R) to see them.")


class Replies(QObject):
    """Brings what other threads have found into the window's, unless it was dropped before."""

    _came = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._round = 0
        # Queued: an answer that is there at once must not ask the next question from inside the first.
        self._came.connect(self._answer, Qt.ConnectionType.QueuedConnection)

    def drop(self) -> None:
        """Discards all pending requests."""
        self._round += 1

    def follow(
        self, found: Future[T], then: Callable[[T], object], failed: Callable[[BrokerError], object] | None = None
    ) -> None:
        """Call `then(result)`, or `failed` with a `BrokerError`; any other error is raised."""
        now = self._round

        def report(done: Future[T]) -> None:
            with suppress(RuntimeError):  # the window is gone
                self._came.emit((now, done, then, failed))

        found.add_done_callback(report)

    def _answer(
        self, came: tuple[int, Future[Any], Callable[[Any], object], Callable[[BrokerError], object] | None]
    ) -> None:
        asked_in, done, then, failed = came
        if asked_in != self._round:
            return
        error = done.exception()
        if error is None:
            then(done.result())
        elif isinstance(error, BrokerError) and failed is not None:
            failed(error)
        else:
            raise error


class Asked(Protocol):
    """What answers: the controller."""

    def query(self, request: Request[T]) -> Future[T]:
        """The answer to `request`, which changes nothing; at once where the session has ended."""


class Answers(Replies):
    def __init__(self, asked: Asked, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._asked = asked

    def ask(
        self,
        request: Request[T],
        then: Callable[[T], object],
        failed: Callable[[str], object] = lambda _sentence: None,
    ) -> None:
        """`failed` gets the sentence of a `BrokerError`."""

        def tell(error: BrokerError) -> None:
            failed(tr(NOT_KEPT) if error.code is ErrorCode.CLOSED else str(error))

        self.follow(self._asked.query(request), then, tell)
