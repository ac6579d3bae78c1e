"""Shells complete commands, verbs and words, and also what stands for scenarios, files and folders."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.app.cli.conftest import run

_ASK = """
source /dev/stdin
COMP_WORDS=(brokerscope "$@"); COMP_CWORD=$#
$(complete -p brokerscope | sed 's/.*-F \\([^ ]*\\).*/\\1/') brokerscope "${!#}"
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("top", "topics"),
        ("topics desc", "describe"),
        ("topics create t --cleanup c", "compact"),
        ("run first", "first-session"),
        ("run min", "mine.yaml"),
        ("scenarios check mi", "mine.yaml"),
        ("topics list --data fol", "folder"),
        ("schemas register s min", "mine.yaml"),
        ("open fol", "folder"),
        ("report folder --out fol", "folder"),
    ],
)
def test_bash_finds_what_was_begun(typed: str, found: str, tmp_path: Path, capsys: Any) -> None:
    script = run("completion", "bash", capsys=capsys)
    (tmp_path / "folder").mkdir()
    (tmp_path / "mine.yaml").write_text("")
    words = ["bash", "-c", _ASK, "bash", *typed.split()]
    done = subprocess.run(words, input=script, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout.split() == [found], done.stderr
