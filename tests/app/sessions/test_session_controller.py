"""Questions to the broker of the session, answered in the engine's thread."""

import threading
from collections.abc import Callable

import pytest

from app.sessions.session_controller import SessionController
from broker_core.errors import BrokerError, ErrorCode
from broker_core.operations.groups import DeleteGroup, ResetOffsets
from broker_core.operations.queues import Take
from broker_core.operations.topics import DeleteTopic, ListTopics, TopicConfiguration
from tests.app.conftest import Hand


def test_a_question_is_answered_in_the_engines_thread(hand: Hand) -> None:
    answer = hand.simulated.look(lambda simulation: (simulation.loop.now_ns, threading.current_thread().name))
    assert answer.result(10) == (10_000_000_000, "engine")


def test_what_a_question_raises_comes_with_the_answer(hand: Hand) -> None:
    with pytest.raises(KeyError):
        hand.simulated.look(lambda simulation: simulation.actors["nobody"]).result(10)


def test_a_request_of_the_catalogue_is_answered_live_and_after_the_end(open_workbench: Callable[..., Hand]) -> None:
    controller = open_workbench().workbench.controller
    topics = controller.source.ask(ListTopics()).result(10)
    assert [topic.name for topic in topics] == [topic.name for topic in controller.snapshot.topics]
    with pytest.raises(BrokerError) as told:
        controller.source.ask(TopicConfiguration(topic="nowhere")).result(10)
    assert told.value.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    controller.stop()
    assert controller.source.ask(ListTopics()).result(0) == topics


def test_a_query_that_would_change_something_is_refused(hand: Hand) -> None:
    controller = hand.workbench.controller
    (topic, *_), (group, *_) = controller.snapshot.topics, controller.snapshot.groups
    for request in (
        DeleteTopic(topic=topic.name),
        DeleteGroup(group=group.name),
        Take(queue="nowhere", holder="me"),
        ResetOffsets(group=group.name, form="earliest"),
    ):
        with pytest.raises(BrokerError, match=f"{type(request).__name__} is not a query"):
            controller.source.ask(request).result(10)  # type: ignore[misc]
    preview = ResetOffsets(group=group.name, form="earliest", dry_run=True)
    assert not controller.source.ask(preview).result(10).applied


def test_an_ended_session_answers_that_it_is_closed_and_never_blocks(open_workbench: Callable[..., Hand]) -> None:
    hand = open_workbench()
    hand.workbench.controller.stop()
    with pytest.raises(BrokerError) as told:
        hand.simulated.look(lambda simulation: simulation.loop.now_ns).result(10)
    assert told.value.code is ErrorCode.CLOSED


def test_without_a_session_a_question_is_answered_that_none_is_open() -> None:
    controller = SessionController(record=False)
    assert isinstance(controller.source.ask(ListTopics()).exception(0), BrokerError)
    assert not controller.live
