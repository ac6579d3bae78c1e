from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Protocol, TypeVar

from PySide6.QtCore import QObject, Qt, Signal

from broker_core.errors import BrokerError, ErrorCode
from broker_core.operations.request import Request
from widgets.i18n import mark, tr

T = TypeVar("T")

NOT_KEPT = mark("A recording holds the events of messages, not the messages: start it again (Ctrl+R) to see them.")


class Asked(Protocol):
    """What answers: the controller."""

    def query(self, request: Request[T]) -> Future[T]:
        """The answer to `request`, which changes nothing; at once where the session has ended."""


class Answers(QObject):
    """Asks, and calls `then(answer)` or `failed(sentence)` in the window's thread, unless it was dropped before."""

    _came = Signal(object)

    def __init__(self, asked: Asked, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._asked = asked
        self._round = 0
        # Queued: an answer that is there at once must not ask the next question from inside the first.
        self._came.connect(self._answer, Qt.ConnectionType.QueuedConnection)

    def drop(self) -> None:
        """What was asked so far is not wanted any more."""
        self._round += 1

    def ask(
        self,
        request: Request[T],
        then: Callable[[T], object],
        failed: Callable[[str], object] = lambda _sentence: None,
    ) -> None:
        """`failed` gets the sentence of a `BrokerError`; any other error is raised."""
        now = self._round
        self._asked.query(request).add_done_callback(lambda done: self._came.emit((now, done, then, failed)))

    def _answer(self, came: tuple[int, Future[Any], Callable[[Any], object], Callable[[str], object]]) -> None:
        asked_in, done, then, failed = came
        if asked_in != self._round:
            return
        error = done.exception()
        if error is None:
            then(done.result())
        elif isinstance(error, BrokerError):
            failed(tr(NOT_KEPT) if error.code is ErrorCode.CLOSED else str(error))
        else:
            raise error
