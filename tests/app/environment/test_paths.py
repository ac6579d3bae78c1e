"""The folders and files of a user: their names, and that they are whole."""

import json
from pathlib import Path

import pytest

from app.environment import paths


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("platformdirs.user_state_dir", lambda _name: str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("attached-10.0.0.7:9092", "attached-10-0-0-7-9092"),
        ("attached-[::1]:9092,b:9093", "attached--1-9092-b-9093"),
        ("first-session", "first-session"),
        ("é", "-"),
        ("", "session"),
    ],
)
def test_a_session_folder_has_the_whole_name_with_a_dash_for_what_not_every_disk_takes(
    name: str, folder: str, tmp_path: Path
) -> None:
    assert paths.new_session_folder(name, tmp_path).name[len("2026-11-30-120000-") :] == folder


def test_whoever_reads_the_ports_while_others_write_them_has_them_whole(state: Path) -> None:
    paths.keep_ports("a", [2, 1])
    with (state / "between-ports.json").open() as read_by_another:
        paths.keep_ports("b", [7])
        assert json.load(read_by_another) == {"a": [2, 1]}
    assert (paths.kept_ports("a"), paths.kept_ports("b")) == ([2, 1], [7])
    assert [file.name for file in state.iterdir()] == ["between-ports.json"]
