"""Everything that a person can do: recorded and played again to the byte (promise 18), or refused with no change."""

from __future__ import annotations

import functools
import json
from typing import get_args

import msgspec
import pytest

from broker_core.clock import NS_PER_S
from broker_core.errors import BrokerError
from broker_core.events import Event
from broker_core.simulation import Simulation
from broker_core.simulation.actions import UserAction
from broker_core.simulation.replay import EventDigest, recorded_action
from tests.broker_core.simulation.busy_session import MAKERS, Person, scenario
from tests.broker_core.simulation.rerun import rerun
from tests.long_form import both, form

pytestmark = pytest.mark.slow

UNTIL_S = 40
#: A recording keeps no password, a plan is made by asking first, and settings of groups are undone in another test.
OTHERWISE = {"DeleteUser", "RedriveTopic", "StopTopicRedrive", "SetOffsets", "ConfigureGroup"}


class Life:
    """A busy session of `UNTIL_S` seconds, and what came of each action."""

    def __init__(self, seed: int) -> None:
        self.simulation = Simulation(scenario())
        self.digest = EventDigest(self.simulation.events)
        self.events: list[Event] = []
        self.simulation.events.attach(self.events.append)
        self.kept: list[str] = []
        self.simulation.on_action(lambda time_ns, plain: self.kept.append(json.dumps([time_ns, plain])))
        self.done: list[UserAction] = []
        self.refused: list[tuple[UserAction, str]] = []
        self.simulation.start()
        person = Person(self.simulation, seed)
        loop = self.simulation.loop
        for tick in range(1, UNTIL_S * 5):
            # Uneven, and in the middle of what is due at one moment.
            for _ in range(person.chance.randrange(1, 400)):
                if not loop.run_next(tick * NS_PER_S // 5):
                    loop.advance_to(tick * NS_PER_S // 5)
                    break
            self.act(person)
        self.simulation.run(UNTIL_S)

    def act(self, person: Person) -> None:
        action = person.draw()
        before = (self.simulation.snapshot(), len(self.events), len(self.kept))
        try:
            performed = self.simulation.perform(action)
        except BrokerError as error:
            self.refused.append((action, str(error)))
            assert (self.simulation.snapshot(), len(self.events), len(self.kept)) == before, f"{action}: {error}"
        else:
            self.done.append(performed.action)
            assert len(self.kept) == before[2] + 1
            assert performed.sentence
            if performed.inverse is None:
                assert performed.final, f"{action} says not why it cannot be undone"
            else:
                person.inverses.append(performed.inverse)


@functools.cache
def life(seed: int) -> Life:
    return Life(seed)


@both
@pytest.mark.parametrize("seed", range(form(2, 6)))
def test_whatever_a_person_does_is_played_again_to_the_byte_or_changes_nothing(seed: int) -> None:
    lived = life(seed)
    digests: list[EventDigest] = []
    actions = [recorded_action(time_ns, plain) for time_ns, plain in map(json.loads, lived.kept)]
    rerun(
        scenario(), actions, until_s=UNTIL_S, prepare=lambda simulation: digests.append(EventDigest(simulation.events))
    )
    assert digests[0].hex == lived.digest.hex


def test_every_action_is_done_by_somebody_and_refused_to_somebody() -> None:
    never_done = {kind.__name__ for kind in get_args(UserAction)}
    assert len(MAKERS) >= len(never_done)
    sentences: list[str] = []
    for seed in range(24):
        never_done -= {type(action).__name__ for action in life(seed).done}
        sentences += [sentence for _, sentence in life(seed).refused]
        if never_done == OTHERWISE and len(sentences) > 100:
            break
    assert never_done == OTHERWISE
    assert len(sentences) > 100
    assert all(sentence.endswith(".") and "\n" not in sentence and len(sentence) < 250 for sentence in sentences)


def test_an_action_is_the_same_after_its_record_was_read() -> None:
    for action in life(1).done:
        plain = json.loads(json.dumps(msgspec.to_builtins(action)))
        assert msgspec.convert(plain, UserAction) == action
