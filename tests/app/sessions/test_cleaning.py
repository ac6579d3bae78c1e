"""Recordings that nobody needs go; whatever somebody named, bookmarked, opened or used stays."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import msgspec
import pytest

from app.commands.compare import CompareHandlers
from app.commands.recordings import CleaningHandlers, RecordingHandlers
from app.sessions.bookmarks import Bookmarks
from app.sessions.cleaning import KEPT_FILE, Cleaned, Limits, Recording, clean, keep, recordings, to_remove
from app.sessions.library import Library
from app.sessions.stored import BRANCHED_FROM
from broker_core.clock import NS_PER_S
from broker_core.recording.live_session import LiveSession
from broker_core.recording.metadata import KNOWS, read_metadata, write_metadata
from broker_core.simulation import parse_scenario
from broker_core.simulation.actions.groups import MoveConsumer
from tests.app.conftest import Hand

SCENARIO = """
title: One reader
about: A short run.
until_s: 20
durability: memory
topics: [{name: orders}]
groups: [{name: readers, topics: [orders]}]
producers: [{name: shop, to: orders, arrivals: {kind: rate, per_s: 5}}]
consumers: [{name: reader, group: readers}]
"""
ANY = Limits(0, 0)


def record(parent: Path, number: int, *, until_s: int = 2, seed: int = 1, act: bool = False, origin: str = "") -> Path:
    """A sealed recording; later numbers are newer."""
    folder = parent / f"2026-01-01-0000{number:02d}-run"
    extra = {BRANCHED_FROM: {"name": origin}} if origin else {}
    live = LiveSession(parse_scenario(SCENARIO), SCENARIO, folder=folder, find_file=Path, seed=seed, extra=extra)
    live.simulation.loop.run_until(until_s * NS_PER_S)
    if act:
        live.simulation.perform(MoveConsumer("reader-1", ""))
    live.close(finished=False)
    os.utime(folder / "session.json", ns=(number * NS_PER_S, number * NS_PER_S))
    return folder


def names(parent: Path) -> list[str]:
    return sorted(path.name[15:17] for path in parent.iterdir())


def test_of_runs_that_repeat_each_other_the_newest_and_the_longest_stay(tmp_path: Path) -> None:
    for number, until_s in enumerate((1, 15, 2, 3), 1):
        record(tmp_path, number, until_s=until_s)
    record(tmp_path, 5, seed=2)
    record(tmp_path, 6, act=True)
    record(tmp_path, 7, act=True)
    done = clean(tmp_path, ANY, ())
    assert names(tmp_path) == ["02", "04", "05", "06", "07"], "another seed, and what a person did, are no repeats"
    assert done.recordings == 2 and done.size_bytes > 0
    assert clean(tmp_path, ANY, ()) == Cleaned(0, 0)


def test_what_somebody_needs_is_never_removed(tmp_path: Path) -> None:
    for number in range(1, 9):
        record(tmp_path, number)
    folders = {one.folder.name[15:17]: one.folder for one in recordings(tmp_path)}
    Bookmarks(folders["01"]).add(0, "here")
    keep(folders["02"])
    folders["03"].rename(tmp_path / "the run of my lecture")
    (folders["04"] / "bookmarks.json").write_text("not readable")
    record(tmp_path, 9, origin=folders["05"].name)
    other = tmp_path / "2026-01-01-000010-no-session"
    other.mkdir()
    (other / "letter.txt").write_text("mine")
    clean(tmp_path, Limits(1, 1), {folders["06"].resolve()})
    # The branch is the newest: it stays to be compared with, and so does what it left.
    assert names(tmp_path) == sorted(["01", "02", "04", "05", "06", "09", "10", "ec"])
    assert (other / "letter.txt").exists()


def test_what_is_being_recorded_stays_and_what_is_half_removed_goes(tmp_path: Path) -> None:
    going = record(tmp_path, 1).rename(tmp_path / ".removing-2026-01-01-000001-run")
    folder = tmp_path / "2026-01-01-000002-run"
    live = LiveSession(parse_scenario(SCENARIO), SCENARIO, folder=folder, find_file=Path, seed=1)
    record(tmp_path, 3)
    record(tmp_path, 4)
    assert [entry.folder.name[15:17] for entry in Library(tmp_path).entries()] == ["04", "03", "02"]
    clean(tmp_path, Limits(1, 0), ())
    assert names(tmp_path) == ["02", "04"] and not going.exists()
    live.close(finished=False)


def test_a_session_of_another_program_stops_neither_cleaning_nor_comparing(
    tmp_path: Path, open_workbench: Callable[..., Hand]
) -> None:
    """Whatever it says in its `extra`."""
    for number in range(1, 4):
        metadata = read_metadata(folder := record(tmp_path, number))
        extra = {BRANCHED_FROM: "another", KNOWS: 5}
        write_metadata(folder, msgspec.structs.replace(metadata, extra=extra if number == 1 else {}))
        os.utime(folder / "session.json", ns=(number * NS_PER_S, number * NS_PER_S))
    assert read_metadata(tmp_path / "2026-01-01-000001-run").knows("beginning")
    assert clean(tmp_path, Limits(1, 0), ()).recordings == 2 and names(tmp_path) == ["03"]
    hand = open_workbench(record=True)
    present = hand.simulated.folder
    assert present is not None
    write_metadata(present, msgspec.structs.replace(read_metadata(present), extra={BRANCHED_FROM: "another"}))
    assert hand.workbench.family(CompareHandlers).last() is None


@pytest.mark.parametrize(
    ("limits", "left"),
    [
        (ANY, [1, 2, 3, 4, 5]),
        (Limits(3, 0), [1, 4, 5]),
        (Limits(0, 350), [1, 4, 5]),
        (Limits(2, 1_000), [1, 5]),
        (Limits(1, 1), [1, 5]),
    ],
)
def test_beyond_the_limits_the_oldest_go_and_the_newest_stays(limits: Limits, left: list[int]) -> None:
    found = [Recording(Path(str(number)), number, 100, number == 1, None) for number in (5, 4, 3, 2, 1)]
    going = to_remove(found, limits)
    assert sorted(one.changed_ns for one in found if one not in going) == left
    assert [one.changed_ns for one in going] == sorted(one.changed_ns for one in going)


def more_than(found: list[int], count: int) -> bool:
    return len(found) > count


def test_ctrl_r_again_and_again_leaves_one_to_compare_with_and_says_so(open_workbench: Callable[..., Hand]) -> None:
    hand = open_workbench(record=True)
    removed: list[int] = []
    hand.workbench.family(CleaningHandlers).cleaned.connect(lambda done: removed.append(done.recordings))
    said: list[str] = []
    for _ in range(4):
        hand.pass_time(1)
        before = len(removed)
        assert hand.workbench.registry.trigger("restart")
        hand.qtbot.waitUntil(partial(more_than, removed, before), timeout=20_000)
        said.append(hand.workbench.window.status.last_action.whole)
    folder = hand.workbench.controller.source.folder
    assert folder is not None
    parent = folder.parent
    # This one, the one before, and the longest.
    hand.qtbot.waitUntil(lambda: len(Library(parent).entries()) <= 3, timeout=20_000)
    left = [entry.folder for entry in Library(parent).entries()]
    assert folder in left and sum(removed) == 5 - len(left)
    assert any("never named, bookmarked or opened." in each for each in said)


def test_a_recording_that_was_opened_copied_or_exported_is_kept(
    open_workbench: Callable[..., Hand], tmp_path: Path
) -> None:
    hand = open_workbench(record=True)
    hand.pass_time(2)
    handlers, folder = hand.workbench.family(RecordingHandlers), hand.workbench.controller.source.folder
    assert folder is not None and not (folder / KEPT_FILE).exists()
    handlers.save_copy(tmp_path / "copy")
    assert (folder / KEPT_FILE).exists()
    hand.qtbot.waitUntil(lambda: not hand.workbench.jobs.running, timeout=20_000)
    assert handlers.open(tmp_path / "copy") and (tmp_path / "copy" / KEPT_FILE).exists()
