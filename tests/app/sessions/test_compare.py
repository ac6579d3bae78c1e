"""Two runs side by side: the same run differs in nothing, another assignor in what it moves."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pyarrow as pa
import pytest

import resources
from app.presenters.comparison import comparison, words_of
from app.sessions.compare import (
    _LAG_AT_END,
    _WAITING_AT_END,
    Figures,
    Flows,
    Setup,
    _add_figures_at_end,
    _add_greatest,
    figures_of,
    likely_cause,
)
from app.sessions.jobs import Work
from app.sessions.library import entry_of
from broker_core.clock import NS_PER_S
from broker_core.recording.live_session import LiveSession
from broker_core.recording.metadata import read_metadata, write_metadata
from broker_core.simulation import parse_scenario
from resources.measures import MEASURES, verdict
from resources.otherwise import Otherwise
from tests.app.conftest import Hand
from tests.app.presenters import made_up
from tests.app.sessions.open_dialog import open_dialog
from widgets.dialogs.choose_session import ChooseSessionDialog

SCENARIO = """
title: Assignors
about: Three members and a fourth that comes.
until_s: 20
durability: memory
topics: [{name: orders, partitions: 7}]
groups: [{name: readers, topics: [orders], assignor: ASSIGNOR}]
producers: [{name: shop, to: orders, arrivals: {kind: rate, per_s: 40, keys: 20}}]
consumers:
  - {name: reader, count: 3, group: readers, processing: {mean_ms: 5}}
schedule:
  - {at_s: 8, do: {action: crash, client: reader-1, for_s: 100}}
"""


def recorded(folder: Path, assignor: str, *, keep_open: bool = False, mean_ms: int = 5) -> LiveSession:
    text = SCENARIO.replace("ASSIGNOR", assignor).replace("mean_ms: 5", f"mean_ms: {mean_ms}")
    live = LiveSession(
        parse_scenario(text), text, folder=folder, find_file=lambda name: resources.path("sample_data", name)
    )
    while live.simulation.loop.run_next(20 * NS_PER_S):
        live.take_due_keyframe()
    if not keep_open:
        live.close(finished=True)
    return live


def work() -> Work:
    return Work(lambda _part, _words: None)


def test_the_same_run_differs_in_nothing(tmp_path: Path) -> None:
    for name in ("a", "b"):
        recorded(tmp_path / name, "range")
    one, other = (figures_of(tmp_path / name, work(), (0, 1)) for name in ("a", "b"))
    one.values.pop(("Greatest lag", "readers")), other.values.pop(("Greatest lag", "readers"))
    assert one.values == other.values
    assert comparison(one, other).sentence == "The two runs agree in every figure."


@pytest.mark.parametrize(
    ("name", "value", "base", "judged"),
    [
        ("p99_ns", 900_000, 200_000, "same"),  # below a millisecond
        ("p99_ns", 9_000_000, 2_000_000, "worse"),
        ("redelivered", 1, 0, "noise"),
        ("delivered_per_s", 0.1, 0.05, "same"),
        ("rebalances", 2, 1, "worse"),
    ],
)
def test_a_difference_has_a_size_below_which_it_is_none(name: str, value: float, base: float, judged: str) -> None:
    assert verdict(MEASURES[name], value, base, lengths_differ=False) == judged
    assert verdict(_LAG_AT_END, 1, 0, lengths_differ=False) == "noise"
    assert verdict(_LAG_AT_END, 40, 0, lengths_differ=False) == "worse"


def test_range_moves_more_than_sticky(tmp_path: Path) -> None:
    recorded(tmp_path / "range", "range")
    recorded(tmp_path / "sticky", "sticky")
    one, other = (figures_of(tmp_path / name, work(), (0, 1)) for name in ("range", "sticky"))
    assert (
        one.values["Partitions that changed owner", "readers"]
        > other.values["Partitions that changed owner", "readers"]
        > 0
    )
    assert one.values["Rebalances", "readers"] == other.values["Rebalances", "readers"] == 2
    assert 0 < one.values["Time in rebalances", "readers"] < 60 * NS_PER_S
    assert one.values["Published", "orders"] == other.values["Published", "orders"] > 700
    assert 0 <= one.values["First delivery, p50", "readers"] <= one.values["First delivery, p99", "readers"]
    assert one.values["First delivery, p99", "readers"] <= one.values["First delivery, p99.9", "readers"] > NS_PER_S
    table = comparison(one, other)
    (row,) = [
        place for place, texts in enumerate(table.rows) if texts[:2] == ("Partitions that changed owner", "readers")
    ]
    assert table.rows[row][4].startswith("+") and table.rows[row][5] == "worse"
    # One thing was different, so everything that differs comes of it.
    assert {texts[6] for number, texts in enumerate(table.rows) if number not in table.folded} == {
        "groups.readers.assignor is range instead of sticky"
    }
    assert "Differences: groups.readers.assignor is range instead of sticky." in table.note
    # The worse first, then the better; what does not differ is folded, and nothing else.
    told = [texts[5] for number, texts in enumerate(table.rows) if number not in table.folded]
    assert told == sorted(told, key=["worse", "better", "different", ""].index) and "worse" in told
    assert {table.rows[number][5] for number in table.folded} <= {"", "may be chance"}
    assert ("Published", "orders") in {table.rows[number][:2] for number in table.folded}


def test_what_grows_with_the_length_is_not_judged_between_lengths_and_nothing_explained() -> None:
    long, short = Figures("long", Setup()), Figures("short", Setup(done={"moved indexer-4": 6 * NS_PER_S}))
    for figures, minutes in ((long, 5), (short, 1)):
        figures.add(MEASURES["length_ns"], "", minutes * 60 * NS_PER_S)
        figures.add(MEASURES["p99_ns"], "", minutes * NS_PER_S)
        figures.add(MEASURES["max_ns"], "", minutes * 3 * NS_PER_S)
        figures.add(_WAITING_AT_END, "builds", minutes * 20)
        for second in range(minutes * 60):
            figures.flows.add("", second, minutes)
    table = comparison(long, short)
    assert {texts[0]: texts[5:] for texts in table.rows} == {
        "First delivery, p99": ("worse", ""),
        "Session time": ("different", ""),
        "First delivery, maximum": ("different", ""),
        "Waiting at the end": ("different", ""),
    }
    assert "no moved indexer-4 at 00:06" in table.note and "no cause is named" in table.note


def flowing(other_from_s: int, seconds: int) -> Flows:
    """Ten messages a second, one more in five of them from one on (0: never)."""
    found = Flows()
    for second in range(seconds):
        found.add("readers", second, 10 + (0 < other_from_s <= second < other_from_s + 5))
    return found


def test_of_several_things_that_were_done_the_one_before_a_difference_is_told() -> None:
    moved, slowed = Otherwise("moved", at_ns=6 * NS_PER_S), Otherwise("slowed down", at_ns=30 * NS_PER_S)
    set_otherwise = Otherwise("seed", "1", "2")
    base, early, late = flowing(0, 60), flowing(7, 60), flowing(30, 60)
    assert [one.parting_ns(base, "readers", 60 * NS_PER_S) for one in (base, early, late)] == [
        None,
        7 * NS_PER_S,
        30 * NS_PER_S,
    ]
    assert late.parting_ns(base, "readers", 30 * NS_PER_S) is None  # the other had ended
    assert late.parting_ns(base, "", 60 * NS_PER_S) == 30 * NS_PER_S and late.parting_ns(base, "x", NS_PER_S) is None
    assert likely_cause([moved, slowed], 7 * NS_PER_S) is moved
    assert likely_cause([moved, slowed], 30 * NS_PER_S) is slowed
    assert likely_cause([moved, slowed, set_otherwise], None) is None
    assert likely_cause([set_otherwise, slowed], 7 * NS_PER_S) is None
    assert likely_cause([set_otherwise], None) is set_otherwise
    assert likely_cause([], 7 * NS_PER_S) is None
    assert words_of(moved._replace(done=False)) == "no moved at 00:06"
    assert words_of(set_otherwise._replace(base="")) == "seed is 1 instead of not set"


def test_messages_read_without_a_group_count_once() -> None:
    rows = [{"time_ns": 1, "kind": "delivered", "topic": "t", "group": group, "count": 5} for group in ("", "readers")]
    found = Flows()
    found.messages(pa.RecordBatch.from_pylist(rows))
    assert found.seconds == {"": {0: 10}, "readers": {0: 5}}


def test_a_session_that_goes_on_is_compared_as_far_as_it_is(tmp_path: Path) -> None:
    live = recorded(tmp_path / "on", "range", keep_open=True)
    found = figures_of(tmp_path / "on", work(), (0, 1), live.recorder)
    assert found.values["Published", ""] == live.simulation.totals().published
    assert 19 * NS_PER_S < found.values["Session time", ""] <= 20 * NS_PER_S
    live.close(finished=False)


def test_the_greatest_lag_is_at_least_that_at_the_end(tmp_path: Path) -> None:
    live = recorded(tmp_path / "on", "range", keep_open=True, mean_ms=500)
    found = figures_of(tmp_path / "on", work(), (0, 1), live.recorder)
    assert found.values["Greatest lag", "readers"] == found.values["Lag at the end", "readers"] > 100
    live.close(finished=False)


def test_a_lag_that_is_known_in_part_is_no_figure_at_the_end_nor_on_the_way() -> None:
    made = made_up.living()
    group = made.groups[0]
    assert group.lag and group.lag_unknown == 1
    end = msgspec.structs.replace(made, topics=(), queues=(), groups=(group,))
    found = Figures("", Setup())
    _add_figures_at_end(found, end)
    _add_greatest(found, [end])
    assert found.values == {}


@pytest.fixture
def zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A computer two hours east of Greenwich."""
    with monkeypatch.context() as patched:
        patched.setenv("TZ", "EET-2")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("zone")
@pytest.mark.parametrize(("seed", "words"), [(7, ", Seed 7"), (None, "")])
def test_a_session_is_called_by_its_start_as_in_the_list_and_by_its_seed(
    tmp_path: Path, seed: int | None, words: str
) -> None:
    recorded(tmp_path / "a", "range")
    metadata = read_metadata(tmp_path / "a")
    changed = msgspec.structs.replace(metadata, started_at="2026-03-01T11:30:15+00:00", seed=seed)
    write_metadata(tmp_path / "a", changed)
    entry = entry_of(tmp_path / "a")
    assert entry is not None and entry.started == "2026-03-01 13:30"
    assert figures_of(tmp_path / "a", work(), (0, 1)).name == f"2026-03-01 13:30:15{words}"


def test_two_sessions_are_chosen_from_the_list(open_workbench: Callable[..., Hand]) -> None:
    hand = open_workbench(record=True)
    hand.pass_time(3)
    hand.workbench.controller.restart()
    hand.pass_time(3)
    hand.workbench.registry.trigger("compare")
    dialog = open_dialog(hand.workbench.window, ChooseSessionDialog)
    assert not dialog.accept_button.isEnabled()
    for item in dialog._items:
        item.setSelected(True)
    asked: list[list[str]] = []
    dialog.chosen.connect(asked.append)
    dialog.accept_button.click()
    assert len(asked[0]) == 2
    hand.qtbot.waitUntil(lambda: not hand.workbench.jobs.running, timeout=20_000)
    assert hand.workbench.jobs.facts()[0].state == "Done", hand.workbench.jobs.facts()[0].message
