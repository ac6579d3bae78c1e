"""The law of one account: window, report, test kit and `brokerscope audit` say of every moment what a recount says."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import resources
from app.presenters.in_flight import in_flight_words
from app.sessions.audit import audit as window_audit
from app.sessions.audit import table_of
from app.sessions.jobs import Work
from broker_core.clock import NS_PER_S
from broker_core.events import Event, Sink
from broker_core.recording.account import Account
from broker_core.recording.judged import audited
from broker_core.recording.live_session import LiveSession
from broker_core.recording.verdicts import Order, as_json
from broker_core.simulation.scenario import Scenario, parse_scenario
from broker_core.snapshots import Snapshot
from broker_core.testing.history import AuditedHistory
from tests.figures.accounts import differences, kit_differences, window_differences
from tests.figures.recount import account as recounted
from tests.figures.recount.reading import rows_of, scenario_of
from tests.long_form import form, some

HERE = Path(__file__).parent
SCENARIOS = [HERE / "upheaval.yaml", *HERE.glob("shapes/*.yaml"), *sorted(resources.path("scenarios").glob("*.yaml"))]
MOMENTS = 20
SHORT = {"at-most-or-at-least-once", "fan-out"}  # a group in rebalances, subscriptions that lose messages
FACES_EVERY = form(10, 1)  # of the moments, the others are seen by the recount and by `brokerscope audit` alone


class Look(NamedTuple):
    """What was shown of a moment while the session was running: `events` had happened."""

    time_ns: int
    events: int
    account: dict[str, Any]
    kit: dict[str, tuple[bool, list[str]]] | None = None
    window: Any = None
    in_flight: str = ""  # as the status bar has it


class Session(NamedTuple):
    """A session that was looked at while it ran; `rows` are its recorded events."""

    folder: Path
    looks: list[Look]
    rows: list[dict[str, Any]]
    scenario: dict[str, Any]

    def recounts(self) -> Iterator[tuple[Look, recounted.Account]]:
        """Each look with the recount of its events."""
        account = recounted.Account(self.scenario)
        for look in self.looks:
            while account.events < look.events:
                account.add(self.rows[account.events])
            yield look, account


class _Live:
    """A session of a scenario, and everything that tells of its account while it runs."""

    def __init__(self, scenario: Scenario, text: str, folder: Path) -> None:
        self._scenario = scenario
        self._account, self._order, self._history = Account(), Order(), AuditedHistory()
        self._events: list[Event] = []
        sinks: list[Sink] = [self._account, self._order, self._history, self._events.append]
        self.live = LiveSession(
            scenario, text, folder=folder, find_file=lambda name: resources.path("sample_data", name), sinks=sinks
        )

    def look(self, time_ns: int, *, at_faces: bool) -> Look:
        simulation = self.live.simulation
        while simulation.loop.run_next(time_ns):
            self.live.take_due_keyframe()
        shown = as_json(self._account, self._order, [])
        if not at_faces:
            return Look(time_ns, simulation.events.count, shown)
        verdicts = self._history.audit(simulation.broker).verdicts
        kit = {name: (each.holds, [finding.what for finding in each.findings]) for name, each in verdicts.items()}
        snapshot = simulation.snapshot(max_leases=0, max_dead_letters=0)
        return Look(time_ns, simulation.events.count, shown, kit, self._window(snapshot), in_flight_words(snapshot))

    def _window(self, snapshot: Snapshot) -> Any:
        return table_of(window_audit(self._events, snapshot, self._scenario, Work(lambda _part, _words: None)))


@pytest.fixture(scope="module", params=some(SCENARIOS, SHORT))
def session(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Session:
    """Recorded once for all faces."""
    text = request.param.read_text("utf-8")
    scenario = parse_scenario(text)
    end_ns = round(scenario.until_s * NS_PER_S)
    numbers = random.Random(request.param.stem)
    folder = tmp_path_factory.mktemp("accounts") / "session"
    ran = _Live(scenario, text, folder)
    moments = sorted({numbers.randrange(1, end_ns) for _ in range(MOMENTS - 1)} | {end_ns})
    looks = [ran.look(at, at_faces=number % FACES_EVERY == 9 % FACES_EVERY) for number, at in enumerate(moments)]
    ran.live.close(finished=True)
    return Session(folder, looks, rows_of(folder), scenario_of(folder))


@pytest.mark.promise("44")
def test_the_account_is_what_the_events_say(session: Session) -> None:
    found = [
        (look.time_ns, each) for look, account in session.recounts() for each in differences(look.account, account)
    ]
    assert not found


@pytest.mark.promise("44")
def test_a_recording_says_what_was_said_while_it_ran(session: Session) -> None:
    for look in session.looks[::FACES_EVERY]:
        found, judged = audited(session.folder, look.time_ns / NS_PER_S)
        assert judged
        assert found == look.account


@pytest.mark.promise("44")
def test_the_window_says_it_word_for_word(session: Session) -> None:
    looks = [look for look in session.looks if look.window is not None]
    found = [(look.time_ns, each) for look in looks for each in window_differences(look.window, look.account)]
    assert looks
    assert not found


def test_what_the_status_bar_has_in_flight_is_in_hand(session: Session) -> None:
    for look in session.looks:
        if look.window is not None:
            in_hand = sum(row["in_hand"] for row in look.account["readers"])
            at_most = look.in_flight.startswith("at most ")
            shown = int(look.in_flight.removeprefix("at most ").split()[0].replace(",", ""))
            assert in_hand <= shown if at_most else in_hand == shown


@pytest.mark.promise("44")
def test_the_test_kit_says_it_word_for_word(session: Session) -> None:
    looks = [look for look in session.looks if look.kit is not None]
    found = [(look.time_ns, each) for look in looks for each in kit_differences(look.kit or {}, look.account)]
    assert looks
    assert not found
