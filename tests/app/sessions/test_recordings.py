"""Sessions as files: opened from a list, copied, found again after a crash, damaged."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import Qt

from app.cli.main import main
from app.commands.recordings import RecordingHandlers
from app.environment.exits import Exit
from app.sessions.library import Library, start_of
from broker_core.clock import NS_PER_S
from broker_core.errors import BrokerError
from broker_core.recording import metadata as meta
from broker_core.recording import schema
from broker_core.recording.copying import copy_session
from broker_core.recording.reader import open_session
from tests.app.conftest import Hand
from tests.app.sessions.open_dialog import open_dialog
from tests.app.sessions.test_travel_window import arrive
from tests.broker_core.recording.corruption import flip, flip_unnoticed
from widgets.dialogs.choose_session import ChooseSessionDialog


@pytest.fixture
def recorded(open_workbench: Callable[..., Hand]) -> Hand:
    """First session at 00:05, recorded."""
    hand = open_workbench(record=True)
    hand.pass_time(5)
    return hand


def folder_of(hand: Hand) -> Path:
    folder = hand.workbench.controller.source.folder
    assert folder is not None
    return folder


def leave_open(folder: Path) -> None:
    """As a killed program leaves it: not closed, the last events in the tail."""
    metadata = meta.read_metadata(folder)
    meta.write_metadata(folder, msgspec.structs.replace(metadata, ended=meta.RUNNING, events=None, duration_ns=None))
    (folder / schema.UNSEALED).mkdir(exist_ok=True)


def test_a_session_is_chosen_from_the_list_and_opens_in_replay(recorded: Hand) -> None:
    workbench = recorded.workbench
    folder = folder_of(recorded)
    workbench.controller.stop()
    workbench.controller.restart()
    workbench.registry.trigger("open_session")
    dialog = open_dialog(workbench.window, ChooseSessionDialog)
    assert [item.text(3) for item in dialog._items] == ["being recorded", "stopped"]
    dialog.filter.setText(folder.name)
    dialog.list.setCurrentItem(dialog._items[1])
    recorded.qtbot.mouseClick(dialog.accept_button, Qt.MouseButton.LeftButton)
    arrive(recorded)
    assert workbench.controller.source.folder == folder and not workbench.controller.live
    assert workbench.window.toolbar.badge.text() == "REPLAY 00:00"
    assert "recorded session" in workbench.registry.reason("follow_live")
    assert workbench.registry.reason("branch") == ""
    assert workbench.registry.reason("export_report") == ""


def test_what_a_crash_left_open_is_offered_and_opens(recorded: Hand, open_workbench: Callable[..., Hand]) -> None:
    folder = folder_of(recorded)
    recorded.workbench.controller.close()
    leave_open(folder)
    window = recorded.workbench.window
    recorded.workbench.family(RecordingHandlers).offer_left_open()
    assert window.hint.isVisible() and "still open when the program died" in window.hint.sentence.text()
    recorded.qtbot.mouseClick(window.hint.offer, Qt.MouseButton.LeftButton)
    arrive(recorded)
    assert recorded.workbench.controller.source.folder == folder
    assert open_session(folder).metadata.ended == meta.CRASHED
    assert not Library(folder.parent).left_open()


def test_sessions_are_listed_by_their_beginning(recorded: Hand, tmp_path: Path) -> None:
    recorded.workbench.controller.close()
    folder = folder_of(recorded)
    for name, started in (("second", "2026-02-01T10:00:00+00:00"), ("third", "2026-03-01T10:00:00+00:00"),
                          ("first", "2026-01-01T10:00:00+00:00")):  # fmt: skip
        copy_session(folder, tmp_path / "all" / name)
        metadata = meta.read_metadata(tmp_path / "all" / name)
        meta.write_metadata(tmp_path / "all" / name, msgspec.structs.replace(metadata, started_at=started))
    entries = Library(tmp_path / "all").entries()
    assert [entry.folder.name for entry in entries] == ["third", "second", "first"]


def test_a_beginning_without_a_zone_is_utc_and_one_beyond_all_years_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "EET-2")
    time.tzset()
    try:
        starts = [start_of(meta.Metadata(started_at=at)) for at in ("2026-01-01T10:00:00", "9999-12-31T23:59:59+00:00")]
    finally:
        monkeypatch.undo()
        time.tzset()
    assert starts == [datetime(2026, 1, 1, 10, tzinfo=UTC), None]


def test_what_a_crash_left_open_can_be_sent_away_for_good(recorded: Hand) -> None:
    folder = folder_of(recorded)
    recorded.workbench.controller.close()
    leave_open(folder)
    recorded.workbench.family(RecordingHandlers).offer_left_open()
    recorded.qtbot.mouseClick(recorded.workbench.window.hint.dismiss, Qt.MouseButton.LeftButton)
    recorded.qtbot.waitUntil(lambda: not recorded.workbench.jobs.running, timeout=10_000)
    assert not Library(folder.parent).left_open()


def test_what_cannot_be_closed_is_not_said_to_be(recorded: Hand) -> None:
    folder = folder_of(recorded)
    recorded.workbench.controller.close()
    leave_open(folder)
    recorded.workbench.family(RecordingHandlers)._close_all([folder, folder / "no session"])
    recorded.qtbot.waitUntil(lambda: not recorded.workbench.jobs.running, timeout=10_000)
    assert recorded.workbench.jobs.facts()[0].message.startswith("Closed 1;")


def test_a_session_is_copied_while_it_is_recorded(recorded: Hand, tmp_path: Path) -> None:
    workbench = recorded.workbench
    workbench.family(RecordingHandlers).save_copy(tmp_path / "copy")
    recorded.qtbot.waitUntil(lambda: not workbench.jobs.running, timeout=10_000)
    assert workbench.jobs.facts()[0].state == "Done", workbench.jobs.facts()[0].message
    copied = open_session(tmp_path / "copy")
    assert copied.sealed and copied.metadata.ended == meta.STOPPED and not copied.problems
    assert copied.event_count >= workbench.controller.snapshot.events - 1
    recorded.pass_time(1)
    assert workbench.controller.live


def test_a_copy_that_is_cancelled_or_refused_leaves_nothing(recorded: Hand, tmp_path: Path) -> None:
    folder = folder_of(recorded)
    recorded.workbench.controller.stop()

    def stop(_part: float, _name: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        copy_session(folder, tmp_path / "copy", stop)
    assert not (tmp_path / "copy").exists()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").touch()
    for target in (tmp_path / "full", folder / "inside"):
        with pytest.raises(BrokerError):
            copy_session(folder, target)
    assert (tmp_path / "full" / "thesis.txt").exists() and not (folder / "inside").exists()


def test_a_damaged_session_opens_as_far_as_it_goes_and_says_so(recorded: Hand, tmp_path: Path) -> None:
    folder = folder_of(recorded)
    recorded.workbench.controller.stop()
    shutil.copytree(folder, tmp_path / "damaged")
    part = tmp_path / "damaged" / "messages" / "part-00000.parquet"
    part.write_bytes(part.read_bytes()[:200])
    assert recorded.workbench.family(RecordingHandlers).open(tmp_path / "damaged", 3 * NS_PER_S)
    arrive(recorded)
    assert "truncated or damaged" in recorded.workbench.window.hint.sentence.text()
    assert recorded.workbench.controller.snapshot.groups


def test_flipped_bytes_are_named_where_a_session_is_opened(recorded: Hand, tmp_path: Path) -> None:
    folder = folder_of(recorded)
    recorded.workbench.controller.stop()
    flip_unnoticed(folder / "messages" / "part-00000.parquet")
    flip(folder / "keyframes" / "frames.bin", -3)
    assert recorded.workbench.family(RecordingHandlers).open(folder, 3 * NS_PER_S)
    arrive(recorded)
    said = recorded.workbench.window.hint.sentence.text()
    assert "messages/part-00000.parquet is truncated or damaged" in said and "keyframes are damaged" in said
    assert recorded.workbench.controller.snapshot.groups


def test_recording_can_be_switched_off_for_new_sessions(recorded: Hand) -> None:
    workbench = recorded.workbench
    assert workbench.registry.action("record").isChecked()
    workbench.registry.trigger("record")
    assert "not recorded" in workbench.window.status.last_action.whole
    workbench.controller.restart()
    assert workbench.controller.source.folder is None
    workbench.registry.trigger("record")
    assert "branch here" in workbench.window.status.last_action.whole


def test_the_command_open_refuses_what_is_no_session(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["open", str(tmp_path)]) == Exit.NOT_FOUND
    assert "no session.json" in capsys.readouterr().err
