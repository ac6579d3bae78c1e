"""`brokerscope scenarios`: what comes with the program, and whether a file is a scenario."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from app.cli.main import main
from app.environment.paths import shipped_scenarios

MINE = "title: Mine\nabout: x\nuntil_s: 2.5\ntopics: [{name: t}]\n"
FILE = "producers: [{name: p, to: t, arrivals: {kind: file, file: rows.jsonl}}]\n"


def told(*words: object, capsys: Any, code: int = 0) -> str:
    capsys.readouterr()
    assert main(["scenarios", *map(str, words)]) == code
    found = capsys.readouterr()
    return str(found.out if code == 0 else found.err)


def test_all_that_are_shipped_are_listed_in_their_order(capsys: Any) -> None:
    rows = [json.loads(line) for line in told("list", "--json", capsys=capsys).splitlines()]
    assert [row["name"] for row in rows] == [path.stem for path in shipped_scenarios()]
    head, first, *_ = told("list", capsys=capsys).splitlines()
    assert (head.split(), first.split()[0], first.split()[-1]) == (["Name", "Title", "Seconds"], "first-session", "300")


def test_one_is_described_for_people_and_for_programs(capsys: Any) -> None:
    text = told("describe", "full-disk", capsys=capsys)
    assert "Title      A full disk, and a wrong clock\n" in text and "\nTry:\n- Remove for_s." in text
    assert "\n\nWatch:\n- The producer waits" in text and "Consumers  2\n" in text
    plain = json.loads(told("describe", "full-disk", "--json", capsys=capsys))
    assert (plain["seed"], plain["has"]["consumers"], len(plain["watch"]), len(plain["try"])) == (25, 2, 4, 2)


def test_a_file_is_checked_with_what_it_reads(tmp_path: Path, capsys: Any) -> None:
    mine = tmp_path / "mine.yaml"
    mine.write_text(MINE)
    assert told("check", mine, capsys=capsys) == f"{mine} is a scenario: Mine.\n"
    mine.write_text(MINE + FILE)
    assert "The scenario reads rows.jsonl" in told("check", mine, capsys=capsys, code=2)
    mine.write_text(MINE.replace("name: t", "nam: t"))
    assert "mine.yaml, line 4: the key 'nam' is not known here" in told("check", mine, capsys=capsys, code=2)
