"""What is asked of a recording is answered by how its messages could be seen, if at all."""

from __future__ import annotations

from concurrent.futures import Future
from typing import TypeVar

import pytest
from pytestqt.qtbot import QtBot

from app.sessions.queries import Answers
from broker_core.errors import BrokerError, ErrorCode
from broker_core.operations.request import Request
from broker_core.operations.topics import TopicConfiguration

T = TypeVar("T")
CLIENTS = "External clients take part in this session."


class Recorded:
    def __init__(self, why: str) -> None:
        self._why = why

    def ask(self, _request: Request[T]) -> Future[T]:
        future: Future[T] = Future()
        future.set_exception(BrokerError(ErrorCode.CLOSED, "the session has ended"))
        return future

    @property
    def source(self) -> Recorded:
        return self

    def why_no_branch(self) -> str:
        return self._why


@pytest.mark.parametrize(("why", "end"), [("", "start it again (Ctrl+R) to see them."), (CLIENTS, CLIENTS)])
def test_nobody_is_told_to_start_again_what_cannot_be(qtbot: QtBot, why: str, end: str) -> None:
    told: list[str] = []
    answers = Answers(Recorded(why))
    answers.ask(TopicConfiguration(topic="orders"), lambda _settings: None, told.append)
    qtbot.waitUntil(lambda: bool(told), timeout=20_000)
    assert told[-1].startswith("A recording contains the events of messages, not the messages")
    assert told[-1].endswith(end)
