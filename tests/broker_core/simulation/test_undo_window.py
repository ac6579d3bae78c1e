"""One window of time for whatever can be taken back, and one redrive at a rate of a queue, whoever begins it."""

from __future__ import annotations

import pytest

from broker_core.errors import BrokerError
from broker_core.limits import UNDO_WINDOW_MS
from broker_core.messages import Message
from broker_core.simulation import Simulation, parse_scenario
from broker_core.simulation.actions import UserAction
from broker_core.simulation.actions.dead_letters import PurgeDeadLetters, Redrive
from broker_core.simulation.actions.queues import DeleteQueue, PurgeQueue
from broker_core.simulation.actions.topics import DeleteTopic

WINDOW_S = UNDO_WINDOW_MS / 1_000


def simulation() -> Simulation:
    """Two messages wait in q, and two died there."""
    made = Simulation(parse_scenario("{title: T, about: x, until_s: 9999, topics: [{name: t}], queues: [{name: q}]}"))
    made.run(0)
    for _ in range(4):
        made.broker.publishing.publish(0, "q", Message(b"v"), client="p")
    for lease in made.broker.queues.take(0, "q", "w", max_messages=2).result():
        made.broker.queues.nack(0, lease, "broken", requeue=False)
    made.run(1)
    return made


@pytest.mark.parametrize("later_s", [WINDOW_S - 1, WINDOW_S + 1], ids=["in time", "too late"])
@pytest.mark.parametrize(
    "action",
    [
        PurgeQueue(queue="q"),
        PurgeDeadLetters(queue="q"),
        Redrive(queue="q", offsets=[0, 1]),
        DeleteQueue(queue="q"),
        DeleteTopic(topic="t"),
    ],
    ids=lambda action: type(action).__name__,
)
def test_everything_can_be_taken_back_for_as_long(action: UserAction, later_s: float) -> None:
    session = simulation()
    undo = session.perform(action).inverse
    session.run(1 + later_s)
    assert undo is not None
    if later_s < WINDOW_S:
        session.perform(undo)
    else:
        with pytest.raises(BrokerError):
            session.perform(undo)


def test_a_second_redrive_at_a_rate_is_refused() -> None:
    """In the words of HTTP, which asks the same: see `test_a_redrive_at_a_rate_is_watched_and_stopped`."""
    session = simulation()
    session.perform(Redrive(queue="q", rate_per_s=0.01))
    for again in (Redrive(queue="q", rate_per_s=1.0), Redrive(queue="q")):
        with pytest.raises(BrokerError, match="a redrive of q is in progress; stop it, or let it finish"):
            session.perform(again)
    session.run(200)
    assert session.broker.redrives.paced.running("q") is None
