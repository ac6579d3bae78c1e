"""`brokerscope run`: what it leaves and says if the scenario cannot begin, is interrupted, or asks for too much."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.cli import run
from app.cli.main import main
from app.environment.exits import Exit
from broker_core.recording.metadata import STOPPED, read_metadata

SCENARIO = """
title: Short
about: A topic and a producer.
until_s: 2
topics: [{name: orders}]
producers: [{name: shop, to: orders, arrivals: {kind: rate, per_s: 5}}]
"""
NO_FILE = SCENARIO.replace("{kind: rate, per_s: 5}", "{kind: file, file: nowhere.jsonl, key: commit}")


@pytest.mark.parametrize("was_there", [False, True])
def test_a_run_that_is_refused_at_its_start_says_why_and_leaves_no_session(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], was_there: bool
) -> None:
    (tmp_path / "short.yaml").write_text(NO_FILE, encoding="utf-8")
    session = tmp_path / "session"
    if was_there:
        session.mkdir()
    arguments = ["run", str(tmp_path / "short.yaml"), "--session", str(session)]
    assert main(arguments) == Exit.USAGE
    assert "reads nowhere.jsonl" in capsys.readouterr().err
    assert session.exists() is was_there and not list(session.glob("*"))
    (tmp_path / "short.yaml").write_text(SCENARIO, encoding="utf-8")
    assert main(arguments) == Exit.DONE, "its folder can be used"


def test_what_was_scheduled_and_could_not_be_done_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    twice = "schedule:\n" + "- {at_s: 1, do: {action: remove_client, client: shop}}\n" * 2
    (tmp_path / "short.yaml").write_text(SCENARIO + twice, encoding="utf-8")
    assert main(["run", str(tmp_path / "short.yaml"), "--session", str(tmp_path / "session")]) == Exit.PARTLY
    assert "At 1 s something scheduled could not be done: " in capsys.readouterr().err


def test_ctrl_c_ends_a_run_as_it_ends_every_program_and_seals_the_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(run, "_drive", interrupted)
    (tmp_path / "short.yaml").write_text(SCENARIO, encoding="utf-8")
    assert main(["run", str(tmp_path / "short.yaml"), "--session", str(tmp_path / "session")]) == 130
    assert read_metadata(tmp_path / "session").ended == STOPPED
