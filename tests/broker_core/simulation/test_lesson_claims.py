"""What each lesson says of its session is true: every text is judged against the session in which it is shown.

A lesson is played without a window: what it tells to try is done at the second at which a learner would do it. A text
without a claim about the session (what a word means, what the window shows) is in `EXPLAINS`. The checksum of a text is
kept here, so that a text that changes is judged anew.
"""

from __future__ import annotations

import functools
import zlib
from collections.abc import Iterator

import pytest

from app.environment.paths import find_scenario
from broker_core.simulation.scenario import load_scenario
from tests.broker_core.simulation import claims_of_delivery, claims_of_groups
from tests.broker_core.simulation.played_lesson import CLAIMS, TRIED, UNTOUCHED, Played
from tests.long_form import some

pytestmark = pytest.mark.slow


@functools.cache
def played(name: str) -> Played:
    return Played(name, TRIED[name])


@functools.cache
def untouched(name: str) -> Played:
    return Played(name, ())


@pytest.fixture(autouse=True, scope="module")
def _forget() -> Iterator[None]:
    yield
    played.cache_clear()
    untouched.cache_clear()


def texts(name: str) -> dict[str, str]:
    """Everything that a lesson says of its session, by where it stands."""
    scenario = load_scenario(find_scenario(name))[0]
    assert scenario.lesson is not None
    found = {f"about {number}": text for number, text in enumerate(scenario.watch)}
    for number, step in enumerate(scenario.lesson.steps):
        found |= {f"step {number}": step.watch} if step.watch else {}
        found |= {f"seen {number}": step.seen} if step.seen else {}
    return {place: " ".join(text.split()) for place, text in found.items()}


def test_every_lesson_is_judged() -> None:
    assert claims_of_groups.__doc__ and claims_of_delivery.__doc__, "imported for their judges"
    with_lesson = {
        path.stem
        for path in find_scenario("hot-key").parent.glob("*.yaml")
        if load_scenario(path)[0].lesson is not None
    }
    assert with_lesson == TRIED.keys()


#: What explains a word, the window, or a rule that holds in any session.
EXPLAINS = {
    ("first-session", "step 0"),
    ("first-session", "seen 3"),
    ("first-session", "seen 4"),
    ("first-session", "seen 5"),
    ("partitions-and-keys", "seen 3"),
    ("hot-key", "seen 1"),
    ("lag-and-catch-up", "seen 2"),
    ("lag-and-catch-up", "seen 5"),
    ("alerts", "seen 3"),
    ("alerts", "seen 5"),
    ("range-versus-sticky", "seen 4"),
    ("at-most-or-at-least-once", "seen 0"),
    ("at-most-or-at-least-once", "seen 4"),
    ("work-queue", "seen 1"),
    ("poison-message", "seen 1"),
    ("poison-message", "seen 2"),
    ("poison-message", "seen 3"),
    ("backpressure-policies", "seen 2"),
    ("backpressure-policies", "seen 3"),
    ("transactions", "about 0"),
    ("transactions", "seen 4"),
    ("group-protocols", "about 1"),
}


@pytest.mark.parametrize("lesson", some(TRIED))
def test_each_claim_of_a_lesson_holds_in_its_session(lesson: str) -> None:
    told = texts(lesson)
    judged = {place for name, place in CLAIMS if name == lesson}
    explained = {place for name, place in EXPLAINS if name == lesson}
    assert not judged & explained
    assert told.keys() == judged | explained, "each text is judged, or said to make no claim"
    for place, text in told.items():
        if place in judged:
            checksum, judgement = CLAIMS[lesson, place]
            assert zlib.crc32(text.encode()) == checksum, f"{place} says something else now: judge {text!r} anew"
            session = untouched(lesson) if place.startswith("about") and lesson in UNTOUCHED else played(lesson)
            assert judgement(session), f"{lesson}, {place}: {text}"
